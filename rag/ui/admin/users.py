"""The admin page: users and API keys.

Each action checks again that the user is an administrator: a page may stay open after a role was revoked.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.column_config import DatetimeColumn, ListColumn, NumberColumn, TextColumn

from rag import types
from rag.config import MEGABYTE
from rag.engine.users.accounts import Accounts, Logins
from rag.ui import page_frame, session
from rag.ui.formatting import date_time, decimal, escape, file_size, n_documents, plural
from rag.ui.language import N_, _, translate_columns
from rag.ui.page_frame import empty_state

MAX_ROWS = 14
"""A longer table scrolls within the window."""
Column = tuple[Any, Callable[[Any], object]]
TIMESTAMP_FORMAT = N_("D MMM YYYY, HH:mm")


def _storage(account: types.AccountUse) -> str:
    quota = session.installation().config.quota_bytes if account.quota_bytes is None else account.quota_bytes
    used = file_size(account.used_bytes)
    return used if quota is None else _("{used} of {quota}", used=used, quota=file_size(quota))


USERS: dict[str, Column] = {
    "user": (TextColumn(N_("User"), width="medium"), lambda account: account.name or account.user_id),
    "email": (TextColumn(N_("E-mail"), width="medium"), lambda account: account.email or ""),
    "role": (TextColumn(N_("Role"), width="small"), lambda account: _(account.role.capitalize())),
    "groups": (ListColumn(N_("Groups")), lambda account: account.groups),
    "documents": (NumberColumn(N_("Documents"), format="localized", width="small"), lambda account: account.documents),
    "storage": (TextColumn(N_("Storage"), width=150), _storage),
    "logins": (NumberColumn(N_("Logins"), width="small"), lambda account: account.logins),
    "keys": (NumberColumn(N_("Keys"), width="small"), lambda account: account.keys),
    "seen": (DatetimeColumn(N_("Last seen"), format=TIMESTAMP_FORMAT), lambda account: account.last_seen_at),
    "id": (TextColumn(N_("Id"), width="medium"), lambda account: account.user_id),
}
"""Each column and what it shows of a user."""
KEYS: dict[str, Column] = {
    "name": (TextColumn(N_("Key")), lambda key: key.name),
    "hint": (TextColumn(N_("Begins with"), width="small"), lambda key: f"{key.hint}…"),
    "permissions": (ListColumn(N_("Permissions"), width="small"), lambda key: key.permissions),
    "state": (TextColumn(N_("State"), width="small"), lambda key: _(key.state().capitalize())),
    "used": (DatetimeColumn(N_("Last used"), format=TIMESTAMP_FORMAT), lambda key: key.last_used_at),
    "created": (DatetimeColumn(N_("Created"), format=TIMESTAMP_FORMAT), lambda key: key.created_at),
    "user": (TextColumn(N_("User"), width="medium"), lambda key: key.user_id),
}


def require_administrator() -> None:
    """Stop with an explanation unless the user is an administrator."""
    page_frame.require_administrator(
        _("This page is for administrators"),
        _("It shows the users and what they use."),
        _("To become an administrator, have your ID added to `RAG_ADMINS`, or ask an administrator:"),
    )


def _accounts() -> Accounts:
    """Return the accounts API after checking that the user is an administrator."""
    return session.installation().accounts.by(session.require_admin(), session.request_origin())


def _open_logins() -> Logins:
    """Return the logins API after checking that the user is an administrator."""
    return session.installation().logins.by(session.require_admin(), session.request_origin())


def _table(things: Sequence[object], columns: Mapping[str, Column], key: str) -> int | None:
    """Show a row for each thing and return the number of the selected one."""
    rows = [{name: value(thing) for name, (_column, value) in columns.items()} for thing in things]
    table = pd.DataFrame(rows, columns=[*columns])
    state = st.dataframe(
        table,
        key=f"{key}-table",
        column_config=translate_columns({name: column for name, (column, _value) in columns.items()}),
        hide_index=True,
        height="stretch" if len(table) > MAX_ROWS else "content",
        on_select="rerun",
        selection_mode="single-row",
        placeholder="–",
    )
    return next((row for row in state.selection.rows if row < len(table)), None)


# --- users ------------------------------------------------------------------------------------------


def users() -> None:
    """Show all users; a selected one can be edited."""
    accounts = _accounts().list()
    st.caption(
        _(
            "{users} · {documents} · {used}, including old versions and the trash.",
            users=plural(len(accounts), "{count} user", "{count} users"),
            documents=n_documents(sum(account.documents for account in accounts)),
            used=file_size(sum(account.used_bytes for account in accounts)),
        )
    )
    if not accounts:
        return
    number = _table(accounts, USERS, "users")
    if number is None:
        st.caption(_("Select a user to change role, groups and quota, or to log them out."))
        return
    with st.container(border=True, key="account"):
        _account(accounts[number])


def _account(account: types.AccountUse) -> None:
    """Edit a user's role, groups and quota, and end their logins."""
    user_id, by_login = account.user_id, account.groups_by_login
    st.subheader(escape(account.name or user_id), anchor=False)
    st.code(user_id, language=None)
    with st.form(f"account-{user_id}", border=False, enter_to_submit=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            roles = [*types.Role]
            role = st.selectbox(
                _("Role"), roles, index=roles.index(account.role), format_func=lambda role: _(role.capitalize())
            )
            assigned = [name for name in account.groups if name not in by_login]
            groups = st.multiselect(_("Groups assigned here"), assigned, default=assigned, accept_new_options=True)
            usual = session.installation().config.rag_quota_mb
            quota = st.number_input(
                _("Quota in MB"),
                min_value=0,
                value=None if account.quota_bytes is None else account.quota_bytes // MEGABYTE,
                step=1,
                placeholder=_("No limit") if usual is None else _("{megabytes} (default)", megabytes=decimal(usual)),
            )
        if by_login:
            st.caption(_("From the login provider: {groups_by_login}", groups_by_login=escape(", ".join(by_login))))
        if st.form_submit_button(_("Save"), type="primary"):
            accounts = _accounts()
            if role is not account.role:
                accounts.set_role(user_id, role)
            accounts.set_groups(user_id, groups)
            accounts.set_quota(user_id, quota)
            st.rerun()
    logins = _open_logins().list(user_id)
    if not logins:
        st.caption(_("Not logged in."))
    for login in logins:
        since, seen = (date_time(at.astimezone(), _("d MMM, HH:mm")) for at in (login.started_at, login.last_seen_at))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(_("Logged in since {since}, last seen {seen}", since=since, seen=seen), width="content")
            _button(_("Log out"), f"end-{login.id}", functools.partial(_open_logins().end, user_id, login.id))
    help_text = _("Ends all logins of this user. API keys stay valid.")
    _button(_("Log out everywhere"), "end-all", lambda: _open_logins().end_all(user_id), help_text)


def _button(label: str, key: str, act: Callable[[], object], help_text: str | None = None) -> None:
    if st.button(label, key=key, help=help_text):
        act()
        st.rerun()


# --- keys ----------------------------------------------------------------------------------


def keys() -> None:
    """Show all API keys without their secrets, which are not stored."""
    keys = _accounts().list_keys()
    if not keys:
        empty_state("key", _("No API keys"), _("Create keys with: pagelight keys create"))
        return
    number = _table(keys, KEYS, "keys")
    if number is None:
        st.caption(_("Select a key to revoke it."))
    elif keys[number].revoked_at is None:
        key = keys[number]
        _button(_("Revoke {name}", name=escape(key.name)), "revoke", lambda: _accounts().revoke_key(key.id))

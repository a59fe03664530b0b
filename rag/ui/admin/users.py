"""The admin page: users, API keys and jobs.

Each action checks again that the user is an administrator: a page may stay open after a role was revoked.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import streamlit as st

from rag import types
from rag.config import MEGABYTE
from rag.engine.users.accounts import Accounts
from rag.engine.users.logins import Logins
from rag.ui import page_frame, session
from rag.ui.formatting import date_time, decimal, escape, file_size, n_documents, plural, progress_text
from rag.ui.language import N_, _, translate_columns
from rag.ui.page_frame import empty_state
from rag.ui.translated_messages import translate_message

MAX_ROWS = 14
"""A longer table scrolls within the window."""
TIMESTAMP_FORMAT = N_("D MMM YYYY, HH:mm")
USERS = {
    "user": st.column_config.TextColumn(N_("User"), width="medium"),
    "email": st.column_config.TextColumn(N_("E-mail"), width="medium"),
    "role": st.column_config.TextColumn(N_("Role"), width="small"),
    "groups": st.column_config.ListColumn(N_("Groups")),
    "documents": st.column_config.NumberColumn(N_("Documents"), format="localized", width="small"),
    "storage": st.column_config.TextColumn(N_("Storage"), width=150),
    "logins": st.column_config.NumberColumn(N_("Logins"), width="small"),
    "keys": st.column_config.NumberColumn(N_("Keys"), width="small"),
    "seen": st.column_config.DatetimeColumn(N_("Last seen"), format=TIMESTAMP_FORMAT),
    "id": st.column_config.TextColumn(N_("Id"), width="medium"),
}
KEYS = {
    "name": st.column_config.TextColumn(N_("Key")),
    "hint": st.column_config.TextColumn(N_("Begins with"), width="small"),
    "permissions": st.column_config.ListColumn(N_("Permissions"), width="small"),
    "state": st.column_config.TextColumn(N_("State"), width="small"),
    "used": st.column_config.DatetimeColumn(N_("Last used"), format=TIMESTAMP_FORMAT),
    "created": st.column_config.DatetimeColumn(N_("Created"), format=TIMESTAMP_FORMAT),
    "user": st.column_config.TextColumn(N_("User"), width="medium"),
}
JOBS = {
    "kind": st.column_config.TextColumn(N_("Job"), width="small"),
    "index": st.column_config.TextColumn(N_("Index"), width="small"),
    "status": st.column_config.TextColumn(N_("Status"), width="small"),
    "progress": st.column_config.TextColumn(N_("Progress"), width="small"),
    "created": st.column_config.DatetimeColumn(N_("Started"), format=TIMESTAMP_FORMAT),
    "error": st.column_config.TextColumn(N_("Error"), width="large"),
    "user": st.column_config.TextColumn(N_("User"), width="medium"),
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


def _table(rows: Iterable[dict[str, Any]], columns: dict[str, Any], key: str) -> int | None:
    """Show rows and return the number of the selected one."""
    table = pd.DataFrame(rows, columns=[*columns])
    state = st.dataframe(
        table,
        key=f"{key}-table",
        column_config=translate_columns(columns),
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
    number = _table(map(_user_row, accounts), USERS, "users")
    if number is None:
        st.caption(_("Select a user to change role, groups and quota, or to log them out."))
        return
    with st.container(border=True, key="account"):
        _account(accounts[number])


def _user_row(account: types.AccountUse) -> dict[str, Any]:
    quota = session.installation().config.quota_bytes if account.quota_bytes is None else account.quota_bytes
    used = file_size(account.used_bytes)
    return {
        "user": account.name or account.user_id,
        "email": account.email or "",
        "role": _(account.role.capitalize()),
        "groups": account.groups,
        "documents": account.documents,
        "storage": used if quota is None else _("{used} of {quota}", used=used, quota=file_size(quota)),
        "logins": account.logins,
        "keys": account.keys,
        "seen": account.last_seen_at,
        "id": account.user_id,
    }


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


# --- keys and jobs ----------------------------------------------------------------------------------


def keys() -> None:
    """Show all API keys without their secrets, which are not stored."""
    keys = _accounts().keys.list()
    if not keys:
        empty_state("key", _("No API keys"), _("Create keys with: pagelight keys create"))
        return
    rows = [
        {
            "name": key.name,
            "hint": f"{key.hint}…",
            "permissions": key.permissions,
            "state": _(key.state().capitalize()),
            "used": key.last_used_at,
            "created": key.created_at,
            "user": key.user_id,
        }
        for key in keys
    ]
    number = _table(rows, KEYS, "keys")
    if number is None:
        st.caption(_("Select a key to revoke it."))
    elif keys[number].revoked_at is None:
        key = keys[number]
        _button(_("Revoke {name}", name=escape(key.name)), "revoke", lambda: _accounts().keys.revoke(key.id))


def jobs() -> None:
    """Show the latest jobs of all users."""
    jobs = _accounts().jobs()
    if not jobs:
        empty_state("work", _("No jobs"), _("Matrices, syncs and re-indexing jobs appear here."))
        return
    rows = [
        {
            "kind": _(job.kind.capitalize()),
            "index": job.index_name,
            "status": _(job.status.capitalize()),
            "progress": progress_text(job.progress.done, job.progress.total) if job.progress.total else "",
            "created": job.created_at,
            "error": translate_message(job.error or ""),
            "user": job.user_id,
        }
        for job in jobs
    ]
    _table(rows, JOBS, "jobs")

"""The admin page: users, API keys and jobs.

Each action checks again that the user is an administrator: a page may stay open after a role was revoked.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from rag import types
from rag.config import MEGABYTE
from rag.engine.users.accounts import Accounts
from rag.engine.users.logins import Logins
from rag.ui import session
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
    if session.may_administer():
        return
    with empty_state("lock", _("This page is for administrators"), _("It shows the users and what they use.")):
        st.caption(_("To become an administrator, have your ID added to `RAG_ADMINS`, or ask an administrator:"))
        st.code(session.user_id() or "", language=None)
    st.stop()


def _accounts() -> Accounts:
    """Return the accounts API after checking that the user is an administrator."""
    return session.installation().accounts.by(session.require_admin(), session.request_origin())


def _open_logins() -> Logins:
    """Return the logins API after checking that the user is an administrator."""
    return session.installation().logins.by(session.require_admin(), session.request_origin())


def _table(rows: Iterable[dict[str, Any]], columns: dict[str, Any], key: str) -> int | None:
    """Show rows and return the number of the selected one."""
    shown = pd.DataFrame(rows, columns=[*columns])
    state = st.dataframe(
        shown,
        key=f"{key}-table",
        column_config=translate_columns(columns),
        hide_index=True,
        height="stretch" if len(shown) > MAX_ROWS else "content",
        on_select="rerun",
        selection_mode="single-row",
        placeholder="–",
    )
    return next((row for row in state.selection.rows if row < len(shown)), None)


# --- users ------------------------------------------------------------------------------------------


def users() -> None:
    """Show all users; a selected one can be edited."""
    found = _accounts().list()
    used = sum(one.used_bytes for one in found)
    documents = n_documents(sum(one.documents for one in found))
    st.caption(
        _(
            "{users} · {documents} · {used}, including old versions and the trash.",
            users=plural(len(found), "{count} user", "{count} users"),
            documents=documents,
            used=file_size(used),
        )
    )
    if not found:
        return
    number = _table(map(_user_row, found), USERS, "users")
    if number is None:
        st.caption(_("Select a user to change role, groups and quota, or to log them out."))
        return
    with st.container(border=True, key="account"):
        _account(found[number])


def _user_row(one: types.AccountUse) -> dict[str, Any]:
    return {
        "user": one.name or one.user_id,
        "email": one.email or "",
        "role": _(one.role.capitalize()),
        "groups": one.groups,
        "documents": one.documents,
        "storage": _storage(one.used_bytes, _quota(one)),
        "logins": one.logins,
        "keys": one.keys,
        "seen": one.last_seen_at,
        "id": one.user_id,
    }


def _quota(one: types.AccountUse) -> int | None:
    return session.installation().config.quota_bytes if one.quota_bytes is None else one.quota_bytes


def _storage(used: int, quota: int | None) -> str:
    return file_size(used) if quota is None else _("{used} of {quota}", used=file_size(used), quota=file_size(quota))


def _account(one: types.AccountUse) -> None:
    st.subheader(escape(one.name or one.user_id), anchor=False)
    st.code(one.user_id, language=None)
    with st.form(f"account-{one.user_id}", border=False, enter_to_submit=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            roles = [*types.Role]
            role = st.selectbox(
                _("Role"), roles, index=roles.index(one.role), format_func=lambda one: _(one.capitalize())
            )
            given = [name for name in one.groups if name not in one.groups_by_login]
            groups = st.multiselect(_("Groups assigned here"), given, default=given, accept_new_options=True)
            own = None if one.quota_bytes is None else one.quota_bytes // MEGABYTE
            quota = st.number_input(_("Quota in MB"), min_value=0, value=own, step=1, placeholder=_default_quota())
        if one.groups_by_login:
            st.caption(
                _("From the login provider: {groups_by_login}", groups_by_login=escape(", ".join(one.groups_by_login)))
            )
        if st.form_submit_button(_("Save"), type="primary"):
            _save(one, role, groups, quota)
    _logins(one)


def _default_quota() -> str:
    megabytes = session.installation().config.rag_quota_mb
    return _("No limit") if megabytes is None else _("{megabytes} (default)", megabytes=decimal(megabytes))


def _save(one: types.AccountUse, role: types.Role, groups: Sequence[str], quota: int | None) -> None:
    accounts = _accounts()
    if role is not one.role:
        accounts.set_role(one.user_id, role)
    accounts.set_groups(one.user_id, groups)
    accounts.set_quota(one.user_id, quota)
    st.rerun()


def _logins(one: types.AccountUse) -> None:
    found = _open_logins().list(one.user_id)
    if not found:
        st.caption(_("Not logged in."))
    for login in found:
        since, seen = (date_time(at.astimezone(), _("d MMM, HH:mm")) for at in (login.started_at, login.last_seen_at))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(_("Logged in since {since}, last seen {seen}", since=since, seen=seen), width="content")
            _button(_("Log out"), f"end-{login.id}", functools.partial(_open_logins().end, one.user_id, login.id))
    help_text = _("Ends all logins of this user. API keys stay valid.")
    _button(_("Log out everywhere"), "end-all", lambda: _open_logins().end_all(one.user_id), help_text)


def _button(label: str, key: str, act: Callable[[], object], help_text: str | None = None) -> None:
    if st.button(label, key=key, help=help_text):
        act()
        st.rerun()


# --- keys and jobs ----------------------------------------------------------------------------------


def keys() -> None:
    """Show all API keys without their secrets, which are not stored."""
    found = _accounts().keys.list()
    if not found:
        with empty_state("key", _("No API keys"), _("Create keys with: pagelight keys create")):
            return
    number = _table(map(_key_row, found), KEYS, "keys")
    if number is None:
        st.caption(_("Select a key to revoke it."))
    elif found[number].revoked_at is None:
        key = found[number]
        _button(_("Revoke {name}", name=escape(key.name)), "revoke", lambda: _accounts().keys.revoke(key.id))


def _key_row(key: types.ApiKey) -> dict[str, Any]:
    return {
        "name": key.name,
        "hint": f"{key.hint}…",
        "permissions": key.permissions,
        "state": _(key.state().capitalize()),
        "used": key.last_used_at,
        "created": key.created_at,
        "user": key.user_id,
    }


def jobs() -> None:
    """Show the latest jobs of all users."""
    found = _accounts().jobs()
    if not found:
        with empty_state("work", _("No jobs"), _("Matrices, syncs and re-indexing jobs appear here.")):
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
        for job in found
    ]
    _table(rows, JOBS, "jobs")

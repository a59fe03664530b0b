"""The audit page: who did what, when and from where."""

import datetime as dt
from collections.abc import Mapping

import streamlit as st

from rag import types
from rag.engine import to_csv
from rag.ui import session
from rag.ui.components import download_button
from rag.ui.formatting import date_time, decimal, file_size, plural
from rag.ui.language import N_, _
from rag.ui.library.document_metadata import date_format

MAX_SHOWN = 200
MAX_DOWNLOADED = 100_000
KINDS = {
    N_("Everything"): None,
    N_("Documents"): "document",
    N_("Shares"): "share",
    N_("Matrices"): "matrix",
    N_("Keys"): "key",
    N_("Exports"): "export",
    N_("Logins"): "login",
    N_("Accounts"): "account",
}
ACTIONS = {
    "document.upload": N_("Document uploaded"),
    "document.trash": N_("Document moved to the trash"),
    "document.restore": N_("Document restored"),
    "document.purge": N_("Document permanently deleted"),
    "document.move": N_("Document moved"),
    "share.give": N_("Shared"),
    "share.withdraw": N_("No longer shared"),
    "matrix.edit": N_("Fields of a matrix edited"),
    "matrix.fill": N_("Matrix filled"),
    "matrix.review": N_("Matrix value reviewed"),
    "key.create": N_("Key created"),
    "key.revoke": N_("Key revoked"),
    "export": N_("Exported"),
    "answer.export": N_("Answer exported"),
    "answer.show": N_("Answer shared"),
    "answer.withdraw": N_("Answer no longer shared"),
    "login.open": N_("Logged in"),
    "login.end": N_("Logged out"),
    "login.end_all": N_("Logged out everywhere"),
    "account.role": N_("Role changed"),
    "account.groups": N_("Groups changed"),
    "account.quota": N_("Quota changed"),
    "audit.forget": N_("Audit entries deleted"),
}
"""Labels of the audited actions."""
INTERFACES = {"app": "App", "rest": "REST", "mcp": "MCP", "cli": N_("Command line"), "worker": N_("Worker")}
DETAILS = {
    "index": N_("collection"),
    "size": N_("size"),
    "shared": N_("in a shared collection"),
    "grantee_kind": N_("with"),
    "grantee": N_("name"),
    "permission": N_("permissions"),
    "hint": N_("begins with"),
    "permissions": N_("permissions"),
    "role": N_("role"),
    "previous_role": N_("role before"),
    "groups": N_("groups"),
    "previous_groups": N_("groups before"),
    "quota_bytes": N_("quota"),
    "previous_quota_bytes": N_("quota before"),
    "by_login": N_("from the login provider"),
    "documents": N_("documents"),
    "files": N_("files"),
    "vectors": N_("with vectors"),
    "format": N_("format"),
    "answers": N_("answers"),
    "field": N_("field"),
    "decision": N_("decision"),
    "rows": N_("entries"),
    "before": N_("older than"),
}
"""Labels of the details shown; ids are left out."""
SIZES = ("size", "quota_bytes", "previous_quota_bytes")
ROLES = ("role", "previous_role")
VALUES = {
    "user": N_("a user"),
    "group": N_("a group"),
    "read": N_("read"),
    "write": N_("write"),
    "admin": N_("administer"),
    "original": N_("original"),
    "marked": N_("marked"),
    "accepted": N_("accepted"),
    "corrected": N_("corrected by hand"),
    "rejected": N_("rejected"),
}
FILE_COLUMNS = (
    *(N_("When (UTC)"), N_("Who"), N_("What"), N_("Object type"), N_("Object"), N_("Id"), N_("Owner"), N_("Interface")),
    *(N_("Address"), N_("Details")),
)
"""Headings of the CSV file, whose values are the same in every language, for programs."""


def entries() -> None:
    """Show the latest matching entries, and offer all of them as CSV."""
    audit = session.own_engine().audit
    st.caption(
        _("Actions of all users.") if audit.sees_all else _("Your actions, and actions of others on your documents.")
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        since = st.date_input(
            _("Since"), value=dt.datetime.now(dt.UTC).date() - dt.timedelta(days=30), format=date_format()
        )
        kind = st.selectbox(_("What"), list(KINDS), format_func=_)
        actor = st.text_input(_("Who"), placeholder=_("User id"))
    start = dt.datetime.combine(since, dt.time(), dt.UTC)
    wanted = types.AuditFilter(since=start, actor=actor.strip() or None, action=KINDS[kind])
    entries = audit.list(wanted, limit=MAX_SHOWN)
    if not entries:
        st.text(_("No entries in this period."))
        return
    names = {}
    if audit.sees_all:  # administrators see names instead of ids
        accounts = session.installation().accounts.by(session.require_admin(), session.request_origin())
        names = {account.user_id: account.name for account in accounts.list() if account.name}
    st.dataframe([_row(entry, names) for entry in entries], hide_index=True, width="stretch", height="content")
    headings = tuple(map(_, FILE_COLUMNS))  # the file is made outside the page, which knows the language
    with st.container(horizontal=True, vertical_alignment="center"):
        download_button(
            _("Download CSV"),
            lambda: to_csv(audit.list(wanted, limit=MAX_DOWNLOADED), headings).encode("utf-8-sig", "replace"),
            "audit.csv",
            "text/csv",
        )
        st.caption(_("The latest {rows}; times are UTC.", rows=plural(len(entries), "{count} row", "{count} rows")))


def _row(entry: types.AuditEntry, names: Mapping[str, str]) -> dict[str, object]:
    return {
        _("When"): date_time(entry.at.astimezone(dt.UTC), _("y-MM-dd HH:mm:ss")),
        _("Who"): names.get(entry.actor, entry.actor),
        _("What"): _(ACTIONS.get(entry.action, entry.action)),
        _("Object"): entry.subject_name or entry.subject_id,
        _("Owner"): names.get(entry.owner, entry.owner),
        _("From"): " ".join(filter(None, (_(INTERFACES.get(entry.door, entry.door)), entry.address))),
        _("Details"): ", ".join(_detail(name, entry.details[name]) for name in DETAILS if name in entry.details),
    }


def _detail(name: str, value: object) -> str:
    label = _(DETAILS[name])
    if value is True:
        return label
    if isinstance(value, int) and value is not False:
        return f"{label}: {file_size(value) if name in SIZES else decimal(value)}"
    nothing = _("none")
    if value in (None, False):
        return f"{label}: " + (_("system default") if name in SIZES else nothing)
    words = list(map(str, value if isinstance(value, list) else [value]))
    texts = [_(word.capitalize()) if name in ROLES else _(VALUES.get(word, word)) for word in words]
    return f"{label}: {', '.join(texts) or nothing}"

"""The audit page: who did what, when and from where."""

import datetime as dt
from collections.abc import Mapping

import streamlit as st

from rag.engine import to_csv
from rag.types import AuditEntry, AuditFilter
from rag.ui import session
from rag.ui.language import N_, _
from rag.ui.text import moment, plural

SHOWN = 200
DOWNLOADED = 100_000
KINDS = {
    N_("Everything"): None,
    N_("Documents"): "document",
    N_("Shares"): "share",
    N_("Keys"): "key",
    N_("Exports"): "export",
    N_("Logins"): "login",
    N_("Accounts"): "account",
}
ACTIONS = (
    *(N_("document.upload"), N_("document.trash"), N_("document.restore"), N_("document.purge"), N_("document.move")),
    *(N_("share.give"), N_("share.withdraw"), N_("key.create"), N_("key.revoke"), N_("export")),
    *(N_("answer.export"), N_("answer.show"), N_("answer.withdraw"), N_("login.open"), N_("login.end")),
    *(N_("login.end_all"), N_("account.role"), N_("account.groups"), N_("account.quota"), N_("audit.forget")),
)
"""What is done, as programs are told it."""


def entries() -> None:
    """The latest entries that fit what is asked for, and all of these as a file."""
    audit = session.own_engine().audit
    st.caption(
        _("What everybody did.") if audit.sees_all else _("What you did, and what others did to documents of yours.")
    )
    asked = _asked()
    found = audit.list(asked, limit=SHOWN)
    if not found:
        st.text(_("Nothing was done in this time."))
        return
    names = _names() if audit.sees_all else {}
    st.dataframe([_row(entry, names) for entry in found], hide_index=True, width="stretch", height="content")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            _("Download CSV"),
            data=lambda: to_csv(audit.list(asked, limit=DOWNLOADED)),
            file_name="audit.csv",
            mime="text/csv",
            icon=":material/download:",
        )
        st.caption(
            _("The latest {rows}; times are UTC.").format(rows=plural(len(found), "{count} row", "{count} rows"))
        )


def _asked() -> AuditFilter:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        since = st.date_input(_("Since"), value=dt.datetime.now(dt.UTC).date() - dt.timedelta(days=30))
        kind = st.selectbox(_("What"), list(KINDS), format_func=_)
        actor = st.text_input(_("Who"), placeholder=_("User id"), max_chars=500)
    start = dt.datetime.combine(since, dt.time(), dt.UTC)
    return AuditFilter(since=start, actor=actor.strip() or None, action=KINDS[kind])


def _names() -> dict[str, str]:
    """What an admin reads in the place of ids."""
    accounts = session.shared().accounts.by(session.require_admin(), session.whence())
    return {one.user_id: one.name for one in accounts.list() if one.name}


def _row(entry: AuditEntry, names: Mapping[str, str]) -> dict[str, object]:
    return {
        _("When"): moment(entry.at.astimezone(dt.UTC), _("y-MM-dd HH:mm:ss")),
        _("Who"): names.get(entry.actor, entry.actor),
        _("What"): _(entry.action),
        _("Thing"): entry.subject_name or entry.subject_id,
        _("Of"): names.get(entry.owner, entry.owner),
        _("From"): " ".join(filter(None, (entry.door, entry.address))),
        _("More"): ", ".join(f"{name}: {value}" for name, value in entry.details.items()),
    }

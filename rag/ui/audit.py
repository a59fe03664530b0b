"""The audit page: who did what, when and from where."""

import datetime as dt

import streamlit as st

from rag.engine import to_csv
from rag.types import AuditEntry, AuditFilter
from rag.ui import session
from rag.ui.text import plural

SHOWN = 200
DOWNLOADED = 100_000
KINDS = {
    "Everything": None,
    "Documents": "document",
    "Shares": "share",
    "Keys": "key",
    "Exports": "export",
    "Logins": "login",
    "Accounts": "account",
}


def entries() -> None:
    """The latest entries that fit what is asked for, and all of these as a file."""
    audit = session.own_engine().audit
    st.caption("What everybody did." if audit.sees_all else "What you did, and what others did to documents of yours.")
    asked = _asked()
    found = audit.list(asked, limit=SHOWN)
    if not found:
        st.text("Nothing was done in this time.")
        return
    st.dataframe([_row(entry) for entry in found], hide_index=True, width="stretch", height="content")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download CSV",
            data=lambda: to_csv(audit.list(asked, limit=DOWNLOADED)),
            file_name="audit.csv",
            mime="text/csv",
            icon=":material/download:",
        )
        st.caption(f"The latest {plural(len(found), 'row')}; times are UTC.")


def _asked() -> AuditFilter:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        since = st.date_input("Since", value=dt.datetime.now(dt.UTC).date() - dt.timedelta(days=30))
        kind = st.selectbox("What", list(KINDS))
        actor = st.text_input("Who", placeholder="User id", max_chars=500)
    start = dt.datetime.combine(since, dt.time(), dt.UTC)
    return AuditFilter(since=start, actor=actor.strip() or None, action=KINDS[kind])


def _row(entry: AuditEntry) -> dict[str, object]:
    return {
        "When": f"{entry.at:%Y-%m-%d %H:%M:%S}",
        "Who": entry.actor,
        "What": entry.action,
        "Thing": entry.subject_name or entry.subject_id,
        "Of": entry.owner,
        "From": " ".join(filter(None, (entry.door, entry.address))),
        "More": ", ".join(f"{name}: {value}" for name, value in entry.details.items()),
    }

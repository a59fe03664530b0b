"""Versions of a document, and what changed between two of them."""

import datetime as dt
import math
import uuid

import streamlit as st

from rag import errors, types
from rag.ui import session
from rag.ui.formatting import decimal, escape, local_time, n_pages, plural
from rag.ui.language import N_, _
from rag.ui.page_frame import dialog, error_boundary
from rag.ui.translated_messages import translate_message
from rag.ui.viewer.pdf_viewer import Mark, show_pdf

CHANGES_SHOWN = 20
CACHED_DIFFS = 16
HEIGHT = 560
"""Height of the scrolling list of changes, in pixels."""
SIGNS = {
    "added": N_(":green-badge[:material/add: Added]"),
    "removed": N_(":red-badge[:material/remove: Removed]"),
    "changed": N_(":orange-badge[:material/edit: Changed]"),
}


@dialog("Versions", width="large")
def show_versions(document_id: uuid.UUID) -> None:
    """Show the versions of a document and their changes; a click on a page opens it."""
    versions = session.engine().versions.list(document_id)
    readable = [version for version in versions if version.indexed_at is not None]
    st.markdown(f"**{escape(versions[0].name)}**")
    for version in versions:
        _version(version)
    if len(readable) > 1:
        _comparison(readable)


def _version(version: types.Document) -> None:
    @error_boundary()
    def make_current() -> None:
        session.engine().versions.make_current(version.id)
        st.session_state.pop("compared", None)

    with st.container(horizontal=True, vertical_alignment="center", key=f"version-{version.id}"):
        state = _("current") if version.superseded_by is None else _("kept for earlier answers")
        if version.indexed_at is None:
            state = translate_message(version.error or "") or _("not read yet")
        parts = (f"v{version.version}", local_time(version.created_at), n_pages(version.page_count), escape(state))
        st.markdown(" · ".join(parts), width="stretch")
        if version.superseded_by is not None and version.status == "ready":
            st.button(_("Restore this version"), key=f"current-{version.id}", on_click=make_current)


def _comparison(versions: list[types.Document]) -> None:
    """Compare two versions."""
    names = {version.id: f"v{version.version}" for version in versions}
    with st.container(horizontal=True):
        new = st.selectbox(_("Changes in"), list(names), format_func=names.__getitem__, key="compare-new")
        older = [version.id for version in versions if version.id != new]
        before = versions.index(next(version for version in versions if version.id == new))
        old = st.selectbox(
            _("since"), older, index=min(before, len(older) - 1), format_func=names.__getitem__, key="compare-old"
        )
    if old is None:
        return
    times = {version.id: version.indexed_at for version in versions}
    with st.spinner(_("Comparing …")):
        diff = _diff(session.engine().user_id, old, new, times[old], times[new])
    counts = (
        _("{count} changed", count=decimal(diff.count("changed"))),
        _("{count} added", count=decimal(diff.count("added"))),
        _("{count} removed", count=decimal(diff.count("removed"))),
        plural(diff.unchanged, "{count} paragraph unchanged", "{count} paragraphs unchanged"),
    )
    st.caption(" · ".join(counts))
    if not diff.changes:
        return
    pages = math.ceil(len(diff.changes) / CHANGES_SHOWN)
    chosen = st.number_input(_("Part"), 1, pages, key="compare-part") if pages > 1 else 1
    left, right = st.columns([6, 5])
    with left, st.container(height=HEIGHT, key="changes"):
        start = (int(chosen) - 1) * CHANGES_SHOWN
        for number, change in enumerate(diff.changes[start : start + CHANGES_SHOWN], start):
            _change(number, change, diff)
    with right:
        _place(diff)


@st.cache_data(max_entries=CACHED_DIFFS, show_spinner=False)
def _diff(
    user_id: str, old: uuid.UUID, new: uuid.UUID, old_read: dt.datetime | None, new_read: dt.datetime | None
) -> types.VersionDiff:
    """Compare two versions; user and times are cache keys that tell users and re-reads apart."""
    return session.engine().versions.diff(old, new)


def _change(number: int, change: types.ParagraphChange, diff: types.VersionDiff) -> None:
    def show(document_id: uuid.UUID, paragraph: types.ParagraphText, label: str) -> None:
        _id, _mark, jump = st.session_state.get("compared", (None, None, 0))
        st.session_state["compared"] = (document_id, Mark.of_paragraph(paragraph, label), jump + 1)

    st.markdown(_(SIGNS[change.kind]))
    sides = ((change.old, diff.old_id, diff.old_version), (change.new, diff.new_id, diff.new_version))
    for column, (paragraph, document_id, version) in zip(st.columns(2), sides, strict=True):
        if paragraph is not None:
            with column:
                st.text(" ".join(paragraph.text.split()))
                st.button(
                    _("v{version}, page {page_number}", version=version, page_number=paragraph.page_number),
                    key=f"change-{number}-{version}",
                    type="tertiary",
                    icon=":material/visibility:",
                    on_click=show,
                    args=(document_id, paragraph, f"v{version}"),
                )
    st.divider()


def _place(diff: types.VersionDiff) -> None:
    """Show the clicked page, or the first change of the newer version."""
    document_id, mark, jump = st.session_state.get("compared", (None, None, 0))
    if document_id not in (diff.old_id, diff.new_id):
        first = next((change.new for change in diff.changes if change.new), None)
        document_id, mark = diff.new_id, first and Mark.of_paragraph(first, f"v{diff.new_version}")
    try:
        document = session.engine().documents.get(document_id)
    except errors.NotFoundError:
        return
    show_pdf(document, (mark,) if mark else (), 0 if mark else None, jump=jump, key="compared-viewer")

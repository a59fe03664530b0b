"""Versions of a document, and what changed between two of them."""

import datetime as dt
import math
import uuid

import streamlit as st

from rag import errors, types
from rag.ui import session
from rag.ui.formatting import date_time, decimal, escape, n_pages, plural
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
    with st.container(horizontal=True, vertical_alignment="center", key=f"version-{version.id}"):
        state = _("current") if version.superseded_by is None else _("kept for earlier answers")
        if version.indexed_at is None:
            state = translate_message(version.error or "") or _("not read yet")
        st.markdown(
            " · ".join(
                (
                    f"v{version.version}",
                    date_time(version.created_at.astimezone(), _("d MMM y, HH:mm")),
                    n_pages(version.page_count),
                    escape(state),
                )
            ),
            width="stretch",
        )
        if version.superseded_by is not None and version.status == "ready":
            st.button(
                _("Restore this version"), key=f"current-{version.id}", on_click=_make_current, args=(version.id,)
            )


def _make_current(document_id: uuid.UUID) -> None:
    with error_boundary():
        session.engine().versions.make_current(document_id)
        st.session_state.pop("compared", None)


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
        found = _diff(session.engine().user_id, old, new, times[old], times[new])
    told = (
        _("{count} changed", count=decimal(found.count("changed"))),
        _("{count} added", count=decimal(found.count("added"))),
        _("{count} removed", count=decimal(found.count("removed"))),
        plural(found.unchanged, "{count} paragraph unchanged", "{count} paragraphs unchanged"),
    )
    st.caption(" · ".join(told))
    if not found.changes:
        return
    pages = math.ceil(len(found.changes) / CHANGES_SHOWN)
    chosen = st.number_input(_("Part"), 1, pages, key="compare-part") if pages > 1 else 1
    left, right = st.columns([6, 5])
    with left, st.container(height=HEIGHT, key="changes"):
        start = (int(chosen) - 1) * CHANGES_SHOWN
        for number, change in enumerate(found.changes[start : start + CHANGES_SHOWN], start):
            _change(number, change, found)
    with right:
        _place(found)


@st.cache_data(max_entries=CACHED_DIFFS, show_spinner=False)
def _diff(
    user_id: str, old: uuid.UUID, new: uuid.UUID, old_read: dt.datetime | None, new_read: dt.datetime | None
) -> types.VersionDiff:
    """Compare two versions; user and times are cache keys that tell users and re-reads apart."""
    return session.engine().versions.diff(old, new)


def _change(number: int, change: types.ParagraphChange, found: types.VersionDiff) -> None:
    st.markdown(_(SIGNS[change.kind]))
    sides = ((change.old, found.old_id, found.old_version), (change.new, found.new_id, found.new_version))
    for column, (paragraph, document_id, version) in zip(st.columns(2), sides, strict=True):
        if paragraph is not None:
            with column:
                st.text(" ".join(paragraph.text.split()))
                st.button(
                    _("v{version}, page {page_number}", version=version, page_number=paragraph.page_number),
                    key=f"change-{number}-{version}",
                    type="tertiary",
                    icon=":material/visibility:",
                    on_click=_show_paragraph,
                    args=(document_id, paragraph, f"v{version}"),
                )
    st.divider()


def _show_paragraph(document_id: uuid.UUID, paragraph: types.ParagraphText, label: str) -> None:
    _, _, jump = st.session_state.get("compared", (None, None, 0))
    st.session_state["compared"] = (document_id, Mark.of_paragraph(paragraph, label), jump + 1)


def _place(found: types.VersionDiff) -> None:
    """Show the clicked page, or the first change of the newer version."""
    document_id, mark, jump = st.session_state.get("compared", (None, None, 0))
    if document_id not in (found.old_id, found.new_id):
        first = next((change.new for change in found.changes if change.new), None)
        document_id, mark = found.new_id, first and Mark.of_paragraph(first, f"v{found.new_version}")
    try:
        document = session.engine().documents.get(document_id)
    except errors.NotFoundError:
        return
    show_pdf(document, (mark,) if mark else (), 0 if mark else None, jump=jump, key="compared-viewer")

"""Filters over the library and the dialog that edits documents."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.components import focus_field
from rag.ui.formatting import date_time, escape, n_documents
from rag.ui.language import N_, _
from rag.ui.library import document_table
from rag.ui.page_frame import dialog, error_boundary

FILTER = "library-filter"
"""Session key prefix of the library's filter."""
STATUSES = {name: status for status, (_icon, name) in document_table.STAGES.items()} | {document_table.DISABLED: None}
"""What the field of statuses offers."""
EARLIEST, LATEST = dt.date(1500, 1, 1), dt.date(2200, 1, 1)

KINDS = {
    "annual_report": N_("Company report"),
    "contract": N_("Contract"),
    "manual": N_("Manual"),
    "paper": N_("Paper"),
    "statute": N_("Law"),
}
"""What the kinds of documents are called."""


# --- Filters ----------------------------------------------------------------------------------------


def current_filters(key: str) -> types.Filters:
    """Return the filters whose fields are stored below `key`."""
    state = st.session_state
    after, before = state.get(f"{key}-after"), state.get(f"{key}-until")
    return types.Filters(
        tags=tuple(state.get(f"{key}-tags", ())),
        author=(state.get(f"{key}-author") or "").strip() or None,
        dated_after=after,
        dated_before=before and before + dt.timedelta(days=1),
        saved=state.get(f"{key}-saved"),
    )


def summary(filters: types.Filters) -> str:
    """Summarize filters in a few words; empty if there are none."""
    days = [day for day in (filters.dated_after, filters.dated_before) if day]
    period = " – ".join(date_time(dt.datetime.combine(day, dt.time()), _("y-MM-dd")) for day in days)
    return " · ".join(filter(None, [filters.saved, *filters.tags, filters.author, period]))


def date_format() -> str:
    """Return the date format of date fields."""
    return _("YYYY-MM-DD")


def tag_fields(key: str) -> None:
    """Show fields for tags and a saved filter, if there are any."""
    engine = session.engine()
    saved = [filters.name for filters in engine.store.saved_filters.list()]
    tags = [tag.name for tag in engine.documents.tags()]
    # Choices that were deleted meanwhile are reset.
    if st.session_state.get(f"{key}-saved") not in saved:
        st.session_state[f"{key}-saved"] = None
    st.session_state[f"{key}-tags"] = [tag for tag in st.session_state.get(f"{key}-tags", ()) if tag in tags]
    if saved:
        st.selectbox(_("Saved filter"), saved, index=None, key=f"{key}-saved", placeholder=_("None"))
    if tags or st.session_state.get(f"{key}-tags"):
        st.multiselect(_("With all these tags"), tags, key=f"{key}-tags", placeholder=_("Any"))


def filter_bar() -> None:
    """Show the fields of the library's filter."""
    filters, status = current_filters(FILTER), st.session_state.get(f"{FILTER}-status")
    label = " · ".join(filter(None, (summary(filters), status and _(status))))
    with st.popover(escape(label) or _("Filter"), icon=":material/filter_list:", key="library-filter"):
        tag_fields(FILTER)
        st.text_input(_("Author"), key=f"{FILTER}-author", placeholder=_("Any"))
        with st.container(horizontal=True):
            st.date_input(_("From"), None, EARLIEST, LATEST, key=f"{FILTER}-after", format=date_format())
            st.date_input(_("Until"), None, EARLIEST, LATEST, key=f"{FILTER}-until", format=date_format())
        st.selectbox(_("Status"), [*STATUSES], format_func=_, index=None, key=f"{FILTER}-status", placeholder=_("Any"))
        label = _("Delete “{saved}”", saved=escape(filters.saved or ""))
        if filters.saved and st.button(label, icon=":material/delete:", type="tertiary"):
            session.engine().store.saved_filters.delete(filters.saved)
            st.rerun()
        unsaved = filters.model_copy(update={"saved": None})
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input(_("Save this filter as"), key=f"{FILTER}-name", placeholder=_("Name"))
            st.button(
                _("Save"),
                icon=":material/bookmark_add:",
                disabled=unsaved == types.Filters() or not name.strip(),
                on_click=_save,
                args=(unsaved,),
            )
        is_empty = filters == types.Filters()
        st.button(_("Clear"), icon=":material/filter_list_off:", disabled=is_empty, on_click=_clear)


@error_boundary()
def _save(filters: types.Filters) -> None:
    saved = session.engine().filters.save(st.session_state[f"{FILTER}-name"], filters)
    _clear()
    st.session_state[f"{FILTER}-saved"] = saved.name


def _clear() -> None:
    for field in ("after", "until", "saved", "status"):
        st.session_state[f"{FILTER}-{field}"] = None
    for field in ("author", "name"):
        st.session_state[f"{FILTER}-{field}"] = ""
    st.session_state[f"{FILTER}-tags"] = []


# --- Editing ----------------------------------------------------------------------------------------


@dialog("Edit", width="medium")
def edit(documents: Sequence[types.Document]) -> None:
    """Edit a document, or the tags of several."""
    if len(documents) == 1:
        _edit_one(documents[0])
    else:
        _edit_many(documents)


def _edit_one(document: types.Document) -> None:
    fields: dict[str, Any] = {
        "name": st.text_input(_("Name"), document.name),
        "title": st.text_input(_("Title"), document.title or ""),
        "author": st.text_input(_("Author"), document.author or ""),
        "dated": st.date_input(_("Date"), document.dated, EARLIEST, LATEST, format=date_format()),
        "subject": _subject_fields(document.subject),
        "tags": tuple(_tags_field(_("Tags"), document.tags)),
    }
    fields["disabled"] = not st.toggle(
        _("Include in search"), not document.disabled, help=_("When off, it is left out of every search.")
    )
    st.caption(
        _(
            "Leave title, author, date or what it is about empty to use what was read in the file. The file name "
            "extension stays the same."
        )
    )
    if st.button(_("Save"), type="primary", icon=":material/check:"):
        changed = {
            field: value or None if field in ("title", "author") else value
            for field, value in fields.items()
            if (value or None) != (getattr(document, field) or None)
        }
        if changed.get("subject") == types.Subject():
            changed["subject"] = None
        session.engine().documents.edit(document.id, types.DocumentEdit(**changed))
        st.rerun()


def _subject_fields(subject: types.Subject) -> types.Subject:
    """Show the fields of what a document is about; questions that name one of these names are asked of it."""
    names = st.multiselect(
        _("About"),
        subject.names,
        list(subject.names),
        accept_new_options=True,
        placeholder=_("Type names: a company, a product, a short title"),
        help=_("A question that has one of these names is asked of this document."),
    )
    with st.container(horizontal=True):
        kinds = [*KINDS]
        kind = st.selectbox(
            _("Kind of document"),
            kinds,
            kinds.index(subject.kind) if subject.kind in KINDS else None,
            format_func=lambda key: _(KINDS[key]),
            placeholder=_("None"),
        )
        period = st.text_input(_("Period"), subject.period or "", placeholder=_("Such as 2023, or Q3 2023"))
    return types.Subject(names=tuple(names), kind=kind, period=period.strip() or None)


def _edit_many(documents: Sequence[types.Document]) -> None:
    st.text(n_documents(len(documents)))
    tags = list(dict.fromkeys(tag for document in documents for tag in document.tags))
    with st.container(key="added-tags"):
        added = _tags_field(_("Add tags"))
    focus_field(".st-key-added-tags input")
    removed = st.multiselect(_("Remove tags"), tags, placeholder=_("None"))
    searched = st.segmented_control(
        _("Include in search"),
        [N_("No change"), N_("Yes"), N_("No")],
        default="No change",
        required=True,
        format_func=_,
    )
    if st.button(_("Save"), type="primary", icon=":material/check:"):
        engine, ids = session.engine(), [document.id for document in documents]
        engine.documents.tag(ids, add=added, remove=removed)
        if searched in ("Yes", "No"):
            for document_id in ids:
                engine.documents.edit(document_id, types.DocumentEdit(disabled=searched == "No"))
        st.rerun()


def _tags_field(label: str, chosen: Sequence[str] = ()) -> list[str]:
    """Show a field to choose or create tags."""
    tags = [*dict.fromkeys([*chosen, *(tag.name for tag in session.engine().documents.tags())])]
    return st.multiselect(label, tags, list(chosen), accept_new_options=True, placeholder=_("Choose or type tags"))

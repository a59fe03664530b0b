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
from rag.ui.page_frame import dialog, error_boundary

FILTER = "library-filter"
"""Session key prefix of the library's filter."""
STATUSES = ("Ready", "Waiting", "Reading", "Indexing", "Needs password", "Failed", "Disabled")
"""Labels of `rag.ui.library.document_rows.STATUS_NAMES`."""
EARLIEST, LATEST = dt.date(1500, 1, 1), dt.date(2200, 1, 1)


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
    words = [filters.saved, *filters.tags, filters.author, f"{' – '.join(map(_day, days))}" if days else None]
    return " · ".join(word for word in words if word)


def _day(day: dt.date) -> str:
    return date_time(dt.datetime.combine(day, dt.time()), _("y-MM-dd"))


def date_format() -> str:
    """Return the date format of date fields."""
    return _("YYYY-MM-DD")


def tag_fields(key: str) -> None:
    """Show fields for tags and a saved filter, if there are any."""
    engine = session.engine()
    saved, tags = [one.name for one in engine.store.saved_filters.list()], [tag.name for tag in engine.documents.tags()]
    _forget_missing(key, saved, tags)
    if saved:
        st.selectbox(_("Saved filter"), saved, index=None, key=f"{key}-saved", placeholder=_("None"))
    if tags or st.session_state.get(f"{key}-tags"):
        st.multiselect(_("With all these tags"), tags, key=f"{key}-tags", placeholder=_("Any"))


def _forget_missing(key: str, saved: Sequence[str], tags: Sequence[str]) -> None:
    """Reset choices that were deleted meanwhile."""
    if st.session_state.get(f"{key}-saved") not in saved:
        st.session_state[f"{key}-saved"] = None
    chosen = st.session_state.get(f"{key}-tags", ())
    st.session_state[f"{key}-tags"] = [tag for tag in chosen if tag in tags]


def chosen_filter() -> tuple[types.Filters, str | None]:
    """Return the library's filters and the wanted status."""
    return current_filters(FILTER), st.session_state.get(f"{FILTER}-status")


def filter_bar() -> None:
    """Show the fields of the library's filter."""
    filters, status = chosen_filter()
    label = " · ".join(word for word in (summary(filters), _(status) if status else "") if word)
    with st.popover(escape(label) or _("Filter"), icon=":material/filter_list:", key="library-filter"):
        tag_fields(FILTER)
        st.text_input(_("Author"), key=f"{FILTER}-author", placeholder=_("Any"))
        with st.container(horizontal=True):
            st.date_input(_("From"), None, EARLIEST, LATEST, key=f"{FILTER}-after", format=date_format())
            st.date_input(_("Until"), None, EARLIEST, LATEST, key=f"{FILTER}-until", format=date_format())
        st.selectbox(_("Status"), STATUSES, format_func=_, index=None, key=f"{FILTER}-status", placeholder=_("Any"))
        _save_bar(filters)


def _save_bar(filters: types.Filters) -> None:
    """Save the filter under a name, delete the saved one, or clear all fields."""
    if filters.saved and st.button(
        _("Delete “{saved}”").format(saved=escape(filters.saved)), icon=":material/delete:", type="tertiary"
    ):
        session.engine().store.saved_filters.delete(filters.saved)
        st.rerun()
    own = filters.model_copy(update={"saved": None})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(_("Save this filter as"), key=f"{FILTER}-name", placeholder=_("Name"))
        st.button(
            _("Save"),
            icon=":material/bookmark_add:",
            disabled=own == types.Filters() or not name.strip(),
            on_click=_save,
            args=(own,),
        )
    st.button(_("Clear"), icon=":material/filter_list_off:", disabled=filters == types.Filters(), on_click=_clear)


def _save(filters: types.Filters) -> None:
    with error_boundary():
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
    with error_boundary():
        if len(documents) == 1:
            _edit_one(documents[0])
        else:
            _edit_many(documents)


def _edit_one(document: types.Document) -> None:
    given: dict[str, Any] = {
        "name": st.text_input(_("Name"), document.name),
        "title": st.text_input(_("Title"), document.title or ""),
        "author": st.text_input(_("Author"), document.author or ""),
        "dated": st.date_input(_("Date"), document.dated, EARLIEST, LATEST, format=date_format()),
        "tags": _tags_field(_("Tags"), document.tags, document.tags),
    }
    given["disabled"] = not st.toggle(
        _("Include in search"),
        not document.disabled,
        help=_("When off, it is left out of every search."),
    )
    st.caption(_("Leave title, author or date empty to use the file's own. The file name extension stays the same."))
    if st.button(_("Save"), type="primary", icon=":material/check:"):
        changed = {field: value for field, value in given.items() if not _same(value, getattr(document, field))}
        emptied = {field: None for field in ("title", "author") if changed.get(field) == ""}
        session.engine().documents.edit(document.id, types.DocumentEdit(**{**changed, **emptied}))
        st.rerun()


def _edit_many(documents: Sequence[types.Document]) -> None:
    st.text(n_documents(len(documents)))
    theirs = list(dict.fromkeys(tag for document in documents for tag in document.tags))
    with st.container(key="added-tags"):
        added = _tags_field(_("Add tags"), (), ())
    focus_field(".st-key-added-tags input")
    removed = st.multiselect(_("Remove tags"), theirs, placeholder=_("None"))
    searched = st.segmented_control(
        _("Include in search"),
        [N_("No change"), N_("Yes"), N_("No")],
        default="No change",
        required=True,
        format_func=_,
    )
    if st.button(_("Save"), type="primary", icon=":material/check:"):
        engine = session.engine()
        engine.documents.tag([document.id for document in documents], add=added, remove=removed)
        if searched in ("Yes", "No"):
            for document in documents:
                engine.documents.edit(document.id, types.DocumentEdit(disabled=searched == "No"))
        st.rerun()


def _tags_field(label: str, chosen: Sequence[str], own: Sequence[str]) -> list[str]:
    """Show a field to choose or create tags."""
    known = dict.fromkeys([*own, *(tag.name for tag in session.engine().documents.tags())])
    return st.multiselect(
        label, list(known), list(chosen), accept_new_options=True, placeholder=_("Choose or type tags")
    )


def _same(value: object, before: object) -> bool:
    """Return whether a field is unchanged."""
    if isinstance(value, list):
        return value == list(before) if isinstance(before, tuple) else False
    return (value or None) == (before or None)

"""Keeping documents in order: the filter over the library, the scope's tags, and the dialog that edits documents."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

import streamlit as st

from rag.types import Document, DocumentEdit, Filters
from rag.ui import session
from rag.ui.frame import door
from rag.ui.text import plain, plural

FILTER = "library-filter"
"""What the fields of the library's filter are kept by."""
STATUSES = ("Ready", "Waiting", "Parsing", "Embedding", "Needs password", "Failed", "Disabled")
EARLIEST, LATEST = dt.date(1500, 1, 1), dt.date(2200, 1, 1)


# --- Filters ----------------------------------------------------------------------------------------


def kept(key: str) -> Filters:
    """The filter whose fields are kept by `key`."""
    state = st.session_state
    after, before = state.get(f"{key}-after"), state.get(f"{key}-until")
    return Filters(
        tags=tuple(state.get(f"{key}-tags", ())),
        author=(state.get(f"{key}-author") or "").strip() or None,
        dated_after=after,
        dated_before=before and before + dt.timedelta(days=1),
        saved=state.get(f"{key}-saved"),
    )


def summary(filters: Filters) -> str:
    """What a filter lets through in a few words; empty if everything."""
    days = [day for day in (filters.dated_after, filters.dated_before) if day]
    words = [filters.saved, *filters.tags, filters.author, f"{' – '.join(map(str, days))}" if days else None]
    return " · ".join(word for word in words if word)


def narrow(key: str) -> None:
    """Fields for tags and a saved filter, where there are any."""
    engine = session.engine()
    saved, tags = [one.name for one in engine.filters.list()], [tag.name for tag in engine.catalogue.tags()]
    _forget_missing(key, saved, tags)
    if saved:
        st.selectbox("Saved filter", saved, index=None, key=f"{key}-saved", placeholder="None")
    if tags or st.session_state.get(f"{key}-tags"):
        st.multiselect("With all of these tags", tags, key=f"{key}-tags", placeholder="Any")


def _forget_missing(key: str, saved: Sequence[str], tags: Sequence[str]) -> None:
    """What was deleted meanwhile can be chosen no longer."""
    if st.session_state.get(f"{key}-saved") not in saved:
        st.session_state[f"{key}-saved"] = None
    chosen = st.session_state.get(f"{key}-tags", ())
    st.session_state[f"{key}-tags"] = [tag for tag in chosen if tag in tags]


def filter_bar() -> tuple[Filters, str | None]:
    """The library's filter and the status wanted, as the reader chooses them."""
    filters, status = kept(FILTER), st.session_state.get(f"{FILTER}-status")
    label = " · ".join(word for word in (summary(filters), status) if word)
    with st.popover(plain(label) or "Filter", icon=":material/filter_list:", key="library-filter"):
        narrow(FILTER)
        st.text_input("Author", key=f"{FILTER}-author", placeholder="Any")
        with st.container(horizontal=True):
            st.date_input("From", None, EARLIEST, LATEST, key=f"{FILTER}-after", format="YYYY-MM-DD")
            st.date_input("Until", None, EARLIEST, LATEST, key=f"{FILTER}-until", format="YYYY-MM-DD")
        st.selectbox("Status", STATUSES, index=None, key=f"{FILTER}-status", placeholder="Any")
        _save_bar(filters)
    return filters, status


def _save_bar(filters: Filters) -> None:
    """Keep the filter under a name, forget the saved one, or clear all fields."""
    if filters.saved and st.button(f"Delete “{plain(filters.saved)}”", icon=":material/delete:", type="tertiary"):
        session.engine().filters.delete(filters.saved)
        st.rerun()
    own = filters.model_copy(update={"saved": None})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Save this filter as", key=f"{FILTER}-name", max_chars=100, placeholder="Name")
        st.button(
            "Save",
            icon=":material/bookmark_add:",
            disabled=own == Filters() or not name.strip(),
            on_click=_save,
            args=(own,),
        )
    st.button("Clear", icon=":material/filter_list_off:", disabled=filters == Filters(), on_click=_clear)


def _save(filters: Filters) -> None:
    with door():
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


@st.dialog("Edit", width="medium")
def edit(documents: Sequence[Document]) -> None:
    """Change a document, or the tags of many."""
    with door():
        if len(documents) == 1:
            _edit_one(documents[0])
        else:
            _edit_many(documents)


def _edit_one(document: Document) -> None:
    given: dict[str, Any] = {
        "name": st.text_input("Name", document.name, max_chars=255),
        "title": st.text_input("Title", document.title or "", max_chars=500),
        "author": st.text_input("Author", document.author or "", max_chars=500),
        "dated": st.date_input("Date", document.dated, EARLIEST, LATEST, format="YYYY-MM-DD"),
        "tags": _tags_field("Tags", document.tags, document.tags),
    }
    given["disabled"] = not st.toggle(
        "Searched", not document.disabled, help="Off: the document is kept, and left out of every search."
    )
    st.caption("An empty title, author or date is the file's own again. The name keeps its ending.")
    if st.button("Save", type="primary", icon=":material/check:"):
        changed = {field: value for field, value in given.items() if not _same(value, getattr(document, field))}
        emptied = {field: None for field in ("title", "author") if changed.get(field) == ""}
        session.engine().catalogue.edit(document.id, DocumentEdit(**{**changed, **emptied}))
        st.rerun()


def _edit_many(documents: Sequence[Document]) -> None:
    st.text(plural(len(documents), "document"))
    theirs = list(dict.fromkeys(tag for document in documents for tag in document.tags))
    added = _tags_field("Add tags", (), ())
    removed = st.multiselect("Remove tags", theirs, placeholder="None")
    searched = st.segmented_control("Searched", ["As they are", "Yes", "No"], default="As they are", required=True)
    if st.button("Save", type="primary", icon=":material/check:"):
        catalogue, ids = session.engine().catalogue, [document.id for document in documents]
        catalogue.tag(ids, add=added, remove=removed)
        if searched in ("Yes", "No"):
            for document_id in ids:
                catalogue.edit(document_id, DocumentEdit(disabled=searched == "No"))
        st.rerun()


def _tags_field(label: str, chosen: Sequence[str], own: Sequence[str]) -> list[str]:
    """Tags to choose from those there are, or to make."""
    known = dict.fromkeys([*own, *(tag.name for tag in session.engine().catalogue.tags())])
    return st.multiselect(label, list(known), list(chosen), accept_new_options=True, placeholder="Choose or type tags")


def _same(value: object, before: object) -> bool:
    """Whether a field still has what it had; an empty one has nothing."""
    if isinstance(value, list):
        return value == list(before) if isinstance(before, tuple) else False
    return (value or None) == (before or None)

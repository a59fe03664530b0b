"""The panel of sources beside the chat: which documents questions are asked of, and their reading progress."""

import contextlib
import itertools
import math
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.chat.conversation_list import conversation_id
from rag.ui.chat.source_choice import ALL, SAVED, TAG, UNTAGGED, Choice, Scope, Sources, initial_choice
from rag.ui.components import component
from rag.ui.formatting import decimal, escape, plural, progress_text
from rag.ui.language import _
from rag.ui.library.document_table import STAGES, status
from rag.ui.page_frame import empty_state, error_boundary
from rag.ui.translated_messages import translate_message

SCOPE = "scope"
"""Session key of the choice of sources."""
READ = "read-sources"
"""Session key of the sources that were read last."""
SAVED_FILTERS = "saved-filters"
"""Session key of the documents of each saved filter, and when they were read."""
ADDRESS = "about"
"""Parameter of the address with the choice of a chat without questions, empty if nothing is ticked, and of groups."""
MAX_ADDRESS_CHARS = 6000
"""Length of the choice in the address; servers refuse addresses of more than about 8 KB."""
SEARCH = "source-search"
POLL_SECONDS = 2.0
SAVED_FILTER_SECONDS = 20.0
"""How long an open page keeps the documents of saved filters, each of which takes a query."""
MAX_UNFINISHED = 3
PAGE_ROWS = 50
"""Documents of a list that are shown until more are requested."""


def read_sources(saved_filter_seconds: float = 0.0) -> Sources:
    """Return the documents that can be asked, now or when they have been read, with their groups.

    The choice in the session loses what is gone. A document that could not be read is only there if it was chosen.
    What saved filters have may be `saved_filter_seconds` old.
    """
    engine = session.engine()
    if SCOPE not in st.session_state:
        st.session_state[SCOPE] = _initial_choice()
    choice: Choice = st.session_state[SCOPE]
    documents = [
        document
        for document in engine.documents.list(disabled=False)
        if document.searchable or document.status is not types.DocumentStatus.FAILED or str(document.id) in choice
    ]
    sources = Sources.of(documents, _saved_filters(saved_filter_seconds))
    gone = frozenset(choice).difference(sources.groups, sources.groups[ALL].ids)
    gone_ids = {uuid.UUID(entry) for entry in gone if not entry.startswith((TAG, SAVED, UNTAGGED))}
    latest = engine.versions.latest(gone_ids)
    replaced = {str(older): str(current.id) for older, (_, current) in latest.items()}
    st.session_state[SCOPE] = sources.existing(choice, replaced)
    st.session_state[READ] = sources
    return sources


def _saved_filters(max_age: float) -> Mapping[str, Sequence[uuid.UUID]]:
    kept: tuple[float, Mapping[str, Sequence[uuid.UUID]]] = st.session_state.get(SAVED_FILTERS, (-math.inf, {}))
    read_at, members = kept
    if time.monotonic() - read_at >= max_age:
        engine = session.engine()
        members = {
            named.name: engine.documents.ids(types.DocumentQuery(filters=named.filters, disabled=False))
            for named in engine.store.saved_filters.list()
        }
        st.session_state[SAVED_FILTERS] = (time.monotonic(), members)
    return members


def _initial_choice() -> Choice:
    """Return the choice of a chat that is opened by its address: what stands there, or what the conversation has."""
    entries: list[str] = []
    for text in st.query_params.get_all(ADDRESS):
        with contextlib.suppress(ValueError):
            is_group = text == UNTAGGED or text.startswith((TAG, SAVED))
            entries.append(text if is_group else str(uuid.UUID(text)))
    if st.query_params.get(ADDRESS) is not None:
        return tuple(entries)
    current = conversation_id()
    chats = session.engine().chats.list() if current else []
    return initial_choice(next((chat for chat in chats if chat.id == current), None))


def _keep_in_address(sources: Sources, choice: Choice) -> None:
    """Keep the choice for a reload; of a chat with questions only with groups, which may have been ticked later."""
    has_groups = any(entry in sources.groups for entry in choice)
    is_short = len(urlencode([(ADDRESS, entry) for entry in choice])) <= MAX_ADDRESS_CHARS
    if ALL not in choice and is_short and (has_groups or not conversation_id()):
        st.query_params[ADDRESS] = choice or ("",)
    elif ADDRESS in st.query_params:
        del st.query_params[ADDRESS]


# --- the panel --------------------------------------------------------------------------------------


def choose_sources(sources: Sources) -> Scope:
    """Show the panel of sources and return what is chosen."""
    scope = sources.scope(st.session_state[SCOPE])
    _keep_in_address(sources, scope.choice)
    with st.container(key="sources", gap="xsmall"):
        _panel(sources, scope, itertools.count())
    return scope


@st.fragment(run_every=POLL_SECONDS)
def sources_button() -> None:
    """Show the button that opens and closes the panel, with the number of documents chosen and of those being read.

    Its counts follow what the panel reads, without a run of the page.
    """
    sources: Sources = st.session_state[READ]
    choice: Choice = st.session_state[SCOPE]
    chosen = sources.chosen(choice)
    total = decimal(len(sources.documents))
    label = (
        _("Sources: all {count}", count=total)
        if ALL in choice
        else _("Sources: {chosen} of {total}", chosen=decimal(len(chosen)), total=total)
    )
    documents = (document for document in sources.documents if str(document.id) in chosen)
    if unread := sum(document.status in types.UNFINISHED for document in documents):
        label += " · " + plural(unread, "{count} being read", "{count} being read")
    component("sources")(key="sources-button", data={"label": label})


def refusal(sources: Sources, scope: Scope) -> str | None:
    """Return why nothing can be asked; None if it can."""
    if not scope.chosen:
        return _("Tick at least one document to ask.")
    if len(scope.asked) > types.MAX_FILTER_DOCUMENTS:
        return _(
            "{count} documents are ticked, but at most {most} can be asked one by one. Tick all documents, or fewer.",
            count=decimal(len(scope.asked)),
            most=decimal(types.MAX_FILTER_DOCUMENTS),
        )
    if scope.first is not None:
        return None
    if any(types.reading_progress(document) for document in sources.documents if str(document.id) in scope.chosen):
        return _("You can ask questions as soon as the first one is read.")
    return _("Your documents could not be read or need a password. See the library for details.")


@st.fragment(run_every=POLL_SECONDS)
def _panel(sources: Sources, scope: Scope, runs: Iterator[int]) -> None:
    """Show the tick boxes; rerun the page as soon as it would ask, or show, something else.

    `sources` and `scope` are those of the page. Documents that come and are read change nothing else of it.
    """
    with error_boundary():
        if next(runs):  # in the page's own run, the sources have just been read
            latest = read_sources(SAVED_FILTER_SECONDS)
            now = latest.scope(st.session_state[SCOPE], scope.first)
            if _page_state(latest, now) != _page_state(sources, scope):
                st.rerun()
            sources, scope = latest, now
        query = st.text_input(
            _("Search sources"), key=SEARCH, placeholder=_("Search sources"), label_visibility="collapsed"
        )
        text = _("Also those that are added later. A ticked group includes documents that join it later.")
        _tick_box(sources, scope, ALL, _("All documents"), explanation=text)
        _show_unfinished(sources, scope)
        groups = [key for key in sources.groups if key != ALL]
        if query.strip():
            hits = sources.search(query)
            if not hits:
                st.caption(_("No document matches."))
            _rows(sources, scope, hits, "found")
        elif groups == [UNTAGGED] or not groups:
            _rows(sources, scope, sources.search(""), ALL)
        else:
            for key in groups:
                _group(sources, scope, key)


def _page_state(sources: Sources, scope: Scope) -> object:
    return scope.choice, scope.ready, scope.first, scope.is_alone, refusal(sources, scope)


def _group(sources: Sources, scope: Scope, key: str) -> None:
    """Show a group with its tick box; its documents only while it is open."""
    name, ids = sources.groups[key]
    label = name or _("No tag")
    with st.container(horizontal=True, wrap=False, gap=None, key=f"members-of-{key}"):
        _tick_box(sources, scope, key, _("All of “{group}”", group=label), visibility="collapsed")
        members = st.expander(escape(label), key=f"members-{key}", on_change="rerun")  # a new label would close it
        st.caption(progress_text(len(ids & scope.chosen), len(ids)), width="content")
    if members.open:
        with members:
            _rows(sources, scope, [row for row in sources.search("") if str(row.id) in ids], key)


def _rows(sources: Sources, scope: Scope, documents: Sequence[types.Document], key: str) -> None:
    """Show a tick box for each document of a list, at first for `PAGE_ROWS` of them."""
    most: int = st.session_state.get(f"shown-{key}", PAGE_ROWS)
    for document in documents[:most]:
        is_ready = document.status is types.DocumentStatus.READY
        label = document.name if is_ready else f"{document.name} · {status(document)}"
        _tick_box(sources, scope, str(document.id), label, within=key)
    if len(documents) > most:
        more = _("Show {count} more", count=decimal(min(PAGE_ROWS, len(documents) - most)))
        change = st.session_state.__setitem__
        st.button(more, key=f"more-{key}", type="tertiary", on_click=change, args=(f"shown-{key}", most + PAGE_ROWS))


def _tick_box(
    sources: Sources,
    scope: Scope,
    entry: str,
    label: str,
    *,
    within: str = "",
    visibility: Literal["visible", "collapsed"] = "visible",
    explanation: str | None = None,
) -> None:
    """Show the tick box of a document or a group; a document has one in each group, `within` which it is listed.

    A box that changes because another was clicked becomes a new one. If its value were set, a browser that has not seen
    it yet would send the old value with its next message, as if the user had clicked.
    """
    group = sources.groups.get(entry)
    ids = group.ids if group else frozenset((entry,))
    # All documents one by one are not all that come later.
    are_ticked = entry != ALL and bool(ids) and ids <= scope.chosen
    is_ticked = are_ticked or not {ALL, entry}.isdisjoint(scope.choice)
    boxes: dict[tuple[str, str], tuple[int, bool]] = st.session_state.setdefault("source-boxes", {})
    number, was_ticked = boxes.get((within, entry), (0, is_ticked))
    number += was_ticked != is_ticked
    boxes[within, entry] = number, is_ticked
    key = f"source-{within}-{entry}-{number}"

    def change() -> None:
        value = st.session_state[key]
        if boxes[within, entry] == (number, value):
            return  # Streamlit also calls this for a box that the last run did not reach, though nobody clicked it
        boxes[within, entry] = number, value
        changed = sources.with_entry if value else sources.without_entry
        st.session_state[SCOPE] = changed(st.session_state[SCOPE], entry)

    # Screen readers are given the label as it is written; within a line these two signs mean nothing.
    text = escape(label).replace("\\.", ".").replace("\\-", "-")
    st.checkbox(text, is_ticked, key=key, on_change=change, label_visibility=visibility, help=explanation)


def _show_unfinished(sources: Sources, scope: Scope) -> None:
    """Show which of the chosen documents are still being read, or cannot be asked for another reason."""
    unfinished = [
        f":material/{STAGES[document.status][0]}: {escape(document.name)}: {status(document)}"
        for document in sources.documents
        if str(document.id) in scope.chosen
        and (types.reading_progress(document) or (not document.searchable and ALL not in scope.choice))
    ]
    for line in unfinished[:MAX_UNFINISHED]:
        st.caption(line)
    if len(unfinished) > MAX_UNFINISHED:
        st.caption(
            plural(
                len(unfinished) - MAX_UNFINISHED,
                "and {count} more document still being read",
                "and {count} more documents still being read",
            )
        )


# --- nothing to ask yet -----------------------------------------------------------------------------


@st.fragment(run_every=POLL_SECONDS)
def no_documents(document_ids: tuple[uuid.UUID, ...] = ()) -> None:
    """Show reading progress, or the way to the library, while none of these documents, or of all, is ready."""
    with error_boundary():
        listed = session.engine().documents.list(disabled=False)
        wanted = frozenset(document_ids)
        documents = [document for document in listed if document.id in wanted or not wanted]
        if any(document.searchable for document in documents):
            st.rerun()
        readings = [
            f"{escape(document.name)}: {translate_message(reading)}"
            for document in documents
            if (reading := types.reading_progress(document))
        ]
        if readings:
            text = _("You can ask questions as soon as the first one is read.")
            with empty_state("hourglass_top", _("Reading your documents"), text):
                for line in readings[:MAX_UNFINISHED]:
                    st.caption(line, width="content")
            return
        title = _("No document is ready") if documents else _("No documents yet")
        text = _("Upload PDFs, Word files or slides, then ask about them.")
        if documents:
            text = _("Your documents could not be read or need a password. See the library for details.")
        with empty_state("upload_file", title, text):
            if documents:
                st.page_link("pages/library.py", label=_("Open the library"), icon=":material/folder_open:")
            if st.button(_("Upload documents"), icon=":material/upload_file:", type="primary"):
                st.switch_page("pages/library.py")

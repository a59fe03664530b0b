"""The panel of sources beside the chat: which documents questions are asked of, and their reading progress."""

import contextlib
import itertools
import uuid
from collections.abc import Iterator, Sequence
from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.chat.conversation_list import conversation_id
from rag.ui.chat.source_choice import ALL, SAVED, TAG, UNTAGGED, Choice, Sources
from rag.ui.components import component
from rag.ui.formatting import decimal, escape, plural, progress_text
from rag.ui.language import _
from rag.ui.library.document_table import STAGES, status
from rag.ui.page_frame import empty_state, error_boundary
from rag.ui.translated_messages import translate_message

SCOPE = "scope"
"""Session key of the choice of sources."""
ADDRESS = "about"
"""Parameter of the address with the choice of a chat without questions, and of groups."""
MAX_ADDRESS_CHARS = 6000
"""Length of the choice in the address; servers refuse addresses of more than about 8 KB."""
SEARCH = "source-search"
POLL_SECONDS = 2.0
MAX_UNFINISHED = 3
PAGE_ROWS = 50
"""Documents of a list that are shown until more are requested."""


def read_sources() -> Sources:
    """Return the documents that can be asked, now or when they have been read, with their groups.

    The choice in the session loses what is gone. A document that could not be read is only there if it was chosen.
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
    saved = {
        named.name: engine.documents.ids(types.DocumentQuery(filters=named.filters, disabled=False))
        for named in engine.store.saved_filters.list()
    }
    sources = Sources.of(documents, saved)
    st.session_state[SCOPE] = sources.existing(choice)
    return sources


def _initial_choice() -> Choice:
    """Return the choice of a chat that is opened by its address: what stands there, or the conversation's documents."""
    entries = []
    for text in st.query_params.get_all(ADDRESS):
        with contextlib.suppress(ValueError):
            is_group = text == UNTAGGED or text.startswith((TAG, SAVED))
            entries.append(text if is_group else str(uuid.UUID(text)))
    current = conversation_id()
    of_conversation = (
        str(document_id)
        for conversation in session.engine().chats.list()
        if conversation.id == current
        for document_id in conversation.document_ids
    )
    return tuple(entries) or tuple(of_conversation) or (ALL,)


def _keep_in_address(sources: Sources, choice: Choice) -> None:
    """Keep the choice for a reload; of a chat with questions only with groups, for it has the documents itself."""
    has_groups = any(entry in sources.groups for entry in choice)
    is_short = len(urlencode([(ADDRESS, entry) for entry in choice])) <= MAX_ADDRESS_CHARS
    if choice and ALL not in choice and is_short and (has_groups or not conversation_id()):
        st.query_params[ADDRESS] = choice
    elif ADDRESS in st.query_params:
        del st.query_params[ADDRESS]


# --- the panel --------------------------------------------------------------------------------------


def choose_sources(sources: Sources) -> Choice:
    """Show the panel of sources and return the choice."""
    choice: Choice = st.session_state[SCOPE]
    _keep_in_address(sources, choice)
    with st.container(key="sources", gap="xsmall"):
        _panel(sources, choice, itertools.count())
    return choice


def sources_button(sources: Sources, choice: Choice) -> None:
    """Show the button that opens and closes the panel, with the number of documents chosen and of those being read."""
    chosen = sources.chosen(choice)
    total = decimal(len(sources.documents))
    label = (
        _("Sources: all {count}", count=total)
        if ALL in choice
        else _("Sources: {chosen} of {total}", chosen=decimal(len(chosen)), total=total)
    )
    if unread := len(_being_read(sources, choice)):
        label += " · " + plural(unread, "{count} being read", "{count} being read")
    component("sources")(key="sources-button", data={"label": label})


def _being_read(sources: Sources, choice: Choice) -> list[uuid.UUID]:
    chosen = sources.chosen(choice)
    return [
        document.id
        for document in sources.documents
        if str(document.id) in chosen and document.status in types.UNFINISHED
    ]


@st.fragment(run_every=POLL_SECONDS)
def _panel(sources: Sources, choice: Choice, runs: Iterator[int]) -> None:
    """Show the tick boxes; rerun the page as soon as it would ask, or show, something else."""
    with error_boundary():
        if next(runs):  # in the page's own run, the sources have just been read
            latest = read_sources()
            if _page_state(latest, st.session_state[SCOPE]) != _page_state(sources, choice):
                st.rerun()
            sources = latest
        query = st.text_input(
            _("Search sources"), key=SEARCH, placeholder=_("Search sources"), label_visibility="collapsed"
        )
        text = _("Also those that are added later. A ticked group includes documents that join it later.")
        _tick_box(sources, choice, ALL, _("All documents"), explanation=text)
        _show_unfinished(sources, choice)
        groups = [key for key in sources.groups if key != ALL]
        if query.strip():
            hits = sources.search(query)
            if not hits:
                st.caption(_("No document matches."))
            _rows(sources, choice, hits, "found")
        elif groups == [UNTAGGED] or not groups:
            _rows(sources, choice, sources.search(""), ALL)
        else:
            for key in groups:
                _group(sources, choice, key)


def _page_state(sources: Sources, choice: Choice) -> object:
    searchable = {document.id for document in sources.documents if document.searchable}
    return searchable, len(sources.documents), choice, sources.asked(choice), _being_read(sources, choice)


def _group(sources: Sources, choice: Choice, key: str) -> None:
    """Show a group with its tick box; its documents only while it is open."""
    name, ids = sources.groups[key]
    label = name or _("No tag")
    with st.container(horizontal=True, wrap=False, gap=None, key=f"members-of-{key}"):
        _tick_box(sources, choice, key, _("All of “{group}”", group=label), visibility="collapsed")
        members = st.expander(escape(label), key=f"members-{key}", on_change="rerun")  # a new label would close it
        st.caption(progress_text(len(ids & sources.chosen(choice)), len(ids)), width="content")
    if members.open:
        with members:
            _rows(sources, choice, [row for row in sources.search("") if str(row.id) in ids], key)


def _rows(sources: Sources, choice: Choice, documents: Sequence[types.Document], key: str) -> None:
    """Show a tick box for each document of a list, at first for `PAGE_ROWS` of them."""
    most: int = st.session_state.get(f"shown-{key}", PAGE_ROWS)
    for document in documents[:most]:
        is_ready = document.status is types.DocumentStatus.READY
        label = document.name if is_ready else f"{document.name} · {status(document)}"
        _tick_box(sources, choice, str(document.id), label, within=key)
    if len(documents) > most:
        more = _("Show {count} more", count=decimal(min(PAGE_ROWS, len(documents) - most)))
        change = st.session_state.__setitem__
        st.button(more, key=f"more-{key}", type="tertiary", on_click=change, args=(f"shown-{key}", most + PAGE_ROWS))


def _tick_box(
    sources: Sources,
    choice: Choice,
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
    is_ticked = ALL in choice or (entry != ALL and bool(ids) and ids <= sources.chosen(choice))
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


def _show_unfinished(sources: Sources, choice: Choice) -> None:
    """Show which of the chosen documents are still being read, or cannot be asked for another reason."""
    chosen = sources.chosen(choice)
    unfinished = [
        f":material/{STAGES[document.status][0]}: {escape(document.name)}: {status(document)}"
        for document in sources.documents
        if str(document.id) in chosen
        and (types.reading_progress(document) or (not document.searchable and ALL not in choice))
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
        documents = session.engine().documents.list(filters=types.Filters(document_ids=document_ids), disabled=False)
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

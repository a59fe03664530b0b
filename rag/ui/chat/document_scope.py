"""The documents that a question goes to, and how far they are read."""

import uuid

import streamlit as st

from rag.types import Document, Filters, reading_of
from rag.ui import session
from rag.ui.chat import tour
from rag.ui.chat.conversation_list import conversation_id
from rag.ui.formatting import plain, plural
from rag.ui.language import _
from rag.ui.library import document_metadata
from rag.ui.page_frame import door, empty
from rag.ui.translated_messages import said

NARROWED = "scope-filter"
"""What the filters of the scope are kept by."""
FOLLOW_SECONDS = 2.0
MOST_UNFINISHED = 3


def ready_documents() -> list[Document]:
    """What can be asked about, if only by its words."""
    return [document for document in session.engine().documents.list(disabled=False) if document.searchable]


@st.fragment(run_every=FOLLOW_SECONDS)
def still_reading(document_ids: tuple[uuid.UUID, ...]) -> None:
    """Which of the documents that are asked are not read completely yet, and how far they are."""
    with door():
        readings = {
            document.name: reading_of(document)
            for document in ready_documents()
            if not document_ids or document.id in document_ids
        }
        unfinished = [f"{plain(name)}: {said(reading)}" for name, reading in readings.items() if reading]
        for line in unfinished[:MOST_UNFINISHED]:
            st.caption(f":material/hourglass_top: {line}")
        if len(unfinished) > MOST_UNFINISHED:
            st.caption(
                plural(
                    len(unfinished) - MOST_UNFINISHED,
                    "and {count} more document still being read",
                    "and {count} more documents still being read",
                )
            )


@st.fragment(run_every=FOLLOW_SECONDS)
def nothing_to_ask() -> None:
    """What is shown as long as no document can be asked: how far the first ones are, or the way to the upload."""
    with door():
        documents = session.engine().documents.list(disabled=False)
        if any(document.searchable for document in documents):
            st.rerun()
        readings = [
            f"{plain(document.name)}: {said(reading)}" for document in documents if (reading := reading_of(document))
        ]
        if readings:
            with empty(
                "hourglass_top",
                _("Reading your documents"),
                _("You can ask questions as soon as the first one is read."),
            ):
                for line in readings[:MOST_UNFINISHED]:
                    st.caption(line, width="content")
            return
        title = _("No document is ready") if documents else _("No documents yet")
        text = _("Upload PDFs, Word files or slides, then ask about them here.")
        if documents:
            text = _("Your documents could not be read or need a password. See the library for details.")
        with empty("upload_file", title, text):
            if documents:
                st.page_link("pages/library.py", label=_("Open the library"), icon=":material/folder_open:")
            st.page_link("pages/upload.py", label=_("Upload documents"), icon=":material/upload_file:")
            if not documents:
                tour.offer()


def scope(documents: list[Document]) -> tuple[uuid.UUID, ...]:
    """Let the reader choose the documents a question goes to; empty means the whole library, or what is let through.

    Of many documents those are offered that tags and a saved filter let through, which hold for the question, too.
    """
    filters = document_metadata.kept(NARROWED)
    if filters != Filters():
        let_through = session.engine().documents.list(filters=filters, disabled=False)
        documents = [document for document in documents if document in let_through]
    names = {str(document.id): document.name for document in documents}
    if "scope" not in st.session_state:
        st.session_state["scope"] = (
            st.session_state["kept-scope"] if "kept-scope" in st.session_state else _kept_scope()
        )
    st.session_state["scope"] = chosen = [chosen for chosen in st.session_state["scope"] if chosen in names]
    whole = document_metadata.summary(filters) or _("Whole library")
    label = plural(len(chosen), "{count} document", "{count} documents") if chosen else whole
    if len(chosen) == 1:
        label = names[chosen[0]]
    with st.popover(plain(label), icon=":material/filter_list:", key="scope-chooser"):
        document_metadata.narrow(NARROWED)
        st.multiselect(
            _("Ask only these documents"),
            list(names),
            key="scope",
            format_func=lambda document_id: names[document_id],
            placeholder=whole,
            width=420,
        )
    st.session_state["kept-scope"] = st.session_state["scope"]  # the field's own is forgotten on other pages
    return tuple(uuid.UUID(document_id) for document_id in st.session_state["scope"])


def _kept_scope() -> list[str]:
    """The documents that the open conversation began with, when it is opened by its address."""
    current = conversation_id()
    kept = [conversation for conversation in session.engine().chats.list() if conversation.id == current]
    return [str(document_id) for conversation in kept for document_id in conversation.document_ids]

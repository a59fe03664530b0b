"""Choose the documents that questions are about, and show their reading progress."""

import uuid

import streamlit as st

from rag.types import Document, Filters, reading_progress
from rag.ui import session
from rag.ui.chat import tour
from rag.ui.chat.conversation_list import conversation_id
from rag.ui.formatting import escape, n_documents, plural
from rag.ui.language import _
from rag.ui.library import document_metadata
from rag.ui.page_frame import empty_state, error_boundary
from rag.ui.translated_messages import translate_message

SCOPE_FILTER = "scope-filter"
"""Session key prefix of the scope's filter."""
POLL_SECONDS = 2.0
MAX_UNFINISHED = 3


def ready_documents() -> list[Document]:
    """Return the documents that can be searched, if only by keywords."""
    return [document for document in session.engine().documents.list(disabled=False) if document.searchable]


@st.fragment(run_every=POLL_SECONDS)
def still_reading(document_ids: tuple[uuid.UUID, ...]) -> None:
    """Show which of the chosen documents are still being read."""
    with error_boundary():
        readings = {
            document.name: reading_progress(document)
            for document in ready_documents()
            if not document_ids or document.id in document_ids
        }
        unfinished = [f"{escape(name)}: {translate_message(reading)}" for name, reading in readings.items() if reading]
        for line in unfinished[:MAX_UNFINISHED]:
            st.caption(f":material/hourglass_top: {line}")
        if len(unfinished) > MAX_UNFINISHED:
            st.caption(
                plural(
                    len(unfinished) - MAX_UNFINISHED,
                    "and {count} more document still being read",
                    "and {count} more documents still being read",
                )
            )


@st.fragment(run_every=POLL_SECONDS)
def no_documents() -> None:
    """Show reading progress, or the way to the library, while no document is ready."""
    with error_boundary():
        documents = session.engine().documents.list(disabled=False)
        if any(document.searchable for document in documents):
            st.rerun()
        readings = [
            f"{escape(document.name)}: {translate_message(reading)}"
            for document in documents
            if (reading := reading_progress(document))
        ]
        if readings:
            with empty_state(
                "hourglass_top",
                _("Reading your documents"),
                _("You can ask questions as soon as the first one is read."),
            ):
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
            if not documents:
                tour.offer_sample()


def choose_scope(documents: list[Document]) -> tuple[uuid.UUID, ...]:
    """Choose the documents to ask; an empty result means all that the filter allows.

    The tags and saved filter also limit which documents are offered.
    """
    filters = document_metadata.current_filters(SCOPE_FILTER)
    if filters != Filters():
        let_through = session.engine().documents.list(filters=filters, disabled=False)
        documents = [document for document in documents if document in let_through]
    names = {str(document.id): document.name for document in documents}
    if "scope" not in st.session_state:
        st.session_state["scope"] = (
            st.session_state["kept-scope"] if "kept-scope" in st.session_state else _scope_of_conversation()
        )
    st.session_state["scope"] = chosen = [chosen for chosen in st.session_state["scope"] if chosen in names]
    whole = document_metadata.summary(filters) or _("Whole library")
    label = n_documents(len(chosen)) if chosen else whole
    if len(chosen) == 1:
        label = names[chosen[0]]
    with st.popover(escape(label), icon=":material/filter_list:", key="scope-chooser"):
        document_metadata.tag_fields(SCOPE_FILTER)
        st.multiselect(
            _("Ask only these documents"),
            list(names),
            key="scope",
            format_func=lambda document_id: names[document_id],
            placeholder=whole,
            width=420,
        )
    st.session_state["kept-scope"] = st.session_state["scope"]  # Streamlit forgets the field's own state on other pages
    return tuple(uuid.UUID(document_id) for document_id in st.session_state["scope"])


def _scope_of_conversation() -> list[str]:
    """Return the documents with which the open conversation began, when it is opened by address."""
    current = conversation_id()
    kept = [conversation for conversation in session.engine().chats.list() if conversation.id == current]
    return [str(document_id) for conversation in kept for document_id in conversation.document_ids]

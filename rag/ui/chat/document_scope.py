"""Choose the documents that questions are about, and show their reading progress."""

import contextlib
import uuid

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.chat.conversation_list import conversation_id
from rag.ui.formatting import escape, n_documents, plural
from rag.ui.language import _
from rag.ui.library import document_metadata
from rag.ui.library.document_table import STAGES, status
from rag.ui.page_frame import empty_state, error_boundary
from rag.ui.translated_messages import translate_message

SCOPE_FILTER = "scope-filter"
"""Session key prefix of the scope's filter."""
ADDRESS = "about"
"""Parameter of the address that names the documents of a chat without questions."""
MAX_IN_ADDRESS = 100
"""Number of documents that the address can name; servers refuse addresses of more than about 8 KB."""
POLL_SECONDS = 2.0
MAX_UNFINISHED = 3


def ready_documents() -> list[types.Document]:
    """Return the documents that can be searched, if only by keywords."""
    return [document for document in session.engine().documents.list(disabled=False) if document.searchable]


@st.fragment(run_every=POLL_SECONDS)
def still_reading(document_ids: tuple[uuid.UUID, ...]) -> None:
    """Show which of the chosen documents are still being read, or cannot be asked for another reason."""
    with error_boundary():
        unfinished = [
            f":material/{STAGES[document.status][0]}: {escape(document.name)}: {status(document)}"
            for document in session.engine().documents.list(disabled=False)
            if (document.searchable and types.reading_progress(document) and not document_ids)
            or (document.id in document_ids and (types.reading_progress(document) or not document.searchable))
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


def choose_scope(documents: list[types.Document]) -> tuple[uuid.UUID, ...]:
    """Choose which of the documents to ask; an empty result means all that the filter allows.

    The tags and saved filter also limit which documents are offered. A chat may have been opened about documents that
    cannot be asked yet: these stay chosen and are asked as soon as they have been read.
    """
    filters = document_metadata.current_filters(SCOPE_FILTER)
    if "scope" not in st.session_state:
        kept = st.session_state.get("kept-scope")
        st.session_state["scope"] = _initial_scope() if kept is None else kept
    ready = {str(document.id) for document in documents}
    waiting = tuple(uuid.UUID(chosen) for chosen in st.session_state["scope"] if chosen not in ready)
    if filters != types.Filters():
        let_through = session.engine().documents.list(filters=filters, disabled=False)
        documents = [document for document in documents if document in let_through]
    if waiting:
        of_these = filters.model_copy(update={"document_ids": waiting})
        documents = [*documents, *session.engine().documents.list(filters=of_these, disabled=False)]
    names = {str(document.id): document.name for document in documents}
    st.session_state["scope"] = chosen = [chosen for chosen in st.session_state["scope"] if chosen in names]
    whole = document_metadata.summary(filters) or _("Whole library")
    label = names[chosen[0]] if len(chosen) == 1 else n_documents(len(chosen)) if chosen else whole
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
    scope: list[str] = st.session_state["scope"]
    # The address keeps the documents of a chat without questions for a reload; afterwards the conversation has them.
    if 0 < len(scope) <= MAX_IN_ADDRESS and not conversation_id():
        st.query_params[ADDRESS] = scope
    elif ADDRESS in st.query_params:
        del st.query_params[ADDRESS]
    return tuple(uuid.UUID(document_id) for document_id in scope)


def _initial_scope() -> list[str]:
    """Return the documents of a new chat that was reloaded, or of a conversation that is opened by its address."""
    scope = []
    for text in st.query_params.get_all(ADDRESS):
        with contextlib.suppress(ValueError):
            scope.append(str(uuid.UUID(text)))
    current = conversation_id()
    return scope or [
        str(document_id)
        for conversation in session.engine().chats.list()
        if conversation.id == current
        for document_id in conversation.document_ids
    ]

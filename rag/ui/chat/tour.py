"""A short tour: a sample document and three questions about it."""

import uuid

import streamlit as st

from rag import errors, types
from rag.ui import session
from rag.ui.chat import conversation_list
from rag.ui.components import ASSETS
from rag.ui.formatting import escape
from rag.ui.language import _
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_message

SAMPLE = "Lantern Coast Ferries 2024 (sample).md"
QUESTIONS = (
    "How many passengers did Lantern Coast Ferries carry in 2024?",
    "Why did the cost of fuel and electricity fall?",
    "When does the licence for the route to Gull Island end?",
)
SAMPLE_ID = "tour-document"
"""Session key of the sample's id while its questions are shown."""
POLL_SECONDS = 1.0


def offer_sample() -> None:
    """Offer the sample document to a user without documents."""
    if session.read_only_reason():
        return
    with st.container(key="tour-offer", horizontal=True, horizontal_alignment="center"):
        told = _("A short made-up report with three questions.")
        if st.button(_("Try a sample"), icon=":material/explore:", type="tertiary", help=told):
            _add_sample()
            st.switch_page("pages/library.py")


def questions() -> None:
    """Show the tour's questions if the sample was added and still exists."""
    if SAMPLE_ID not in st.session_state:
        return
    document_id: uuid.UUID = st.session_state[SAMPLE_ID]
    try:
        document = session.engine().documents.get(document_id)
    except errors.NotFoundError:
        _end()
        return
    waits = _is_waiting(document)
    st.fragment(_card, run_every=POLL_SECONDS if waits else None)(document_id, waits)


def _is_waiting(document: types.Document) -> bool:
    return document.status in types.UNFINISHED and not document.searchable


def _add_sample() -> None:
    with error_boundary():
        documents = session.engine().documents
        try:
            taken = documents.add(ASSETS / "sample.md", SAMPLE).id
        except errors.DuplicateError as error:
            taken = uuid.UUID(str(error.details["document_id"]))
            documents.restore([taken])
        st.session_state[SAMPLE_ID] = taken


def _card(document_id: uuid.UUID, waited: bool) -> None:
    with error_boundary(), st.container(key="tour", border=True, gap="small"):
        document = session.engine().documents.get(document_id)
        waits = _is_waiting(document)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_(":material/explore: **A short tour**"), width="stretch")
            st.button(":material/close:", key="tour-end", type="tertiary", help=_("End the tour"), on_click=_end)
        if document.deleted_at is not None or document.status is types.DocumentStatus.FAILED:
            st.caption(
                _("The sample was deleted.") if document.deleted_at else escape(translate_message(document.error or ""))
            )
            return
        told = _("Reading {name} …") if waits else _("{name} is ready. Ask a question:")
        st.caption(told.format(name=escape(document.name)))
        for number, question in enumerate(QUESTIONS):
            if st.button(escape(question), key=f"tour-{number}", disabled=waits, icon=":material/forum:"):
                _ask(question, document_id)
        st.caption(_("Click a number in the answer to highlight its quote on the page."))
        if waited and not waits:
            st.rerun()


def _ask(question: str, document_id: uuid.UUID) -> None:
    conversation_list.open_conversation(None, (document_id,))
    st.session_state[conversation_list.FIRST_QUESTION] = question
    st.switch_page("pages/chat.py")


def _end() -> None:
    st.session_state.pop(SAMPLE_ID, None)

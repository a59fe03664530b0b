"""The first minutes: a sample document, and three questions that show what an answer is."""

import uuid

import streamlit as st

from rag import errors
from rag.types import UNFINISHED, Document, DocumentStatus
from rag.ui import session
from rag.ui.chat import conversation_list
from rag.ui.components import ASSETS
from rag.ui.formatting import plain
from rag.ui.language import _
from rag.ui.page_frame import door
from rag.ui.translated_messages import said

SAMPLE = "Lantern Coast Ferries 2024 (sample).md"
QUESTIONS = (
    "How many passengers did Lantern Coast Ferries carry in 2024?",
    "Why did the cost of fuel and electricity fall?",
    "When does the licence for the route to Gull Island end?",
)
TAKEN = "tour-document"
"""The id of the sample, as long as its questions are offered."""
FOLLOW_SECONDS = 1.0


def offer() -> None:
    """A sample to try things with, for whoever has no document yet."""
    if session.refusal():
        return
    with st.container(key="tour-offer", horizontal=True, horizontal_alignment="center"):
        told = _("A short fictional report with three questions. You can delete it at any time.")
        if st.button(_("Try a sample document"), icon=":material/explore:", help=told):
            _take_in()
            st.switch_page("pages/upload.py")


def questions() -> None:
    """The tour's questions, where the sample was taken in and is there."""
    if TAKEN not in st.session_state:
        return
    document_id: uuid.UUID = st.session_state[TAKEN]
    try:
        document = session.engine().documents.get(document_id)
    except errors.NotFoundError:
        _end()
        return
    waits = _waits(document)
    st.fragment(_card, run_every=FOLLOW_SECONDS if waits else None)(document_id, waits)


def _waits(document: Document) -> bool:
    return document.status in UNFINISHED and not document.searchable


def _take_in() -> None:
    with door():
        documents = session.engine().documents
        try:
            taken = documents.add(ASSETS / "sample.md", SAMPLE).id
        except errors.DuplicateError as error:
            taken = uuid.UUID(str(error.details["document_id"]))
            documents.restore([taken])
        st.session_state[TAKEN] = taken


def _card(document_id: uuid.UUID, waited: bool) -> None:
    with door(), st.container(key="tour", border=True, gap="small"):
        document = session.engine().documents.get(document_id)
        waits = _waits(document)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_(":material/explore: **A short tour**"), width="stretch")
            st.button(":material/close:", key="tour-end", type="tertiary", help=_("End the tour"), on_click=_end)
        if document.deleted_at is not None or document.status is DocumentStatus.FAILED:
            st.caption(_("The sample was deleted.") if document.deleted_at else plain(said(document.error or "")))
            return
        told = _("Reading {name}: this takes a few seconds") if waits else _("{name} is ready. Ask a question:")
        st.caption(told.format(name=plain(document.name)))
        for number, question in enumerate(QUESTIONS):
            if st.button(plain(question), key=f"tour-{number}", disabled=waits, icon=":material/forum:"):
                _ask(question, document_id)
        st.caption(_("Click a number in the answer to highlight its quote on the page."))
        if waited and not waits:
            st.rerun()


def _ask(question: str, document_id: uuid.UUID) -> None:
    conversation_list.open_conversation(None, (document_id,))
    st.session_state[conversation_list.ASKED_ELSEWHERE] = question
    st.switch_page("pages/chat.py")


def _end() -> None:
    st.session_state.pop(TAKEN, None)

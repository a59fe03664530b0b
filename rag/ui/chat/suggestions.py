"""The beginning of a chat: what its documents are, and questions that one answers.

These are looked for in the background, since this takes seconds.
"""

import logging
import threading
import uuid
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from rag import errors, types
from rag.answering.conversation.suggested_questions import in_document
from rag.engine import RAGEngine
from rag.ui import session
from rag.ui.formatting import escape
from rag.ui.language import _
from rag.ui.library.overview import description, fact_marks, show_facts
from rag.ui.page_frame import empty_state, error_boundary
from rag.ui.viewer.citation_viewer import Viewing, show_mark

log = logging.getLogger(__name__)

POLL_SECONDS = 1.0
KNOWN_SECONDS = 0.2
"""Time to wait for questions that were found before, so that they are there at once."""
MAX_DOCUMENTS = 5
"""Maximum number of documents that are described in a chat about several."""


class _Search:
    """A search for the questions that a document answers, in a background thread."""

    def __init__(self, engine: RAGEngine, document_id: uuid.UUID) -> None:
        self.suggestions: tuple[str, ...] = ()
        self._thread = threading.Thread(target=self._find, args=(engine, document_id), daemon=True)
        self._thread.start()

    def is_done(self, seconds: float = 0.0) -> bool:
        """Return whether it has ended, after up to `seconds`."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _find(self, engine: RAGEngine, document_id: uuid.UUID) -> None:
        try:
            self.suggestions = engine.questions.suggestions(document_id)
        except errors.Error as error:
            log.info("no questions are suggested: %s", error.code)
        except Exception:
            log.exception("A search for suggested questions failed")


def beginning(document_ids: Sequence[uuid.UUID], first: uuid.UUID, *, is_alone: bool) -> str | None:
    """Show what the documents of a chat without questions are, with questions for the `first`; return the chosen one.

    If the document `is_alone`, its key facts stand above the questions; of several, which the questions then name, a
    line each. Without `document_ids` the whole library is asked.
    """
    try:
        document = session.engine().documents.get(first)
    except errors.NotFoundError:  # deleted while the page is open
        return None
    shown = _show_overview(document) if is_alone else _show_documents(document_ids)
    title = _("Ask your documents")
    text = _("Every sentence of an answer cites its source. Click a citation to see the words on the page.")
    with st.container(key="topics", gap="xsmall") if shown else empty_state("forum", title, text):
        if shown:
            st.markdown(f"**{title}**")
            st.caption(text)
        return _suggested_questions(document, is_alone=is_alone)


def _show_overview(document: types.Document) -> bool:
    """Show the key facts of a document that is read; return whether it has any."""
    viewing: Viewing | None = st.session_state.get("viewing")
    if viewing and viewing.document_id != document.id:  # of the document that was chosen before
        del st.session_state["viewing"]
    if document.status is not types.DocumentStatus.READY:
        return False
    overview = session.engine().documents.overview(document.id)
    if overview.facts:
        with st.container(key="overview"):
            st.markdown(f"**{escape(document.title or document.name)}**")
            st.caption(escape(description(document)))
            show_facts(overview, partial(show_mark, document.id, fact_marks(overview)))
    return bool(overview.facts)


def _show_documents(document_ids: Sequence[uuid.UUID]) -> bool:
    """Show a line for each of some documents; return whether one says more than its name."""
    filters = types.Filters(document_ids=tuple(document_ids[: MAX_DOCUMENTS + 1]))
    listed = session.engine().documents.list(filters=filters, disabled=False, limit=MAX_DOCUMENTS + 1)
    documents = [document for document in listed if document.searchable]
    if not any(document.subject != types.Subject() for document in documents):
        return False
    with st.container(key="overview", gap="xsmall"):
        for document in documents[:MAX_DOCUMENTS]:
            st.caption(f"**{escape(document.name)}** {escape(description(document))}")
        if len(listed) > MAX_DOCUMENTS:
            st.caption("…")
    return True


def _suggested_questions(document: types.Document, *, is_alone: bool) -> str | None:
    """Show suggested questions and return the chosen one. Unless the document `is_alone`, they name it."""
    if document.status in types.UNFINISHED:
        _show_when(lambda: not _is_being_read(document.id))
        return None
    # A search is begun once in this session for each state of the document.
    searches: dict[object, _Search] = st.session_state.setdefault("suggestions", {})
    key = (document.id, document.indexed_at)
    if key not in searches:
        searches[key] = _Search(session.engine(), document.id)
    search = searches[key]
    if not search.is_done(KNOWN_SECONDS):
        _show_when(search.is_done)
        return None
    for number, suggestion in enumerate(search.suggestions):
        question = suggestion if is_alone else in_document(suggestion, document.name)
        if st.button(escape(question), key=f"topic-{number}-{document.id}"):
            return question
    return None


@st.fragment(run_every=POLL_SECONDS)
def _show_when(is_done: Callable[[], bool]) -> None:
    """Rerun the page as soon as `is_done`; it shows the questions then."""
    with error_boundary():
        if is_done():
            st.rerun()


def _is_being_read(document_id: uuid.UUID) -> bool:
    try:
        return session.engine().documents.get(document_id).status in types.UNFINISHED
    except errors.NotFoundError:  # deleted meanwhile
        return False

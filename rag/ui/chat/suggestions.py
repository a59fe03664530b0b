"""Suggested questions of a document. They are looked for in the background, since this takes seconds."""

import logging
import threading
import uuid
from collections.abc import Callable

import streamlit as st

from rag import errors, types
from rag.answering.conversation.suggested_questions import in_document
from rag.engine import RAGEngine
from rag.ui import session
from rag.ui.formatting import escape
from rag.ui.language import _
from rag.ui.page_frame import empty_state, error_boundary

log = logging.getLogger(__name__)

POLL_SECONDS = 1.0
KNOWN_SECONDS = 0.2
"""Time to wait for questions that were found before, so that they are there at once."""


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


def suggested_questions(document_id: uuid.UUID, *, is_alone: bool) -> str | None:
    """Show suggested questions and return the chosen one.

    Unless the document `is_alone` in the scope, they name it.
    """
    try:
        document = session.engine().documents.get(document_id)
    except errors.NotFoundError:  # deleted while the page is open
        return None
    text = _("Every sentence of an answer cites its source. Click a citation to see the words on the page.")
    with empty_state("forum", _("Ask your documents"), text):
        if document.status in types.UNFINISHED:
            _show_when(lambda: not _is_being_read(document_id))
            return None
        # A search is begun once in this session for each state of the document.
        searches: dict[object, _Search] = st.session_state.setdefault("suggestions", {})
        key = (document_id, document.indexed_at)
        if key not in searches:
            searches[key] = _Search(session.engine(), document_id)
        search = searches[key]
        if not search.is_done(KNOWN_SECONDS):
            _show_when(search.is_done)
            return None
        for number, suggestion in enumerate(search.suggestions):
            question = suggestion if is_alone else in_document(suggestion, document.name)
            if st.button(escape(question), key=f"topic-{number}-{document_id}"):
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

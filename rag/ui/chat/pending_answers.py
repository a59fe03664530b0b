"""Answers being written and failed ones, at most one per conversation."""

import logging
import threading
import uuid

import streamlit as st

from rag import errors
from rag.engine import RAGEngine
from rag.types import AnswerRequest, AnswerResponse, AnswerStage, AnswerToken
from rag.ui.language import N_

log = logging.getLogger(__name__)


class PendingAnswer:
    """An answer written in a background thread; it is saved even if the user leaves the page.

    While a model judges it, the answer `so_far` is saved already; its final verdicts replace those.
    """

    def __init__(
        self, engine: RAGEngine, conversation_id: uuid.UUID, request: AnswerRequest, beside: uuid.UUID | None = None
    ) -> None:
        """Start writing; the answer replaces the answer `beside`."""
        self.request = request
        self.beside = beside
        self._stopped = threading.Event()
        self.text = ""
        self.stage: AnswerStage | None = None
        self.so_far: AnswerResponse | None = None
        self.is_so_far_shown = False
        self.error: str | None = None
        self._thread = threading.Thread(target=self._write, args=(engine, conversation_id, request), daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether the thread has ended."""
        return not self._thread.is_alive()

    def stop(self) -> bool:
        """Stop writing or judging; return whether there is text that is still to be checked and saved."""
        self._stopped.set()
        return bool(self.text) and self.so_far is None

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    def _write(self, engine: RAGEngine, conversation_id: uuid.UUID, request: AnswerRequest) -> None:
        saved: uuid.UUID | None = None
        try:
            for event in engine.questions.stream(request, self._stopped.is_set):
                if self.stopping and not self.text:
                    return  # no text yet, and nobody is waiting any more
                if isinstance(event, AnswerToken):
                    self.text += event.text
                elif isinstance(event, AnswerStage):
                    if event.so_far is not None:
                        saved = self._append(engine, conversation_id, event.so_far)
                        self.so_far = event.so_far
                    self.stage = event
                elif saved is None:
                    self._append(engine, conversation_id, event)
                elif not self.stopping:
                    engine.chats.replace_answer(conversation_id, saved, event)
        except errors.Error as error:
            self._fail(error.message)
        except Exception:
            log.exception("An answer failed")
            self._fail(N_("The answer failed. Ask again; if it persists, check the log."))

    def _append(self, engine: RAGEngine, conversation_id: uuid.UUID, answer: AnswerResponse) -> uuid.UUID:
        return engine.chats.append(conversation_id, "assistant", answer.answer, answer, beside=self.beside).id

    def _fail(self, message: str) -> None:
        """Report an error, unless the answer is saved: it stays with the verdicts that it has."""
        if self.so_far is None:
            self.error = message


def pending_answers() -> dict[uuid.UUID, PendingAnswer]:
    """Return this session's pending answers by conversation."""
    answers: dict[uuid.UUID, PendingAnswer] = st.session_state.setdefault("pending", {})
    return answers

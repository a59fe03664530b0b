"""Answers being written and failed ones, at most one per conversation."""

import contextlib
import logging
import threading
import time
import uuid
from collections.abc import Callable

import streamlit as st

from rag import errors, types
from rag.engine import RAGEngine
from rag.ui import session
from rag.ui.language import N_, _

SAVE_SECONDS = 1.0
"""What was written is saved this often, so that a crash loses little of it."""

log = logging.getLogger(__name__)

_running: "dict[tuple[str, uuid.UUID], PendingAnswer]" = {}
"""The answers that this process writes, by user and conversation: a reloaded page is a new session."""


class PendingAnswer:
    """An answer written in a background thread; it is saved even if the user leaves the page.

    What is written is saved again and again, and replaced by the checked answer. While a model judges it, the answer
    `so_far` is saved already; its final verdicts replace those.
    """

    def __init__(
        self,
        engine: RAGEngine,
        conversation_id: uuid.UUID,
        request: types.AnswerRequest,
        beside: uuid.UUID | None,
        reserved: contextlib.ExitStack,
    ) -> None:
        """The answer replaces the answer `beside`; `reserved` is closed when the chat is free for another one."""
        self.request = request
        self.beside = beside
        self._engine = engine
        self._conversation_id = conversation_id
        self._reserved = reserved
        self._saved: uuid.UUID | None = None
        self._saved_at = 0.0
        self._stopped = threading.Event()
        self._text_lock = threading.Lock()
        self.text = ""
        self.stage: types.AnswerStage | None = None
        self.so_far: types.AnswerResponse | None = None
        self.error: str | None = None
        self._ended = threading.Event()

    @property
    def done(self) -> bool:
        """Whether nothing more will be saved."""
        return self._ended.is_set()

    def stop(self) -> bool:
        """Stop writing or judging; return whether there is text that is still to be checked and saved.

        Without such text nothing is waited for: the chat is free again.
        """
        with self._text_lock:
            self._stopped.set()
            is_checked_next = bool(self.text) and self.so_far is None
            if not is_checked_next:
                self._ended.set()
        if not is_checked_next:
            self._reserved.close()
        return is_checked_next

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    def write(self) -> None:
        """Write the answer, in a thread of its own."""
        try:
            for event in self._engine.questions.stream(self.request, self._stopped.is_set):
                if isinstance(event, types.AnswerToken):
                    with self._text_lock:
                        self.text += "" if self.done else event.text
                if self.done:
                    return  # stopped, and nobody is waiting any more
                self._keep(event)
        except errors.Error as error:
            self._fail(error.message)
        except Exception:
            log.exception("An answer failed")
            self._fail(N_("The answer failed. Ask again; if it persists, check the log."))
        finally:
            self._reserved.close()
            self._ended.set()

    def _keep(self, event: types.AnswerEvent) -> None:
        """Save what an event adds to the answer."""
        if isinstance(event, types.AnswerResponse):
            self._save(event)
        elif isinstance(event, types.AnswerStage):
            if event.so_far is not None:
                self._save(event.so_far)
                self.so_far = event.so_far
            self.stage = event
        elif time.monotonic() >= self._saved_at + SAVE_SECONDS:
            self._save(self.text)

    def _save(self, answer: types.AnswerResponse | str) -> None:
        if self._saved is None:
            text, response = (answer, None) if isinstance(answer, str) else (answer.answer, answer)
            turn = self._engine.store.conversations.append(
                self._conversation_id, "assistant", text, response, beside=self.beside
            )
            self._saved = turn.id
        else:
            self._engine.store.conversations.replace_answer(self._conversation_id, self._saved, answer)
        self._saved_at = time.monotonic()

    def _fail(self, message: str) -> None:
        """Report an error, unless the answer is saved: it stays with the verdicts that it has."""
        if self.so_far is None:
            self.error = message
            self.beside = self._saved or self.beside


def start(
    engine: RAGEngine,
    conversation_id: uuid.UUID,
    make_request: Callable[[], types.AnswerRequest],
    beside: uuid.UUID | None = None,
) -> None:
    """Write the answer to the request that `make_request` makes, once no other answer is written in the chat.

    Raises ConflictError if one is: in another window, or by another process.
    """
    key = (session.user_id() or "", conversation_id)
    with contextlib.ExitStack() as reserved:
        if not reserved.enter_context(engine.store.conversations.lock(conversation_id)):
            raise errors.ConflictError(_("An answer is being written in this chat. Wait until it is finished."))
        request = make_request()
        reserved.callback(_running.pop, key, None)
        answer = PendingAnswer(engine, conversation_id, request, beside, reserved.pop_all())
    _running[key] = _shown()[conversation_id] = answer
    threading.Thread(target=answer.write, daemon=True).start()


def of(conversation_id: uuid.UUID) -> PendingAnswer | None:
    """Return the pending answer of a chat, also if the user started it in another window or before a reload."""
    running = _running.get((session.user_id() or "", conversation_id))
    if running:
        _shown().setdefault(conversation_id, running)
    return _shown().get(conversation_id)


def forget(conversation_id: uuid.UUID) -> None:
    """End showing the pending answer of a chat."""
    _shown().pop(conversation_id, None)


def _shown() -> dict[uuid.UUID, PendingAnswer]:
    """Return the pending answers that this session shows, by conversation."""
    answers: dict[uuid.UUID, PendingAnswer] = st.session_state.setdefault("pending", {})
    return answers

"""The conversation of the chat page: its turns, answers as they are written, and the next question."""

import html
import itertools
import uuid
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from rag.contract import NOTHING_LATER
from rag.types import ChatMessage, LaterPlace
from rag.ui import session
from rag.ui.admin.settings import offer_models
from rag.ui.chat import export
from rag.ui.chat.answer import marks, show_answer
from rag.ui.chat.conversation_list import ASKED_ELSEWHERE, conversation_id
from rag.ui.chat.document_scope import NARROWED
from rag.ui.chat.pending_answers import PendingAnswer, pending_answers
from rag.ui.chat.turn_actions import answer_actions, question_actions
from rag.ui.formatting import plain, render
from rag.ui.language import _
from rag.ui.library import document_metadata
from rag.ui.page_frame import door, empty
from rag.ui.translated_messages import said
from rag.ui.viewer.citation_viewer import Viewing, follow, look_at

TITLE_CHARS = 60
"""Of a question that a conversation is called by."""
POLL_SECONDS = 0.25
CACHED_CHATS = 64
"""Of which it is remembered what became of their quotes in later versions."""
SUGGESTED_SECONDS = 60
"""A document that is being read may say more later."""


@st.fragment(key="chat")
def transcript(document_ids: tuple[uuid.UUID, ...], first: uuid.UUID) -> None:
    """The conversation and the field for the next question; `first` is the document to begin with."""
    with door():
        current = conversation_id()
        messages = session.engine().chats.messages(current) if current else []
        pending = pending_answers().get(current) if current else None
        shown = _before(messages, pending)
        with st.container(key="transcript", height=400, border=False, autoscroll=not _is_new(messages)):
            suggestion = None if messages else st.session_state.pop(ASKED_ELSEWHERE, None) or _invitation(first)
            later = later_places(shown)
            is_asked = pending is None or pending.error is not None
            for message in shown:
                _show_message(message, later.get(message.id, NOTHING_LATER), document_ids, is_asked=is_asked)
            if messages and not pending:
                suggestion = _show_end(messages, document_ids)
                offer_models()
                export.offer_conversation(current, messages)
            if current and pending:
                _show_failure(current, pending) if pending.error else _show_pending()
        question = st.chat_input(
            _("Ask about your documents"), max_chars=4000, disabled=bool(pending and not pending.done)
        )
        question = question or suggestion
        if question and question.strip():
            _ask(question.strip(), document_ids=document_ids)


def _before(messages: Sequence[ChatMessage], pending: PendingAnswer | None) -> Sequence[ChatMessage]:
    """The turns before an answer that is being made anew; all where none is, or where that failed."""
    beside = pending.beside if pending and not pending.error else None
    return list(itertools.takewhile(lambda message: message.id != beside, messages))


def _is_new(messages: Sequence[ChatMessage]) -> bool:
    """Whether the last answer is the one being looked at: it is read from its beginning, not from its end."""
    viewing: Viewing | None = st.session_state.get("viewing")
    return bool(messages and viewing and viewing.message_id == messages[-1].id)


def later_places(messages: Sequence[ChatMessage]) -> Mapping[uuid.UUID, Mapping[int, LaterPlace]]:
    """What became of quotes of older versions; looked up once for each version that took over."""
    engine = session.engine()
    cited = {hit.passage.document_id for turn in messages if turn.response for hit in turn.response.contexts}
    latest = engine.versions.latest(cited)
    if not latest:
        return {}
    versions = tuple(sorted((old, new.id, new.indexed_at) for old, (_, new) in latest.items()))
    return _later_places(engine.user_id, tuple(turn.id for turn in messages), versions, messages)


@st.cache_data(max_entries=CACHED_CHATS, show_spinner=False)
def _later_places(
    user_id: str, turns: tuple[uuid.UUID, ...], versions: tuple[object, ...], _messages: Sequence[ChatMessage]
) -> Mapping[uuid.UUID, Mapping[int, LaterPlace]]:
    return session.engine().answers.later_places(_messages)


def _show_message(
    message: ChatMessage, later: Mapping[int, LaterPlace], document_ids: tuple[uuid.UUID, ...], *, is_asked: bool
) -> None:
    """A turn and, while nothing is being written (`is_asked`), what can be done with it."""
    if message.role == "user":
        with st.container(key=f"question-{message.id}"):
            st.text(message.content)
        if is_asked:
            question_actions(message, partial(_ask, document_ids=document_ids))
    elif message.response is not None:
        viewing: Viewing | None = st.session_state.get("viewing")
        lit = None
        if viewing and viewing.message_id == message.id and viewing.active is not None:
            lit = viewing.numbers[viewing.active]
        if message.response.question:
            st.caption(_("Understood as: {question}").format(question=plain(message.response.question)))
        show_answer(
            message.response,
            message.id,
            lit=lit,
            on_cite=partial(cite, message),
            later=later,
            on_later=follow,
        )
        if is_asked:
            answer_actions(message, partial(_ask_again, document_ids))


def _show_end(messages: Sequence[ChatMessage], document_ids: tuple[uuid.UUID, ...]) -> str | None:
    """What can be asked next, if that was chosen; after a question without an answer, the same again."""
    last = messages[-1]
    if last.role == "user":
        st.caption(_("This question has no answer."))
        if st.button(_("Ask again"), icon=":material/refresh:"):
            _write(last.conversation_id, last.content, document_ids, before=last.id)
        return None
    follow_ups = last.response.follow_ups if last.response else ()
    with st.container(key=f"next-{last.id}", gap="xsmall"):
        for number, question in enumerate(follow_ups):
            if st.button(plain(question), key=f"next-{last.id}-{number}"):
                return question
    return None


def cite(message: ChatMessage, number: int, click: int) -> None:
    """Light a citation, or a nearest passage, that was clicked."""
    look_at(message, number, click)
    st.rerun("viewer")


def _ask(question: str, beside: uuid.UUID | None = None, *, document_ids: tuple[uuid.UUID, ...]) -> None:
    """Ask the next question, or another in the place of the one `beside` it."""
    engine, current = session.engine(), conversation_id()
    if current is None:
        current = engine.chats.start(question[:TITLE_CHARS], document_ids=document_ids).id
        st.query_params["chat"] = str(current)
    turn = engine.chats.append(current, "user", question, beside=beside)
    _write(current, question, document_ids, before=turn.id)


def _ask_again(document_ids: tuple[uuid.UUID, ...], message: ChatMessage, model: str | None, top_k: int | None) -> None:
    """Have an answer made anew, in the place of the one there is, which is kept."""
    turns = session.engine().chats.messages(message.conversation_id)
    asked = [turn for turn in itertools.takewhile(lambda turn: turn.id != message.id, turns) if turn.role == "user"][-1]
    _write(
        message.conversation_id,
        asked.content,
        document_ids,
        before=asked.id,
        beside=message.id,
        model=model,
        top_k=top_k,
    )


def _write(
    conversation: uuid.UUID,
    question: str,
    document_ids: tuple[uuid.UUID, ...],
    *,
    before: uuid.UUID,
    beside: uuid.UUID | None = None,
    model: str | None = None,
    top_k: int | None = None,
) -> None:
    """Have the answer written to a question that is kept as the turn `before` which the turns lie that it follows."""
    engine = session.engine()
    request = engine.chats.request(
        conversation,
        question,
        document_ids,
        filters=document_metadata.kept(NARROWED),
        before=before,
        model=model,
        top_k=top_k,
    )
    if beside:  # who asks the same again wants to see it made
        request = request.model_copy(update={"options": request.options.model_copy(update={"use_cache": False})})
    pending_answers()[conversation] = PendingAnswer(engine, conversation, request, beside)
    st.rerun()


@st.fragment(run_every=POLL_SECONDS)
def _show_pending() -> None:
    """The answer so far; when it is complete, the page shows the kept one with its first citation lit."""
    current = conversation_id()
    pending = pending_answers().get(current) if current else None
    if current is None or pending is None:
        st.rerun()
    if pending.done:
        if not pending.error:
            _show_finished(current)
        st.rerun()
    said_so_far = render(pending.text) if pending.text else html.escape(_("Reading …"))
    st.html(f'<div class="pending">{said_so_far}</div>')
    st.button(
        _("Stopping …") if pending.stopping else _("Stop"),
        key="stop",
        icon=":material/stop_circle:",
        disabled=pending.stopping,
        on_click=_stop,
        args=(current,),
    )


def _stop(conversation: uuid.UUID) -> None:
    """Have no more written. What was said stays; where nothing was, nothing is waited for."""
    pending = pending_answers().get(conversation)
    if pending and not pending.stop():
        del pending_answers()[conversation]


def _show_finished(conversation: uuid.UUID) -> None:
    """The answer is kept now: show that one, and light its first citation."""
    del pending_answers()[conversation]
    (last,) = session.engine().chats.messages(conversation, last=1)
    if last.response and marks(last.response):
        look_at(last, 0)


def _show_failure(conversation: uuid.UUID, pending: PendingAnswer) -> None:
    st.error(plain(said(pending.error or "")), icon=":material/error:")
    if st.button(_("Ask again"), icon=":material/refresh:"):
        pending_answers()[conversation] = PendingAnswer(session.engine(), conversation, pending.request, pending.beside)
        st.rerun()


def _invitation(document_id: uuid.UUID) -> str | None:
    """What to do here, with questions to begin with; gives the one that was chosen."""
    text = _("Every sentence of an answer cites its source. Click a citation to see the words on the page.")
    with empty("forum", _("Ask your documents"), text):
        for number, question in enumerate(_suggestions(session.engine().user_id, document_id)):
            if st.button(plain(question), key=f"topic-{number}-{document_id}"):
                return question
    return None


@st.cache_data(max_entries=CACHED_CHATS, show_spinner=False, ttl=SUGGESTED_SECONDS)
def _suggestions(user_id: str, document_id: uuid.UUID) -> tuple[str, ...]:
    """`user_id` keeps the users apart in the cache."""
    return session.engine().questions.suggestions(document_id)

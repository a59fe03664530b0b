"""The conversation of the chat page: turns, streamed answers and the next question."""

import html
import itertools
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from rag import errors, types
from rag.answering.text.markup import CITATION_MARK
from rag.contract import NOTHING_LATER
from rag.ui import session
from rag.ui.admin.settings import suggest_model
from rag.ui.chat import export, pending_answers
from rag.ui.chat.answer import marks, show_answer
from rag.ui.chat.conversation_list import conversation_id, open_conversation
from rag.ui.chat.document_scope import SCOPE
from rag.ui.chat.pending_answers import PendingAnswer
from rag.ui.chat.suggestions import beginning
from rag.ui.chat.turn_actions import answer_actions, question_actions, reading_choice
from rag.ui.components import focus_field
from rag.ui.formatting import decimal, escape, render
from rag.ui.language import _
from rag.ui.page_frame import empty_state, error_boundary
from rag.ui.translated_messages import translate_error, translate_message
from rag.ui.viewer.citation_viewer import Viewing, highlighted, show_citation, show_later_place, update_marks

QUESTION = "question"
"""Session key of the question field. It has no `max_chars`: the browser would drop a longer text without a word."""
SENT = "sent-question"
"""Session key of a question from when it is sent until it is asked, so that no rerun loses it."""
REFUSED = "refused-question"
"""Session key of a question that could not be asked, and the reason."""
TITLE_CHARS = 60
"""Length of the part of a question that titles a conversation."""
MAX_NAMED = 4
"""Maximum number of documents to list as asked."""

POLL_SECONDS = 0.25
SLOW_POLL_SECONDS = 1.0
SLOW_SECONDS = 3.0
"""Shorter times are not announced."""
JUDGED = "judged-answer"
"""Session key of the pending answer that is shown while it is judged."""
CACHED_CHATS = 64
"""Maximum number of chats in the cache of later places."""


@st.fragment(key="chat")
def transcript(document_ids: tuple[uuid.UUID, ...], first: uuid.UUID, *, is_alone: bool, refusal: str | None) -> None:
    """Show the conversation and the question field; a `refusal` says why nothing can be asked now.

    `first` is the document for the overview and suggested questions, which `is_alone` in the scope or one of several.
    """
    with error_boundary():
        current = conversation_id()
        pending = pending_answers.of(current) if current else None  # before the turns: it may be saved meanwhile
        try:
            messages = session.engine().chats.messages(current) if current else []
        except errors.NotFoundError:
            # A question sent to a chat that is gone goes into the field of the next one.
            if question := st.session_state.pop(SENT, None):
                st.session_state[REFUSED] = (question, _("There is no such chat"))
            state = empty_state("delete", _("There is no such chat"), _("It was deleted, or its address is wrong."))
            state.button(_("New chat"), key="new-instead", on_click=open_conversation, args=(None,))
            return
        is_written_elsewhere = False
        if current and messages and not pending and messages[-1].response is None:
            is_written_elsewhere = session.engine().store.conversations.is_locked(current)
            messages = session.engine().chats.messages(current)
        is_written = is_written_elsewhere or bool(pending and not pending.error)
        turns_shown = _turns_before(messages, pending, is_written=is_written)
        viewing: Viewing | None = st.session_state.get("viewing")
        is_last_shown = bool(messages and viewing and viewing.message_id == messages[-1].id)
        # An answer whose words the viewer shows is read from its beginning.
        turns = st.container(key="transcript", height=400, border=False, autoscroll=not is_last_shown)
        _question_field(document_ids, refusal, disabled=bool(refusal) or is_written)
        with turns:
            is_begun = bool(messages or refusal)
            suggestion = None if is_begun else beginning(document_ids, first, is_alone=is_alone)
            later = later_places(turns_shown)
            judged = turns_shown[-1].id if pending and pending.so_far else None
            for message in turns_shown:
                _show_message(
                    message,
                    later.get(message.id, NOTHING_LATER),
                    document_ids,
                    has_actions=not refusal and not is_written,
                    is_provisional=message.id == judged,
                )
            if refusal:
                st.caption(refusal)
            if messages and not pending and not is_written:
                suggestion = None if refusal else _follow_ups(messages, document_ids)
                suggest_model()
                if current and any(message.response for message in messages):
                    export.export_menu(current)
            if current and pending and pending.error:
                st.error(escape(translate_message(pending.error)), icon=":material/error:")
                if st.button(_("Ask again"), icon=":material/refresh:"):
                    request = pending.request
                    pending_answers.start(session.engine(), current, lambda: request, pending.beside)
                    st.rerun()
            elif pending:
                _show_pending()
            elif is_written_elsewhere:
                _show_written_elsewhere()
        if not messages:
            focus_field('[data-testid="stChatInputTextArea"]')
        if suggestion:
            _ask(suggestion, document_ids=document_ids)


def _question_field(document_ids: tuple[uuid.UUID, ...], refusal: str | None, *, disabled: bool) -> None:
    """Show the question field and ask what was sent; what cannot be asked is put back, with the reason above it."""
    if refused := st.session_state.pop(REFUSED, None):
        st.session_state[QUESTION], reason = refused
        st.container(key="refused").error(escape(reason), icon=":material/error:")
    # The question is kept at once: a disabled field would drop it.
    st.chat_input(
        _("Ask about your documents"),
        key=QUESTION,
        disabled=disabled,
        on_submit=lambda: st.session_state.update({SENT: st.session_state[QUESTION]}),
    )
    question = st.session_state.pop(SENT, None)
    if not question or not question.strip():
        return
    try:
        if refusal:  # what is ticked has changed since it was sent
            raise errors.ValidationError(refusal)
        _ask(question.strip(), document_ids=document_ids)
    except errors.Error as error:
        st.session_state[REFUSED] = (question, translate_error(error))
        st.rerun()


def _turns_before(
    messages: Sequence[types.ChatMessage], pending: PendingAnswer | None, *, is_written: bool
) -> Sequence[types.ChatMessage]:
    """Return the turns before an answer that is being regenerated, and without what is saved of one being written."""
    if is_written and messages and messages[-1].is_unfinished:
        return messages[:-1]
    beside = pending.beside if pending and not pending.error else None
    return list(itertools.takewhile(lambda message: message.id != beside, messages))


def later_places(messages: Sequence[types.ChatMessage]) -> Mapping[uuid.UUID, Mapping[int, types.LaterPlace]]:
    """Return where quotes of older versions are now; computed once per new version."""
    engine = session.engine()
    cited = {hit.passage.document_id for turn in messages if turn.response for hit in turn.response.contexts}
    latest = engine.versions.latest(cited)
    if not latest:
        return {}
    versions = tuple(sorted((old, new.id, new.indexed_at) for old, (_, new) in latest.items()))
    return _later_places(engine.user_id, tuple(turn.id for turn in messages), versions, messages)


@st.cache_data(max_entries=CACHED_CHATS, show_spinner=False)
def _later_places(
    user_id: str, turns: tuple[uuid.UUID, ...], versions: tuple[object, ...], _messages: Sequence[types.ChatMessage]
) -> Mapping[uuid.UUID, Mapping[int, types.LaterPlace]]:
    return session.engine().answers.later_places(_messages)


def _show_message(
    message: types.ChatMessage,
    later: Mapping[int, types.LaterPlace],
    document_ids: tuple[uuid.UUID, ...],
    *,
    has_actions: bool,
    is_provisional: bool,
) -> None:
    """Show a turn, of an answer that is being judged with provisional verdicts."""
    if message.role == "user":
        st.container(key=f"question-{message.id}").text(message.content)
        if has_actions:
            question_actions(message, partial(_ask, document_ids=document_ids))
    elif message.response is not None:
        _show_understanding(message, document_ids if has_actions else None)
        show_answer(
            message.response,
            message.id,
            lit=highlighted(message.id),
            on_cite=partial(cite, message),
            later=later,
            on_later=show_later_place,
            is_provisional=is_provisional,
        )
        if has_actions:
            again = partial(_ask_again, document_ids)
            reading_choice(message, again)
            answer_actions(message, again)
    else:
        st.container(key=f"unfinished-{message.id}").html(render(CITATION_MARK.sub("", message.content)))
        st.caption(_("Stopped before the end: this is what was written until then. It is not checked."))
        if has_actions:
            answer_actions(message, partial(_ask_again, document_ids))


def _show_understanding(message: types.ChatMessage, document_ids: tuple[uuid.UUID, ...] | None) -> None:
    """Show how a question was understood, and offer to ask it as it is written; not without `document_ids`."""
    response = message.response
    if response is None or not (response.question or response.retrieval.named or response.retrieval.searches):
        return
    named = [*response.retrieval.named.values()]
    reasons = []
    if response.retrieval.searches:
        if named:
            reasons.append(_("The model chose these for the question."))
        searches = "; ".join(map(escape, dict.fromkeys(response.retrieval.searches)))
        reasons.append(_("Searched for: {searches}", searches=searches))
    elif named:
        reasons.append(_("The question names what these are about."))
    is_of_some = response.provenance and response.provenance.retrieval.filters.document_ids
    sources = _("all ticked sources") if is_of_some else _("all sources")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if response.question:
            st.caption(_("Understood as: {question}", question=escape(response.question)))
        if reasons:
            shown = ", ".join(map(escape, named[:MAX_NAMED])) + (" …" if len(named) > MAX_NAMED else "")
            st.caption(_("Asked: {documents}", documents=shown or sources), help=" ".join(reasons))
        if document_ids is not None and st.button(
            _("Ask as written"),
            key=f"as-written-{message.id}",
            type="tertiary",
            icon=":material/close:",
            help=_("Ask all documents the question as it is written, without the conversation before it."),
        ):
            _ask_again(document_ids, message, None, None, as_written=True)


def _follow_ups(messages: Sequence[types.ChatMessage], document_ids: tuple[uuid.UUID, ...]) -> str | None:
    """Show follow-up questions and return the chosen one; offer to ask again if the last question has no answer."""
    last = messages[-1]
    if last.role == "user":
        st.caption(_("This question has no answer."))
        if st.button(_("Ask again"), icon=":material/refresh:"):
            _write(last.conversation_id, last.content, document_ids, turn=lambda: last.id)
        return None
    follow_ups = last.response.follow_ups if last.response else ()
    with st.container(key=f"next-{last.id}", gap="xsmall"):
        for number, question in enumerate(follow_ups):
            if st.button(escape(question), key=f"next-{last.id}-{number}"):
                return question
    return None


def cite(message: types.ChatMessage, number: int, click: int) -> None:
    """Highlight the citation or nearest passage that was clicked."""
    show_citation(message, number, click)
    st.rerun("viewer")


def _ask(question: str, beside: uuid.UUID | None = None, *, document_ids: tuple[uuid.UUID, ...]) -> None:
    """Ask a question, or a variant of the question `beside`. Raises ValidationError if it is too long."""
    if len(question) > types.MAX_QUESTION_CHARS:
        raise errors.ValidationError(
            _(
                "The question has {count} characters, but at most {most} are possible. Shorten it, or add the text to "
                "the library and ask about it.",
                count=decimal(len(question)),
                most=decimal(types.MAX_QUESTION_CHARS),
            )
        )
    engine, current = session.engine(), conversation_id()
    if current is None:
        choice = st.session_state[SCOPE]
        current = engine.chats.start(question[:TITLE_CHARS], document_ids=document_ids, sources=choice).id
    _write(
        current,
        question,
        document_ids,
        turn=lambda: engine.store.conversations.append(current, "user", question, beside=beside).id,
    )


def _ask_again(
    ticked: tuple[uuid.UUID, ...],
    message: types.ChatMessage,
    model: str | None,
    top_k: int | None,
    *,
    as_written: bool = False,
    reading: types.ReadingChoice = "ask",
    document_ids: Sequence[uuid.UUID] = (),
) -> None:
    """Regenerate an answer from `document_ids` or else what is ticked; the existing one stays as an earlier version."""
    turns = session.engine().chats.messages(message.conversation_id)
    before = itertools.takewhile(lambda turn: turn.id != message.id, turns)
    question = [turn for turn in before if turn.role == "user"][-1]
    _write(
        message.conversation_id,
        question.content,
        tuple(document_ids) or ticked,
        turn=lambda: question.id,
        beside=message.id,
        model=model,
        top_k=top_k,
        as_written=as_written,
        reading=reading,
    )


def _write(
    conversation: uuid.UUID,
    question: str,
    document_ids: tuple[uuid.UUID, ...],
    *,
    turn: Callable[[], uuid.UUID],
    beside: uuid.UUID | None = None,
    model: str | None = None,
    top_k: int | None = None,
    as_written: bool = False,
    reading: types.ReadingChoice = "ask",
) -> None:
    """Start writing the answer to a question, unless one is being written in the chat.

    `turn` gives the saved question, or saves it; only turns before it are the answer's context.
    """
    engine = session.engine()

    def make_request() -> types.AnswerRequest:
        request = engine.chats.request(
            conversation,
            question,
            document_ids,
            before=turn(),
            model=model,
            top_k=top_k,
        )
        if as_written:  # neither completed from the conversation nor restricted to the documents that it names
            options = request.retrieval.model_copy(update={"routing": False})
            request = request.model_copy(update={"history": (), "retrieval": options})
        # asking again must not return the cached answer; of all pages, only those are read again that failed
        use_cache = beside is None or reading == "whole"
        update = {"use_cache": use_cache, "reading": reading}
        return request.model_copy(update={"options": request.options.model_copy(update=update)})

    pending_answers.start(engine, conversation, make_request, beside)
    st.query_params["chat"] = str(conversation)
    st.rerun()


@st.fragment(run_every=POLL_SECONDS)
def _show_pending() -> None:
    """Show the text so far, then rerun to show the saved answer, first while it is judged."""
    current = conversation_id()
    pending = pending_answers.of(current) if current else None
    if current is None or pending is None:
        st.rerun()
    if pending.done:
        if not pending.error:
            _finish(current, pending)
        st.rerun()
    if pending.so_far and st.session_state.get(JUDGED) is not pending:
        st.session_state[JUDGED] = pending
        _show_first_citation(current)
        st.rerun()
    if pending.so_far:
        st.caption(_("A model judges what is said in other words …"))
    else:
        stage, meanwhile = pending.stage, _("Reading …")
        if stage and stage.parts:
            meanwhile = _(
                "Reading … part {done} of {total}", done=decimal(stage.parts_read), total=decimal(stage.parts)
            )
        elif stage and stage.seconds is not None and stage.seconds >= SLOW_SECONDS:
            meanwhile = _("Reading … about {seconds} s on this machine", seconds=decimal(stage.seconds))
        _show_text_so_far(pending.text, meanwhile)
        if stage and stage.name == "checking":
            st.caption(_("Checking the sentences …"))
    st.button(
        _("Stopping …") if pending.stopping else _("Stop"),
        key="stop",
        icon=":material/stop_circle:",
        disabled=pending.stopping,
        on_click=_stop,
        args=(current,),
    )


@st.fragment(run_every=SLOW_POLL_SECONDS)
def _show_written_elsewhere() -> None:
    """Show what is saved of an answer that another process of this installation writes, until it is complete."""
    current = conversation_id()
    if current is None or not session.engine().store.conversations.is_locked(current):
        st.rerun()
    (last,) = session.engine().chats.messages(current, last=1)
    _show_text_so_far(last.content if last.is_unfinished else "", _("Reading …"))


def _show_text_so_far(text: str, meanwhile: str) -> None:
    st.html(f'<div class="pending">{render(text) if text else html.escape(meanwhile)}</div>')


def _stop(conversation: uuid.UUID) -> None:
    """Stop writing or judging. Text written so far is saved; without text, or if it is saved, nothing is waited for."""
    pending = pending_answers.of(conversation)
    if pending and not pending.stop():
        pending_answers.forget(conversation)


def _finish(conversation: uuid.UUID, pending: PendingAnswer) -> None:
    """Show the saved answer; one that was shown while it was judged stays where the reader is."""
    pending_answers.forget(conversation)
    if pending.so_far and st.session_state.get(JUDGED) is pending:
        (last,) = session.engine().chats.messages(conversation, last=1)
        update_marks(last, pending.so_far)
    else:
        _show_first_citation(conversation)


def _show_first_citation(conversation: uuid.UUID) -> None:
    """Highlight the first citation of the answer that was just saved."""
    (last,) = session.engine().chats.messages(conversation, last=1)
    if last.response and marks(last.response):
        show_citation(last, 0)

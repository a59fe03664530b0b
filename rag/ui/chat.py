"""The chat page: conversations, the scope of a question, answers as they are written, and the viewer beside them."""

import logging
import threading
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from rag import errors
from rag.contract import NOTHING_LATER
from rag.engine import RAGEngine
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.types import (
    AnswerRequest,
    AnswerToken,
    ChatMessage,
    Conversation,
    Document,
    Filters,
    LaterPlace,
    reading_of,
)
from rag.ui import organising, session
from rag.ui.answer import marks, show_answer
from rag.ui.frame import door, empty
from rag.ui.marked import offer_copy
from rag.ui.settings import offer_models
from rag.ui.text import plain, plural, render
from rag.ui.viewer import Mark, show_pdf

TITLE_CHARS = 60
"""Turns of the conversation that a question takes along."""
POLL_SECONDS = 0.25
CACHED_CHATS = 64
"""Of which it is remembered what became of their quotes in later versions."""
NARROWED = "scope-filter"
"""What the filters of the scope are kept by."""
FOLLOW_SECONDS = 2.0
MOST_UNFINISHED = 3
TOPICS = 3
TOPIC_CHARS = 60
TOPIC_CHUNKS = 60
"""How far into a document topics are looked for."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Viewing:
    """What the viewer shows: a document and, when they come from an answer, its marks there."""

    document_id: uuid.UUID
    marks: tuple[Mark, ...] = ()
    numbers: tuple[int, ...] = ()
    active: int | None = None
    message_id: uuid.UUID | None = None
    jump: int = 0


class PendingAnswer:
    """An answer being written in a thread of its own: it is kept even if the reader leaves the page meanwhile."""

    def __init__(self, engine: RAGEngine, conversation_id: uuid.UUID, request: AnswerRequest) -> None:
        self.request = request
        self.text = ""
        self.error: str | None = None
        self._thread = threading.Thread(target=self._write, args=(engine, conversation_id, request), daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether nothing more will come."""
        return not self._thread.is_alive()

    def _write(self, engine: RAGEngine, conversation_id: uuid.UUID, request: AnswerRequest) -> None:
        try:
            for event in engine.questions.stream(request):
                if isinstance(event, AnswerToken):
                    self.text += event.text
                else:
                    engine.chats.append(conversation_id, "assistant", event.answer, event)
        except errors.Error as error:
            self.error = error.message
        except Exception:
            log.exception("An answer failed")
            self.error = "The answer failed. Ask again; if it persists, look into the log."


# --- State of the session ---------------------------------------------------------------------------


def conversation_id() -> uuid.UUID | None:
    """The open conversation. It is part of the address, so that a reload and a bookmark come back to it."""
    try:
        return uuid.UUID(st.query_params["chat"])
    except (KeyError, ValueError):
        return None


def open_conversation(chosen: uuid.UUID | None, document_ids: tuple[uuid.UUID, ...] = ()) -> None:
    """Go to a conversation, or to a new one about `document_ids` (none: the whole library)."""
    st.session_state.pop("viewing", None)
    st.session_state["scope"] = [str(document_id) for document_id in document_ids]
    if chosen is None:
        st.query_params.clear()
    else:
        st.query_params["chat"] = str(chosen)


def _pending() -> dict[uuid.UUID, PendingAnswer]:
    pending: dict[uuid.UUID, PendingAnswer] = st.session_state.setdefault("pending", {})
    return pending


def _look_at(message: ChatMessage, number: int) -> None:
    """Light citation `number` of an answer."""
    if message.response is None:
        return
    found = marks(message.response)
    document_id = found[number][0]
    here = [(i, mark) for i, (document, mark) in enumerate(found) if document == document_id]
    before = st.session_state.get("viewing")
    st.session_state["viewing"] = Viewing(
        document_id=document_id,
        marks=tuple(mark for _, mark in here),
        numbers=tuple(i for i, _ in here),
        active=[i for i, _ in here].index(number),
        message_id=message.id,
        jump=before.jump + 1 if before else 1,
    )


# --- The sidebar ------------------------------------------------------------------------------------


def conversations() -> None:
    """The user's conversations, newest first: open, rename, delete, begin a new one."""
    engine, current = session.engine(), conversation_id()
    st.button("New chat", icon=":material/edit_square:", width="stretch", on_click=open_conversation, args=(None,))
    with st.container(key="conversations", gap=None):
        for conversation in engine.chats.list():
            _conversation(conversation, current=conversation.id == current)


def _conversation(conversation: Conversation, *, current: bool) -> None:
    with st.container(key=f"conversation-{conversation.id}", horizontal=True, gap=None, wrap=False):
        st.button(
            plain(conversation.title),
            key=f"open-{conversation.id}",
            type="secondary" if current else "tertiary",
            width="stretch",
            on_click=open_conversation,
            args=(conversation.id, conversation.document_ids),
        )
        actions = {"Rename": _rename, "Delete": _delete}
        choice = st.menu_button(":material/more_horiz:", list(actions), key=f"menu-{conversation.id}", type="tertiary")
    if choice:
        actions[choice](conversation.id, conversation.title)


@st.dialog("Rename chat")
def _rename(chosen: uuid.UUID, title: str) -> None:
    name = st.text_input("Title", title, max_chars=200)
    if st.button("Save", type="primary", disabled=not name.strip()):
        with door():
            session.engine().chats.rename(chosen, name.strip())
            st.rerun()


@st.dialog("Delete chat?")
def _delete(chosen: uuid.UUID, title: str) -> None:
    st.text(f"“{title}” and its answers will be gone. The documents stay.")
    if st.button("Delete", type="primary"):
        with door():
            session.engine().chats.delete(chosen)
            if chosen == conversation_id():
                open_conversation(None)
            st.rerun()


# --- The two columns --------------------------------------------------------------------------------


def ready_documents() -> list[Document]:
    """What can be asked about, if only by its words."""
    return [document for document in session.engine().documents.list(disabled=False) if document.searchable]


@st.fragment(run_every=FOLLOW_SECONDS)
def still_reading(document_ids: tuple[uuid.UUID, ...]) -> None:
    """Which of the documents that are asked are not read completely yet, and how far they are."""
    with door():
        readings = {
            document.name: reading_of(document)
            for document in ready_documents()
            if not document_ids or document.id in document_ids
        }
        unfinished = [f"{plain(name)}: {reading}" for name, reading in readings.items() if reading]
        for line in unfinished[:MOST_UNFINISHED]:
            st.caption(f":material/hourglass_top: {line}")
        if len(unfinished) > MOST_UNFINISHED:
            st.caption(f"and {plural(len(unfinished) - MOST_UNFINISHED, 'more document')} still being read")


def scope(documents: list[Document]) -> tuple[uuid.UUID, ...]:
    """Let the reader choose the documents a question goes to; empty means the whole library, or what is let through.

    Of many documents those are offered that tags and a saved filter let through, which hold for the question, too.
    """
    filters = organising.kept(NARROWED)
    if filters != Filters():
        let_through = session.engine().documents.list(filters=filters, disabled=False)
        documents = [document for document in documents if document in let_through]
    names = {str(document.id): document.name for document in documents}
    if "scope" not in st.session_state:
        st.session_state["scope"] = _kept_scope()
    st.session_state["scope"] = chosen = [chosen for chosen in st.session_state["scope"] if chosen in names]
    whole = organising.summary(filters) or "Whole library"
    label = plural(len(chosen), "document") if chosen else whole
    if len(chosen) == 1:
        label = names[chosen[0]]
    with st.popover(plain(label), icon=":material/filter_list:", key="scope-chooser"):
        organising.narrow(NARROWED)
        st.multiselect(
            "Ask only these documents",
            list(names),
            key="scope",
            format_func=lambda document_id: names[document_id],
            placeholder=whole,
            width=420,
        )
    return tuple(uuid.UUID(document_id) for document_id in st.session_state["scope"])


def _kept_scope() -> list[str]:
    """The documents that the open conversation began with, when it is opened by its address."""
    current = conversation_id()
    kept = [conversation for conversation in session.engine().chats.list() if conversation.id == current]
    return [str(document_id) for conversation in kept for document_id in conversation.document_ids]


@st.fragment(key="chat")
def transcript(document_ids: tuple[uuid.UUID, ...], first: uuid.UUID) -> None:
    """The conversation and the field for the next question; `first` is the document to begin with."""
    with door():
        current = conversation_id()
        messages = session.engine().chats.messages(current) if current else []
        with st.container(key="transcript", height=400, border=False, autoscroll=not _is_new(messages)):
            suggestion = None if messages else _invitation(first)
            later = later_places(messages)
            for message in messages:
                _show_message(message, later.get(message.id, NOTHING_LATER))
            pending = _pending().get(current) if current else None
            if messages and not pending:
                offer_models()
            if current and pending:
                _show_failure(current, pending) if pending.error else _show_pending()
        question = st.chat_input(
            "Ask about your documents", max_chars=4000, disabled=bool(pending and not pending.done)
        )
        question = question or suggestion
        if question and question.strip():
            _ask(question.strip(), document_ids, messages)


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
    return session.engine().chats.later_places(_messages)


def _show_message(message: ChatMessage, later: Mapping[int, LaterPlace]) -> None:
    if message.role == "user":
        with st.container(key=f"question-{message.id}"):
            st.text(message.content)
    elif message.response is not None:
        viewing: Viewing | None = st.session_state.get("viewing")
        lit = None
        if viewing and viewing.message_id == message.id and viewing.active is not None:
            lit = viewing.numbers[viewing.active]
        if message.response.question:
            st.caption(f"Understood as: {plain(message.response.question)}")
        show_answer(
            message.response,
            message.id,
            lit=lit,
            on_cite=partial(_cite, message),
            later=later,
            on_later=_follow,
        )
        offer_copy(message.response, message.id)


def _cite(message: ChatMessage, number: int) -> None:
    _look_at(message, number)
    st.rerun("viewer")


def _follow(place: LaterPlace) -> None:
    """Go to where a quote of an older version stands now."""
    before: Viewing | None = st.session_state.get("viewing")
    mark = Mark.of_later(place)
    st.session_state["viewing"] = Viewing(
        place.document_id, marks=(mark,), active=0, jump=before.jump + 1 if before else 1
    )
    st.rerun("viewer")


def _ask(question: str, document_ids: tuple[uuid.UUID, ...], earlier: Sequence[ChatMessage]) -> None:
    engine, current = session.engine(), conversation_id()
    if current is None:
        current = engine.chats.start(question[:TITLE_CHARS], document_ids=document_ids).id
        st.query_params["chat"] = str(current)
    request = engine.chats.request(current, question, document_ids, filters=organising.kept(NARROWED))
    engine.chats.append(current, "user", question)
    _pending()[current] = PendingAnswer(engine, current, request)
    st.rerun()


@st.fragment(run_every=POLL_SECONDS)
def _show_pending() -> None:
    """The answer so far; when it is complete, the page shows the kept one with its first citation lit."""
    current = conversation_id()
    pending = _pending().get(current) if current else None
    if current is None or pending is None:
        return
    if pending.done:
        if not pending.error:
            _show_finished(current)
        st.rerun()
    st.html(
        f'<div class="pending">{render(pending.text)}</div>' if pending.text else '<div class="pending">Reading …</div>'
    )


def _show_finished(conversation: uuid.UUID) -> None:
    """The answer is kept now: show that one, and light its first citation."""
    del _pending()[conversation]
    (last,) = session.engine().chats.messages(conversation, last=1)
    if last.response and marks(last.response):
        _look_at(last, 0)


def _show_failure(conversation: uuid.UUID, pending: PendingAnswer) -> None:
    st.error(plain(pending.error or ""), icon=":material/error:")
    if st.button("Ask again", icon=":material/refresh:"):
        _pending()[conversation] = PendingAnswer(session.engine(), conversation, pending.request)
        st.rerun()


def _invitation(document_id: uuid.UUID) -> str | None:
    """What to do here, with questions to begin with; gives the one that was chosen."""
    text = "Every sentence of an answer cites its source. Click a citation to see the words on the page."
    with empty("forum", "Ask your documents", text):
        for number, topic in enumerate(topics(document_id)):
            question = f"What is said about “{topic}”?"
            if st.button(plain(question), key=f"topic-{number}-{document_id}"):
                return question
    return None


def topics(document_id: uuid.UUID) -> list[str]:
    """A few headings from the beginning of a document that read like topics, in order."""
    chunks = session.engine().chunks.list(document_id, limit=TOPIC_CHUNKS)
    sections = dict.fromkeys((chunk.section or "").split(SECTION_SEPARATOR)[-1].strip() for chunk in chunks)
    found = [section for section in sections if _reads_like_a_topic(section)]
    return found[:: max(len(found) // TOPICS, 1)][:TOPICS]


def _reads_like_a_topic(heading: str) -> bool:
    words_only = all(char.isalpha() or char in " ,&-’'" for char in heading) and not heading.isupper()
    return words_only and len(heading.split()) > 1 and len(heading) <= TOPIC_CHARS


@st.fragment(key="viewer")
def viewer(first: uuid.UUID) -> None:
    """The document of the citation clicked last; before any, the document `first`."""
    with door():
        viewing: Viewing = st.session_state.get("viewing") or Viewing(first)
        document = session.engine().documents.get(viewing.document_id)
        if document.superseded_by is not None:
            st.caption(f"Version {document.version} of {plain(document.name)}, which a later one took the place of.")
        show_pdf(document, viewing.marks, viewing.active, jump=viewing.jump, on_pick=partial(_pick, viewing))


def _pick(viewing: Viewing, position: int) -> None:
    """Light another mark of the same answer, clicked on the page."""
    st.session_state["viewing"] = replace(viewing, active=position, jump=viewing.jump + 1)

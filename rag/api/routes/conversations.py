"""Conversations: chats that are kept."""

import uuid
from typing import Annotated, Literal

import pydantic
from fastapi import APIRouter, Path, Query, Request

from rag.api.authentication import Reader, Writer
from rag.contract import NOTHING_LATER, MessageBody
from rag.engine.evaluation.question_sets import FROM_CHATS
from rag.evaluation import Question
from rag.types import (
    DEFAULT_INDEX,
    SEGMENT,
    STORABLE,
    TEXT,
    Conversation,
    Filters,
    FoundConversation,
    IndexName,
    Model,
    QuestionSet,
    Rating,
    StorableText,
)

IndexField = Annotated[str, pydantic.Field(min_length=1, max_length=200, pattern=STORABLE)]
Title = Annotated[str, pydantic.Field(min_length=1, max_length=200, pattern=TEXT)]

router = APIRouter(tags=["conversations"])


class ConversationList(Model):
    """Chats over one index, the latest first."""

    items: tuple[Conversation, ...]


class MessageList(Model):
    """The turns of a chat in order."""

    items: tuple[MessageBody, ...]


class NewConversation(Model):
    """A chat over an index, or over some of its documents."""

    title: Title = "New chat"
    index_name: IndexName = DEFAULT_INDEX
    document_ids: tuple[uuid.UUID, ...] = pydantic.Field(default=(), max_length=1000)


class ConversationEdit(Model):
    """Another title; or whether it is kept at the top of the list."""

    title: Title | None = None
    pinned: bool | None = None


class FoundList(Model):
    """Chats that were found, each with the words around what was found."""

    items: tuple[FoundConversation, ...]


class MessageEdit(Model):
    """What is thought of an answer, null for nothing; or that the chat goes on from this turn (`shown`)."""

    rating: Rating | None = None
    reason: str | None = pydantic.Field(default=None, max_length=2000, pattern=TEXT)
    shown: Literal[True] | None = None


class NewCase(Model):
    """What is right about an answer, where it is not what it quotes."""

    name: Annotated[str, pydantic.Field(min_length=1, max_length=100, pattern=TEXT)] = FROM_CHATS
    pages: tuple[Annotated[int, pydantic.Field(ge=1, le=100_000)], ...] | None = pydantic.Field(
        default=None, max_length=100
    )
    answer: str | None = pydantic.Field(default=None, min_length=1, max_length=4000, pattern=TEXT)


class NewQuestion(Model):
    """The next question of a chat."""

    question: str = pydantic.Field(min_length=1, max_length=4000, pattern=TEXT)
    filters: Filters = pydantic.Field(default=Filters(), description="Of the chat's documents only these.")
    beside: uuid.UUID | None = pydantic.Field(default=None, description="The question whose place it takes.")
    top_k: int | None = pydantic.Field(default=None, ge=1, le=200, description="How many places to read.")
    model: StorableText | None = pydantic.Field(default=None, max_length=200, description="provider:model")


@router.get("/conversations")
def list_conversations(
    sender: Reader, index_name: Annotated[IndexField, Query(alias="indexName")] = DEFAULT_INDEX
) -> ConversationList:
    """Chats over an index."""
    return ConversationList(items=tuple(sender.engine.chats.list(index_name)))


@router.get("/conversations/search")
def search_conversations(
    sender: Reader,
    q: Annotated[
        str, Query(min_length=1, max_length=400, pattern=TEXT, description="Words, all of which it must have")
    ],
    index_name: Annotated[IndexField, Query(alias="indexName")] = DEFAULT_INDEX,
) -> FoundList:
    """Chats with these words in their title, or in a question or answer."""
    return FoundList(items=tuple(sender.engine.chats.search(q, index_name)))


@router.post("/conversations", status_code=201)
def start_conversation(sender: Writer, body: NewConversation) -> Conversation:
    """Begin a chat."""
    engine = sender.engine.access.index(body.index_name)
    for document_id in body.document_ids:
        engine.documents.get(document_id)
    return engine.chats.start(body.title, index_name=body.index_name, document_ids=body.document_ids)


@router.get("/conversations/{conversation_id}")
def get_conversation(sender: Reader, conversation_id: uuid.UUID) -> Conversation:
    """One chat."""
    return sender.engine.chats.get(conversation_id)


@router.patch("/conversations/{conversation_id}")
def edit_conversation(sender: Writer, conversation_id: uuid.UUID, body: ConversationEdit) -> Conversation:
    """Give a chat another title, or keep it at the top."""
    if body.title is not None:
        sender.engine.chats.rename(conversation_id, body.title)
    if body.pinned is not None:
        sender.engine.chats.pin(conversation_id, pinned=body.pinned)
    return sender.engine.chats.get(conversation_id)


@router.delete("/conversations/{conversation_id}", status_code=204)
def delete_conversation(sender: Writer, conversation_id: uuid.UUID) -> None:
    """Remove a chat and its turns."""
    sender.engine.chats.delete(conversation_id)


@router.get("/conversations/{conversation_id}/messages")
def list_messages(sender: Reader, conversation_id: uuid.UUID) -> MessageList:
    """A chat's turns, the assistant's with their citations, and what became of these in later versions."""
    messages = sender.engine.chats.messages(conversation_id)
    later = sender.engine.answers.later_places(messages)
    return MessageList(items=tuple(MessageBody.of(turn, later.get(turn.id, NOTHING_LATER)) for turn in messages))


@router.post("/conversations/{conversation_id}/messages", status_code=201)
def ask_in_conversation(request: Request, sender: Writer, conversation_id: uuid.UUID, body: NewQuestion) -> MessageBody:
    """Ask the next question; both turns are kept, and the answer's is returned."""
    with request.app.state.questions.take():
        turn = sender.engine.chats.ask(
            conversation_id,
            body.question,
            filters=body.filters,
            beside=body.beside,
            top_k=body.top_k,
            model=body.model,
        )
    if turn.response:
        request.state.usage = turn.response.usage
    return MessageBody.of(turn)


@router.patch("/conversations/{conversation_id}/messages/{message_id}", status_code=204)
def edit_message(sender: Writer, conversation_id: uuid.UUID, message_id: uuid.UUID, body: MessageEdit) -> None:
    """Say what is thought of an answer, or go on from this turn in the place of those beside it."""
    if body.shown:
        sender.engine.chats.choose(conversation_id, message_id)
    if body.model_fields_set & {"rating", "reason"}:
        sender.engine.answers.rate(conversation_id, message_id, body.rating, body.reason)


@router.post("/conversations/{conversation_id}/messages/{message_id}/case", status_code=201)
def keep_case(sender: Writer, conversation_id: uuid.UUID, message_id: uuid.UUID, body: NewCase) -> Question:
    """Make an answer's question one to measure with."""
    return sender.engine.question_sets.add_answered(
        conversation_id, message_id, name=body.name, pages=body.pages, answer=body.answer
    )


@router.get("/question-sets", tags=["jobs"])
def list_question_sets(sender: Reader) -> tuple[QuestionSet, ...]:
    """The sets of questions that are kept to measure with."""
    return tuple(sender.engine.question_sets.list())


@router.get("/question-sets/{name}", tags=["jobs"])
def get_question_set(
    sender: Reader, name: Annotated[str, Path(min_length=1, max_length=100, pattern=SEGMENT)]
) -> tuple[Question, ...]:
    """The questions of a set, as `POST /evaluations` takes them."""
    return sender.engine.question_sets.get(name)

"""Conversations: chats that are kept."""

import uuid
from typing import Annotated

import pydantic
from fastapi import APIRouter, Query, Request

from rag.api.access import Reader, Writer
from rag.contract import NOTHING_LATER, MessageBody
from rag.types import DEFAULT_INDEX, STORABLE, TEXT, Conversation, Filters, IndexName, Model

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


class NewTitle(Model):
    """Another title."""

    title: Title


class NewQuestion(Model):
    """The next question of a chat."""

    question: str = pydantic.Field(min_length=1, max_length=4000, pattern=TEXT)
    filters: Filters = pydantic.Field(default=Filters(), description="Of the chat's documents only these.")


@router.get("/conversations")
def list_conversations(
    sender: Reader, index_name: Annotated[IndexField, Query(alias="indexName")] = DEFAULT_INDEX
) -> ConversationList:
    """Chats over an index."""
    return ConversationList(items=tuple(sender.engine.chats.list(index_name)))


@router.post("/conversations", status_code=201)
def start_conversation(sender: Writer, body: NewConversation) -> Conversation:
    """Begin a chat."""
    engine = sender.engine.reach.index(body.index_name)
    for document_id in body.document_ids:
        engine.documents.get(document_id)
    return engine.chats.start(body.title, index_name=body.index_name, document_ids=body.document_ids)


@router.get("/conversations/{conversation_id}")
def get_conversation(sender: Reader, conversation_id: uuid.UUID) -> Conversation:
    """One chat."""
    return sender.engine.chats.get(conversation_id)


@router.patch("/conversations/{conversation_id}")
def rename_conversation(sender: Writer, conversation_id: uuid.UUID, body: NewTitle) -> Conversation:
    """Give a chat another title."""
    sender.engine.chats.rename(conversation_id, body.title)
    return sender.engine.chats.get(conversation_id)


@router.delete("/conversations/{conversation_id}", status_code=204)
def delete_conversation(sender: Writer, conversation_id: uuid.UUID) -> None:
    """Remove a chat and its turns."""
    sender.engine.chats.delete(conversation_id)


@router.get("/conversations/{conversation_id}/messages")
def list_messages(sender: Reader, conversation_id: uuid.UUID) -> MessageList:
    """A chat's turns, the assistant's with their citations, and what became of these in later versions."""
    messages = sender.engine.chats.messages(conversation_id)
    later = sender.engine.chats.later_places(messages)
    return MessageList(items=tuple(MessageBody.of(turn, later.get(turn.id, NOTHING_LATER)) for turn in messages))


@router.post("/conversations/{conversation_id}/messages", status_code=201)
def ask_in_conversation(request: Request, sender: Writer, conversation_id: uuid.UUID, body: NewQuestion) -> MessageBody:
    """Ask the next question; both turns are kept, and the answer's is returned."""
    with request.app.state.questions.take():
        turn = sender.engine.chats.ask(conversation_id, body.question, filters=body.filters)
    if turn.response:
        request.state.usage = turn.response.usage
    return MessageBody.of(turn)

"""Routes for conversations."""

import uuid
from typing import Annotated, Literal

import pydantic
from fastapi import APIRouter, Query, Request

from rag import types
from rag.api.authentication import Reader, Writer
from rag.api.responses import IndexName, Items, listed
from rag.contract import NOTHING_LATER, MessageBody

router = APIRouter(tags=["conversations"])


class NewConversation(types.Model):
    """A chat about an index, or about some of its documents."""

    title: types.ConversationTitle = "New chat"
    index_name: types.IndexName = types.DEFAULT_INDEX
    document_ids: tuple[uuid.UUID, ...] = pydantic.Field(default=(), max_length=1000)


class MessageEdit(types.Feedback):
    """A rating of an answer, null to remove it; `shown` continues the chat from this turn."""

    shown: Literal[True] | None = None


class NewQuestion(types.Model):
    """The next question of a chat."""

    question: types.QuestionText
    filters: types.Filters = pydantic.Field(default=types.Filters(), description="Only these of the chat's documents.")
    beside: uuid.UUID | None = pydantic.Field(default=None, description="The question that it replaces.")
    top_k: int | None = pydantic.Field(default=None, ge=1, le=200, description="How many passages to read.")
    model: types.StorableText | None = pydantic.Field(default=None, max_length=200, description="provider:model")


@router.get("/conversations")
def list_conversations(sender: Reader, index_name: IndexName = types.DEFAULT_INDEX) -> Items[types.Conversation]:
    """List the chats about an index."""
    return listed(sender.engine.chats.list(index_name))


@router.get("/conversations/search")
def search_conversations(
    sender: Reader,
    q: Annotated[
        str, Query(min_length=1, max_length=400, pattern=types.TEXT, description="Words, all of which must occur")
    ],
    index_name: IndexName = types.DEFAULT_INDEX,
) -> Items[types.FoundConversation]:
    """Find chats with these words in their title, or in a question or answer."""
    return listed(sender.engine.chats.search(q, index_name))


@router.post("/conversations", status_code=201)
def start_conversation(sender: Writer, body: NewConversation) -> types.Conversation:
    """Start a chat."""
    engine = sender.engine.for_index(body.index_name)
    for document_id in body.document_ids:
        engine.documents.get(document_id)
    return engine.chats.start(body.title, index_name=body.index_name, document_ids=body.document_ids)


@router.get("/conversations/{conversation_id}")
def get_conversation(sender: Reader, conversation_id: uuid.UUID) -> types.Conversation:
    """Get a chat."""
    return sender.engine.chats.get(conversation_id)


@router.patch("/conversations/{conversation_id}")
def edit_conversation(sender: Writer, conversation_id: uuid.UUID, body: types.ConversationEdit) -> types.Conversation:
    """Rename a chat, or pin it to the top."""
    sender.engine.chats.update(conversation_id, title=body.title, pinned=body.pinned)
    return sender.engine.chats.get(conversation_id)


@router.delete("/conversations/{conversation_id}", status_code=204)
def delete_conversation(sender: Writer, conversation_id: uuid.UUID) -> None:
    """Delete a chat and its turns."""
    sender.engine.store.conversations.delete(conversation_id)


@router.get("/conversations/{conversation_id}/messages")
def list_messages(sender: Reader, conversation_id: uuid.UUID) -> Items[MessageBody]:
    """List a chat's turns, with citations and their state in later versions of the documents."""
    messages = sender.engine.chats.messages(conversation_id)
    later = sender.engine.answers.later_places(messages)
    return listed(MessageBody.of(turn, later.get(turn.id, NOTHING_LATER)) for turn in messages)


@router.post("/conversations/{conversation_id}/messages", status_code=201)
def ask_in_conversation(request: Request, sender: Writer, conversation_id: uuid.UUID, body: NewQuestion) -> MessageBody:
    """Ask the next question; both turns are stored, and the answer's is returned."""
    with request.app.state.questions.acquire():
        turn = sender.engine.chats.ask(
            conversation_id, body.question, filters=body.filters, beside=body.beside, top_k=body.top_k, model=body.model
        )
    if turn.response:
        request.state.usage = turn.response.usage
    return MessageBody.of(turn)


@router.patch("/conversations/{conversation_id}/messages/{message_id}", status_code=204)
def edit_message(sender: Writer, conversation_id: uuid.UUID, message_id: uuid.UUID, body: MessageEdit) -> None:
    """Rate an answer, or continue the chat from this turn instead of its alternatives."""
    if body.shown:
        sender.engine.store.conversations.choose(conversation_id, message_id)
    if body.model_fields_set & {"rating", "reason"}:
        sender.engine.answers.rate(conversation_id, message_id, body.rating, body.reason)

"""Kept answers: taken along, asked again, and shown to others."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from rag.api.authentication import Reader, Writer
from rag.api.downloads import attachment
from rag.contract import AgainBody, MessageBody
from rag.export import FORMATS, ExportFormat
from rag.types import AnswerLink, LinkRequest, Model, SharedAnswer

router = APIRouter(tags=["conversations"])

PDF = "application/pdf"
FILES: dict[str, dict[str, str]] = {kind.mime_type.partition(";")[0]: {} for kind in FORMATS.values()}


class LinkList(Model):
    """Whom a user's conversations and answers are shown to."""

    items: tuple[AnswerLink, ...]


class SharedAnswerList(Model):
    """What others show the user."""

    items: tuple[SharedAnswer, ...]


class ShownTurns(Model):
    """The turns of what another shows the user. An answer that may not be seen has no `response`."""

    items: tuple[MessageBody, ...]


@router.get("/conversations/{conversation_id}/export", response_class=Response, responses={200: {"content": FILES}})
def export_conversation(
    sender: Reader,
    conversation_id: uuid.UUID,
    format_name: Annotated[ExportFormat, Query(alias="format", description="Of the file.")] = "markdown",
    message_id: Annotated[uuid.UUID | None, Query(alias="messageId", description="Only this answer.")] = None,
) -> Response:
    """A conversation, or one answer of it, as a file with the quote, place, picture and verdict of each claim."""
    engine = sender.engine.access.conversation(conversation_id)
    file = engine.answers.export(conversation_id, format_name, message_id)
    return attachment(file.name, file.mime_type, file.content)


@router.get(
    "/conversations/{conversation_id}/messages/{message_id}/marked",
    response_class=Response,
    responses={200: {"content": {PDF: {}}}},
)
def marked_copy(
    sender: Reader,
    conversation_id: uuid.UUID,
    message_id: uuid.UUID,
    document_id: Annotated[uuid.UUID, Query(alias="documentId")],
    whole: Annotated[bool, Query(description="All pages, not the quoted ones alone.")] = False,
) -> Response:
    """A PDF of what an answer quotes of a document, with highlights and notes on the quoted words."""
    engine = sender.engine.access.conversation(conversation_id)
    copy = engine.answers.marked(conversation_id, message_id, document_id, whole=whole)
    return attachment("marked.pdf", PDF, copy.content)


@router.post("/conversations/{conversation_id}/messages/{message_id}/again")
def ask_again(request: Request, sender: Writer, conversation_id: uuid.UUID, message_id: uuid.UUID) -> AgainBody:
    """Ask an answer's question again, as it was asked then: the same, or changed because of what. Nothing is kept."""
    engine = sender.engine.access.conversation(conversation_id)
    with request.app.state.questions.take():
        asked = engine.answers.rerun(conversation_id, message_id)
    request.state.usage = asked.response.usage
    return AgainBody.of(asked)


@router.get("/conversations/{conversation_id}/links")
def list_links(sender: Reader, conversation_id: uuid.UUID) -> LinkList:
    """Whom a conversation, or an answer of it, is shown to."""
    sender.engine.chats.get(conversation_id)
    return LinkList(items=tuple(sender.engine.answers.shown(conversation_id)))


@router.post("/conversations/{conversation_id}/links", status_code=201)
def show_to_others(sender: Writer, conversation_id: uuid.UUID, body: LinkRequest) -> AnswerLink:
    """Show a conversation, or one answer, read-only to who may read the collection that it is about."""
    return sender.engine.answers.show(conversation_id, body)


@router.delete("/links/{link_id}", status_code=204)
def withdraw_link(sender: Writer, link_id: uuid.UUID) -> None:
    """Show it no longer, from this moment on."""
    sender.engine.answers.withdraw(link_id)


@router.get("/links")
def list_shown_to_me(sender: Reader) -> SharedAnswerList:
    """What others show the user now."""
    return SharedAnswerList(items=tuple(sender.engine.answers.with_me()))


@router.get("/links/{link_id}/messages")
def list_shown_turns(sender: Reader, link_id: uuid.UUID) -> ShownTurns:
    """The turns of what another shows the user."""
    return ShownTurns(items=tuple(MessageBody.of(turn) for turn in sender.engine.answers.shown_turns(link_id)))

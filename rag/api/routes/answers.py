"""Routes that export, re-run and share saved answers."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from rag import types
from rag.api.authentication import Reader, Writer
from rag.api.responses import Items, attachment, listed
from rag.contract import AgainBody, MessageBody
from rag.export import FORMATS, ExportFormat

router = APIRouter(tags=["conversations"])

PDF = "application/pdf"
FILES: dict[str, dict[str, str]] = {kind.mime_type.partition(";")[0]: {} for kind in FORMATS.values()}


@router.get("/conversations/{conversation_id}/export", response_class=Response, responses={200: {"content": FILES}})
def export_conversation(
    sender: Reader,
    conversation_id: uuid.UUID,
    format_name: Annotated[ExportFormat, Query(alias="format", description="Of the file.")] = "markdown",
    message_id: Annotated[uuid.UUID | None, Query(alias="messageId", description="Only this answer.")] = None,
) -> Response:
    """Export a conversation, or one answer, as a file with the quote, place, picture and verdict of each claim."""
    engine = sender.engine.for_chat(conversation_id)
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
    whole: Annotated[bool, Query(description="All pages, not only the quoted ones.")] = False,
) -> Response:
    """Get a copy of a PDF that an answer quotes, with the quotes highlighted and annotated."""
    engine = sender.engine.for_chat(conversation_id)
    copy = engine.answers.marked(conversation_id, message_id, document_id, whole=whole)
    return attachment("marked.pdf", PDF, copy.content)


@router.post("/conversations/{conversation_id}/messages/{message_id}/again")
def ask_again(request: Request, sender: Writer, conversation_id: uuid.UUID, message_id: uuid.UUID) -> AgainBody:
    """Ask the question of a saved answer again with the same settings, and report differences. Nothing is stored."""
    engine = sender.engine.for_chat(conversation_id)
    with request.app.state.questions.acquire():
        asked = engine.answers.rerun(conversation_id, message_id)
    request.state.usage = asked.response.usage
    return AgainBody.of(asked)


@router.get("/conversations/{conversation_id}/links")
def list_links(sender: Reader, conversation_id: uuid.UUID) -> Items[types.AnswerLink]:
    """List the shares of a conversation and its answers."""
    sender.engine.chats.get(conversation_id)
    return listed(sender.engine.store.answer_links.list(conversation_id))


@router.post("/conversations/{conversation_id}/links", status_code=201)
def show_to_others(sender: Writer, conversation_id: uuid.UUID, body: types.LinkRequest) -> types.AnswerLink:
    """Share a conversation, or one answer, read-only with people who may read its collection."""
    return sender.engine.answers.share(conversation_id, body)


@router.delete("/links/{link_id}", status_code=204)
def withdraw_link(sender: Writer, link_id: uuid.UUID) -> None:
    """Stop sharing a conversation or an answer, at once."""
    sender.engine.answers.unshare(link_id)


@router.get("/links")
def list_shown_to_me(sender: Reader) -> Items[types.SharedAnswer]:
    """List what others share with the user now."""
    return listed(sender.engine.store.answer_links.shared_with_me())


@router.get("/links/{link_id}/messages")
def list_shown_turns(sender: Reader, link_id: uuid.UUID) -> Items[MessageBody]:
    """List the turns of a shared conversation or answer."""
    return listed(MessageBody.of(turn) for turn in sender.engine.answers.shared_turns(link_id))

"""FastAPI dependencies that authenticate callers and check their permissions."""

import uuid
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from rag import types
from rag.access.gate import Caller, Gate, Visitor
from rag.engine import RAGEngine

_KEY = APIKeyHeader(name="x-api-key", auto_error=False, description="A key of `pagelight keys create`, or RAG_API_KEY.")
_BEARER = HTTPBearer(auto_error=False, description="The same key as a bearer token.")


def caller(
    request: Request,
    _key: Annotated[str | None, Security(_KEY)],  # both only for the OpenAPI document
    _bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
) -> Caller:
    """Authenticate the sender of a request, and store who it is for the log."""
    gate: Gate = request.app.state.gate
    found = gate.admit(Visitor.of(request.headers, request.client))
    request.state.user_id = found.user_id
    request.state.key_id = found.key_id
    return found


def _permitted(permission: types.Permission) -> Callable[[Request, Caller], Caller]:
    def check(request: Request, sender: Annotated[Caller, Depends(caller)]) -> Caller:
        sender.require(permission)
        return sender._replace(engine=_engine_for(request, sender.engine))

    return check


def _engine_for(request: Request, engine: RAGEngine) -> RAGEngine:
    """Return the engine of the document, matrix, chat or index in a request's URL: the sender's own, or a shared one.

    Raises:
        errors.NotFoundError: the document, matrix or chat is neither the sender's nor shared with them.
    """
    if document_id := _as_id(request.path_params.get("document_id", "")):
        return engine.for_document(document_id)
    if matrix_id := _as_id(request.path_params.get("matrix_id", "")):
        return engine.for_matrix(matrix_id)
    if conversation_id := _as_id(request.path_params.get("conversation_id", "")):
        return engine.for_chat(conversation_id)
    return engine.for_index(request.query_params.get("indexName", types.DEFAULT_INDEX))


def _as_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:  # the route itself refuses it
        return None


def _administrator(sender: Annotated[Caller, Depends(caller)]) -> Caller:
    sender.require_admin()
    return sender


Reader = Annotated[Caller, Depends(_permitted("read"))]
Writer = Annotated[Caller, Depends(_permitted("write"))]
Admin = Annotated[Caller, Depends(_administrator)]

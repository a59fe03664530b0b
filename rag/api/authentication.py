"""What a route asks of its caller, as dependencies: a key, and a permission."""

import uuid
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from rag.access.gate import Caller, Gate, Visitor
from rag.engine import RAGEngine
from rag.types import DEFAULT_INDEX, Permission

_KEY = APIKeyHeader(name="x-api-key", auto_error=False, description="A key of `pagelight keys create`, or RAG_API_KEY.")
_BEARER = HTTPBearer(auto_error=False, description="The same key as a bearer token.")


def caller(
    request: Request,
    _key: Annotated[str | None, Security(_KEY)],  # both only for the API's description
    _bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
) -> Caller:
    """The sender of a request, whatever they may do. For the log it is kept with the request."""
    gate: Gate = request.app.state.gate
    found = gate.admit(Visitor.of(request.headers, request.client))
    request.state.user_id = found.user_id
    request.state.key_id = found.key_id
    return found


def _with(permission: Permission) -> Callable[[Request, Caller], Caller]:
    def permitted(request: Request, sender: Annotated[Caller, Depends(caller)]) -> Caller:
        sender.require(permission)
        return sender._replace(engine=_reached(request, sender.engine))

    return permitted


def _reached(request: Request, engine: RAGEngine) -> RAGEngine:
    """The engine of what a request's address names: the sender's own, or of a collection that is shared with them now.

    Raises:
        errors.NotFoundError: it names a document or chat that is neither.
    """
    if document_id := _as_id(request.path_params.get("document_id", "")):
        return engine.access.document(document_id)
    if conversation_id := _as_id(request.path_params.get("conversation_id", "")):
        return engine.access.conversation(conversation_id)
    return engine.access.index(request.query_params.get("indexName", DEFAULT_INDEX))


def _as_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:  # which the route refuses in its own words
        return None


def _administrator(sender: Annotated[Caller, Depends(caller)]) -> Caller:
    sender.require_admin()
    return sender


Reader = Annotated[Caller, Depends(_with("read"))]
Writer = Annotated[Caller, Depends(_with("write"))]
Admin = Annotated[Caller, Depends(_administrator)]

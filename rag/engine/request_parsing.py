"""Requests as callers write them: models, or plain mappings in either spelling."""

import uuid
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, TypeVar

import pydantic

from rag import errors
from rag.types import AnswerRequest, Auth
from rag.types.base import to_validation_error

Request = TypeVar("Request", bound=pydantic.BaseModel)
Event = TypeVar("Event")

_REFUSED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


def parse(model: type[Request], request: Request | Mapping[str, Any]) -> Request:
    """`request` as a `model`.

    Raises:
        errors.ValidationError: it is malformed; the message and `details["problems"]` name the fields, never values.
    """
    try:
        return model.model_validate(request)
    except pydantic.ValidationError as error:
        refused = to_validation_error(error)
    raise refused


@contextmanager
def own_key(auth: Auth) -> Iterator[None]:
    """Run calls with the key that came with a request: one that is refused is the caller's to correct.

    Raises:
        errors.AuthError: the provider refuses that key.
    """
    try:
        yield
    except errors.ProviderError as error:
        if auth.api_key is None or error.details.get("status") not in _REFUSED:
            raise
        raise errors.AuthError(
            f"The key that came with the request is refused. {error.message}", details=error.details
        ) from None


def with_own_key(events: Generator[Event, None, None], auth: Auth) -> Generator[Event, None, None]:
    """`events`, made with the key that came with a request."""
    with own_key(auth):
        yield from events


def within(request: AnswerRequest, document_id: uuid.UUID | str) -> AnswerRequest:
    """`request` about one document.

    Raises:
        errors.ValidationError: `document_id` is no id.
    """
    try:
        wanted = uuid.UUID(str(document_id))
    except ValueError:
        raise errors.ValidationError(
            f"document_id is not the id of a document: {document_id!r}.", details={"field": "document_id"}
        ) from None
    filters = request.retrieval.filters.model_copy(update={"document_ids": (wanted,)})
    retrieval = request.retrieval.model_copy(update={"filters": filters})
    return request.model_copy(update={"retrieval": retrieval})

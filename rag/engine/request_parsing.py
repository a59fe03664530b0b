"""Parse and validate requests."""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, TypeVar

import pydantic

from rag import errors, types

Request = TypeVar("Request", bound=pydantic.BaseModel)
Restrictable = TypeVar("Restrictable", bound=types.RetrievalRequest)

_REFUSED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


def parse(model: type[Request], request: Request | Mapping[str, Any]) -> Request:
    """Validate `request`, a model or a mapping in camelCase or snake_case.

    Raises ValidationError if it is malformed; the message and `details["problems"]` name fields, never values.
    """
    try:
        return model.model_validate(request)
    except pydantic.ValidationError as error:
        refused = types.to_validation_error(error)
    raise refused


@contextmanager
def request_key_errors(auth: types.Auth) -> Iterator[None]:
    """Raise AuthError where a provider rejects the API key that came with the request."""
    try:
        yield
    except errors.ProviderError as error:
        if auth.api_key is None or error.details.get("status") not in _REFUSED:
            raise
        raise errors.AuthError(
            f"The key that came with the request is refused. {error.message}", details=error.details
        ) from None


def restrict_to_document(request: types.AnswerRequest, document_id: uuid.UUID | str) -> types.AnswerRequest:
    """Restrict `request` to one document. Raises ValidationError if `document_id` is no UUID."""
    try:
        return restrict_to_documents(request, [uuid.UUID(str(document_id))])
    except ValueError:
        raise errors.ValidationError(
            f"document_id is not the id of a document: {document_id!r}.", details={"field": "document_id"}
        ) from None


def restrict_to_documents(request: Restrictable, document_ids: Iterable[uuid.UUID]) -> Restrictable:
    """Restrict `request` to some documents."""
    filters = request.retrieval.filters.model_copy(update={"document_ids": (*document_ids,)})
    retrieval = request.retrieval.model_copy(update={"filters": filters})
    return request.model_copy(update={"retrieval": retrieval})

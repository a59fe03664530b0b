"""Error responses of one shape: `{"success": false, "error": {"type", "message", "details"}}`."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import pydantic_core
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match

from rag import errors, types
from rag.access.gate import refusal_headers

logger = logging.getLogger(__name__)

COLLECTION_TYPES = {"not_found": "collection_not_found", "validation": "invalid_query", "store": "store_unavailable"}
"""Names of errors in responses of `/retrieve` and `/validate`."""

MESSAGES = {
    HTTPStatus.BAD_REQUEST: "The body cannot be read. Send valid JSON, or a form where a file is sent.",
    HTTPStatus.NOT_FOUND: "There is nothing at this address. The document /openapi.json lists what there is.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address does not take this method.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The request is larger than allowed. Send less, or raise the limit.",
    HTTPStatus.REQUEST_TIMEOUT: "The request took too long to arrive. Send it again.",
}
"""Messages of errors that the framework raises."""

TYPES = {HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "content_too_large"}
"""Error types whose name in Python depends on its version."""

DOCUMENTED: dict[int | str, dict[str, Any]] = {
    status: {"model": types.ErrorResponse, "description": words}
    for status, words in {
        400: "The body cannot be read",
        401: "A key is missing or wrong",
        403: "The key, or the role of its user, does not allow it",
        404: "There is no such thing",
        408: "The request took too long to arrive",
        409: "It does not fit what is there",
        413: "The request is too large",
        422: "The request is malformed",
        429: "Too many requests",
        500: "A bug",
        502: "A model vendor refuses or is down",
        503: "Busy, or the database does not answer",
        507: "Too little room is left to take a file in",
    }.items()
}
"""The error responses of all routes."""


def problem(
    status: int,
    kind: str,
    message: str,
    details: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Make an error response."""
    plain = pydantic_core.to_jsonable_python(dict(details or {}), fallback=str)
    body = types.ErrorResponse(error=types.ErrorBody(type=kind, message=message, details=plain))
    return JSONResponse(body.model_dump(mode="json"), status, headers=dict(headers or {}))


def _type(request: Request, code: str) -> str:
    is_collection = request.scope.get("path", "").rstrip("/").endswith(("/retrieve", "/validate"))
    return COLLECTION_TYPES.get(code, code) if is_collection else code


def _methods(routes: Sequence[BaseRoute], request: Request) -> set[str]:
    """Return the methods of a URL, which may have several routes."""
    matching = (route for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    return {method for route in matching for method in getattr(route, "methods", None) or ()}


def install(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Install the error handlers of an app with these routes.

    They are asynchronous, so that they work even if all threads wait for a database.
    """

    @app.exception_handler(errors.Error)
    async def ours(request: Request, error: errors.Error) -> JSONResponse:
        if error.http_status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            logger.warning("%s: %s", error.code, error.message)
        kind = _type(request, error.code)
        return problem(error.http_status, kind, error.message, error.details, refusal_headers(error))

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        if any(item["type"] == "json_invalid" for item in error.errors()):
            return await of_http(request, HTTPException(HTTPStatus.BAD_REQUEST))
        problems = [
            {**item, "loc": item["loc"][1:] or item["loc"]}  # without the part of the request
            for item in error.errors()
        ]
        message = f"The request is malformed. {types.error_summary(problems)}."
        details = {"problems": types.field_errors(problems)}
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, _type(request, "validation"), message, details)

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        kind = TYPES.get(status, status.phrase.lower().replace(" ", "_").replace("-", "_"))
        headers = dict(error.headers or {})
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            headers["allow"] = ", ".join(sorted(_methods(routes, request)))
        return problem(status, kind, MESSAGES.get(status, str(error.detail)), headers=headers)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, _: Exception) -> JSONResponse:
        # The server logs the traceback; the response contains nothing of it.
        request_id = request.scope.get("state", {}).get("request_id")
        message = "Something unexpected happened. It is a bug: please report it with the request's id and the log."
        return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", message, {"request_id": request_id})

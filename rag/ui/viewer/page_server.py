"""Serve the PDF viewer: page images and lines, search results and annotations.

It runs beside the app on the same port, below `PATH`. Each request carries a ticket of the session.
"""

import logging
import math
import uuid
from collections.abc import Callable
from itertools import groupby
from typing import Any

import pydantic
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rag import errors, types
from rag.engine import Installation, RAGEngine
from rag.ui.language import _, use_language
from rag.ui.translated_messages import translate_error
from rag.ui.viewer import tickets

PATH = "/reading"
TICKET = "x-pagelight-ticket"
MAX_BODY_BYTES = 256 * 1024
MAX_MATCHES_PER_PAGE = 500
"""Maximum number of matches on a page whose boxes are sent."""
PRIVATE_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
STATUS_CODES = {
    errors.AuthError: 401,
    errors.ForbiddenError: 403,
    errors.NotFoundError: 404,
    errors.ValidationError: 422,
}

ticket_store = tickets.Tickets()
"""Tickets of this process, which runs both the app and this server."""
log = logging.getLogger(__name__)

Handler = Callable[[RAGEngine, uuid.UUID, Request, Any], object]


def create_app(installation: Installation) -> Starlette:
    """Create the server for an installation, which the caller closes."""
    document = "/{document_id:uuid}"
    page = document + "/pages/{number:int}"
    annotation = document + "/annotations/{annotation_id:uuid}"
    routes = [
        (document, "GET", describe),
        (page + "/picture", "GET", _picture),
        (page + "/lines", "GET", _lines),
        (page + "/find", "GET", _found_on),
        (document + "/find", "GET", _find),
        (document + "/outline", "GET", _outline),
        (document + "/annotations", "GET", _annotations),
        (document + "/annotations", "POST", _annotate),
        (annotation, "PATCH", _edit),
        (annotation, "DELETE", _delete),
    ]
    return Starlette(
        routes=[Route(path, _endpoint(installation, answer), methods=[method]) for path, method, answer in routes]
    )


def _endpoint(installation: Installation, answer: Handler) -> Callable[[Request], Any]:
    """Return an endpoint that checks access to the document and turns errors into messages."""

    def respond(request: Request, body: Any) -> Response:
        document_id: uuid.UUID = request.path_params["document_id"]
        try:
            engine = ticket_store.engine(installation, request.headers.get(TICKET, ""))
            found = answer(engine.for_document(document_id), document_id, request, body)
        except errors.Error as error:
            status = next((STATUS_CODES[kind] for kind in type(error).__mro__ if kind in STATUS_CODES), 503)
            with use_language(request.headers.get("accept-language")):
                return JSONResponse({"message": translate_error(error)}, status, headers=PRIVATE_HEADERS)
        return found if isinstance(found, Response) else JSONResponse(found, headers=PRIVATE_HEADERS)

    async def endpoint(request: Request) -> Response:
        try:
            body = await _body(request)
            return await run_in_threadpool(respond, request, body)
        except HTTPException:
            raise
        except Exception:
            log.exception("The viewer was not answered")
            with use_language(request.headers.get("accept-language")):
                return JSONResponse(
                    {"message": _("Something went wrong. Reload the page.")}, 500, headers=PRIVATE_HEADERS
                )

    return endpoint


async def _body(request: Request) -> Any:
    if request.method not in ("POST", "PATCH"):
        return None
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > MAX_BODY_BYTES:
            raise HTTPException(413)
    try:
        return pydantic.TypeAdapter(dict[str, Any]).validate_json(content)
    except pydantic.ValidationError as error:
        raise HTTPException(422) from error


def describe(engine: RAGEngine, document_id: uuid.UUID, _request: Request, _body: Any) -> dict[str, Any]:
    """Describe a document for the viewer."""
    return description(engine.documents.get(document_id))


def description(document: types.Document) -> dict[str, Any]:
    """Return a document's name and pages; sizes are runs of width, height and page count."""
    sizes = ((page.width, page.height) for page in document.pages)
    return {
        "id": str(document.id),
        "stamp": stamp(document),
        "name": document.name,
        "sizes": [[*size, len(list(alike))] for size, alike in groupby(sizes)],
        "labels": document.page_labels,
        "failed": [page.number for page in document.pages if page.error],
    }


def stamp(document: types.Document) -> str:
    """Return a token that changes when more of a document was read or it was read again."""
    return f"{len(document.pages)}-{document.chunk_count}-{document.indexed_at or ''}"


def _picture(engine: RAGEngine, document_id: uuid.UUID, request: Request, _body: Any) -> Response:
    try:
        scale = float(request.query_params.get("scale", "1"))
    except ValueError:
        scale = math.nan
    png = engine.pages.image(document_id, request.path_params["number"], zoom=scale)
    return Response(png, media_type="image/png", headers=PRIVATE_HEADERS)


def _lines(engine: RAGEngine, document_id: uuid.UUID, request: Request, _body: Any) -> list[tuple[float | str, ...]]:
    """Return the boxes and texts of a page's lines."""
    found = engine.pages.text(document_id, [request.path_params["number"]]).lines
    return [(*line.bbox, line.text) for line in sorted(found, key=lambda line: line.number)]


def _find(engine: RAGEngine, document_id: uuid.UUID, request: Request, _body: Any) -> list[tuple[int, int]]:
    found = engine.pages.find(document_id, request.query_params.get("words", ""))
    return [(page.page_number, page.count) for page in found]


def _found_on(engine: RAGEngine, document_id: uuid.UUID, request: Request, _body: Any) -> list[list[Any]]:
    """Return the boxes of each match on a page."""
    words = request.query_params.get("words", "")
    found = engine.pages.found_on(document_id, request.path_params["number"], words)
    return [_rects(regions) for regions in found[:MAX_MATCHES_PER_PAGE]]


def _rects(regions: tuple[types.Region, ...]) -> list[Any]:
    return [rect for region in regions for rect in region.rects]


def _outline(engine: RAGEngine, document_id: uuid.UUID, _request: Request, _body: Any) -> list[Any]:
    return [entry.model_dump() for entry in engine.pages.outline(document_id)]


def _annotations(engine: RAGEngine, document_id: uuid.UUID, _request: Request, _body: Any) -> list[Any]:
    return [own.model_dump(mode="json") for own in engine.store.annotations.list(document_id)]


def _annotate(engine: RAGEngine, document_id: uuid.UUID, _request: Request, body: Any) -> Any:
    return engine.annotations.add(document_id, body).model_dump(mode="json")


def _edit(engine: RAGEngine, document_id: uuid.UUID, request: Request, body: Any) -> Any:
    changed = engine.annotations.edit(document_id, request.path_params["annotation_id"], body.get("note", ""))
    return changed.model_dump(mode="json")


def _delete(engine: RAGEngine, document_id: uuid.UUID, request: Request, _body: Any) -> Any:
    engine.store.annotations.delete(document_id, request.path_params["annotation_id"])
    return None

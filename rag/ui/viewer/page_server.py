"""Serve the PDF viewer: page images and lines, search results and annotations.

It runs beside the app on the same port, below `PATH`. A session gives its browser a ticket, a secret that is sent in a
header with each request. It allows only what the user may read, while the login is open. Unlike a cookie it is not sent
automatically, so other sites cannot use it.
"""

import logging
import math
import secrets
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import pydantic
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rag import errors, types
from rag.engine import Installation, RAGEngine
from rag.ui.language import N_, _, use_language
from rag.ui.translated_messages import translate_error

PATH = "/reading"
TICKET = "x-pagelight-ticket"
MAX_BODY_BYTES = 256 * 1024
MAX_MATCHES_PER_PAGE = 500
"""Maximum number of matches on a page whose boxes are sent."""
PRIVATE_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
MAX_TICKETS = 10_000
"""Per process; the least recently used ticket is dropped first."""
TICKET_LIFETIME_SECONDS = 12 * 3600.0
"""Lifetime of an unused ticket."""
CHECK_SECONDS = 2.0
"""How long the result of a login check is cached."""
STATUS_CODES = {
    errors.AuthError: 401,
    errors.ForbiddenError: 403,
    errors.NotFoundError: 404,
    errors.ValidationError: 422,
}

log = logging.getLogger(__name__)


class Call(NamedTuple):
    """A request about a document, with the engine of the user who may read it."""

    engine: RAGEngine
    document_id: uuid.UUID
    request: Request
    body: Any

    @property
    def number(self) -> int:
        """The number of the page."""
        return int(self.request.path_params["number"])

    @property
    def words(self) -> str:
        """The words to find."""
        return self.request.query_params.get("words", "")


Handler = Callable[[Call], object]


def create_app(installation: Installation) -> Starlette:
    """Create the server for an installation, which the caller closes."""
    document = "/{document_id:uuid}"
    page = document + "/pages/{number:int}"
    annotation = document + "/annotations/{annotation_id:uuid}"
    routes: list[tuple[str, str, Handler]] = [
        (document, "GET", lambda call: description(call.engine.documents.get(call.document_id))),
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
            content = answer(Call(engine.for_document(document_id), document_id, request, body))
        except errors.Error as error:
            status = next((STATUS_CODES[kind] for kind in type(error).__mro__ if kind in STATUS_CODES), 503)
            with use_language(request.headers.get("accept-language")):
                return JSONResponse({"message": translate_error(error)}, status, headers=PRIVATE_HEADERS)
        return content if isinstance(content, Response) else JSONResponse(content, headers=PRIVATE_HEADERS)

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


def description(document: types.Document) -> dict[str, Any]:
    """Return a document's name and pages; sizes are runs of width, height and page count."""
    sizes = ((page.width, page.height) for page in document.pages)
    return {
        "id": str(document.id),
        # It changes when more of the document was read or it was read again.
        "stamp": f"{len(document.pages)}-{document.chunk_count}-{document.indexed_at or ''}",
        "name": document.name,
        "sizes": [[*size, len(list(alike))] for size, alike in groupby(sizes)],
        "labels": document.page_labels,
        "failed": [page.number for page in document.pages if page.error],
    }


def _picture(call: Call) -> Response:
    try:
        scale = float(call.request.query_params.get("scale", "1"))
    except ValueError:
        scale = math.nan
    png = call.engine.pages.image(call.document_id, call.number, zoom=scale)
    return Response(png, media_type="image/png", headers=PRIVATE_HEADERS)


def _lines(call: Call) -> list[tuple[float | str, ...]]:
    """Return the boxes and texts of a page's lines."""
    lines = call.engine.pages.text(call.document_id, [call.number]).lines
    return [(*line.bbox, line.text) for line in sorted(lines, key=lambda line: line.number)]


def _find(call: Call) -> list[tuple[int, int]]:
    pages = call.engine.pages.find(call.document_id, call.words)
    return [(page.page_number, page.count) for page in pages]


def _found_on(call: Call) -> list[list[types.Rect]]:
    """Return the boxes of each match on a page."""
    matches = call.engine.pages.found_on(call.document_id, call.number, call.words)
    return [[rect for region in regions for rect in region.rects] for regions in matches[:MAX_MATCHES_PER_PAGE]]


def _outline(call: Call) -> list[Any]:
    return [entry.model_dump() for entry in call.engine.pages.outline(call.document_id)]


def _annotations(call: Call) -> list[Any]:
    return [annotation.model_dump(mode="json") for annotation in call.engine.store.annotations.list(call.document_id)]


def _annotate(call: Call) -> Any:
    return call.engine.annotations.add(call.document_id, call.body).model_dump(mode="json")


def _edit(call: Call) -> Any:
    annotation_id, note = call.request.path_params["annotation_id"], call.body.get("note", "")
    return call.engine.annotations.edit(call.document_id, annotation_id, note).model_dump(mode="json")


def _delete(call: Call) -> None:
    call.engine.store.annotations.delete(call.document_id, call.request.path_params["annotation_id"])


# --- tickets ----------------------------------------------------------------------------------------


@dataclass
class _Holder:
    user_id: str
    login: types.Identity | None
    whence: types.RequestOrigin
    used: float
    checked: float


class Tickets:
    """The tickets of a process."""

    def __init__(self) -> None:
        self._holders: OrderedDict[str, _Holder] = OrderedDict()
        self._lock = threading.Lock()

    def issue(
        self, user_id: str, login: types.Identity | None, whence: types.RequestOrigin, before: str | None = None
    ) -> str:
        """Return a ticket for a user: the one `before` if it is still valid and theirs."""
        now = time.monotonic()
        with self._lock:
            holder = self._holders.get(before or "")
            if before and holder and (holder.user_id, holder.login) == (user_id, login):
                holder.used = now
                return before
            ticket = secrets.token_urlsafe(32)
            self._holders[ticket] = _Holder(user_id, login, whence, now, now)
            while len(self._holders) > MAX_TICKETS:
                self._holders.popitem(last=False)
        return ticket

    def engine(self, installation: Installation, ticket: str) -> RAGEngine:
        """Return the engine of the user who holds a ticket.

        Raises:
            errors.AuthError: the ticket is unknown or expired, or the login has ended.
        """
        now = time.monotonic()
        with self._lock:
            holder = self._holders.get(ticket)
        is_used = holder is not None and now - holder.used <= TICKET_LIFETIME_SECONDS
        if holder is None or not is_used or not _login_is_open(installation, holder, now):
            with self._lock:
                self._holders.pop(ticket, None)
            raise errors.AuthError(N_("This page was open for too long, or the login has ended. Reload it."))
        with self._lock:
            holder.used = now
            if ticket in self._holders:
                self._holders.move_to_end(ticket)
        return installation.for_user(holder.user_id, holder.whence)


def _login_is_open(installation: Installation, holder: _Holder, now: float) -> bool:
    """Return whether the ticket's login is still open, checking every `CHECK_SECONDS`."""
    if holder.login is None or now - holder.checked < CHECK_SECONDS:
        return True
    holder.checked = now
    return installation.logins.by(holder.user_id, holder.whence).open(holder.login)


ticket_store = Tickets()
"""Tickets of this process, which runs both the app and this server."""

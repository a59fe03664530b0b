"""Whether the server lives, and its figures."""

from typing import Literal

import anyio
import anyio.to_thread
from fastapi import APIRouter, Request, Response

from rag import errors
from rag.api.access import Admin
from rag.engine import Installation
from rag.types import Model

router = APIRouter(tags=["status"])

DATABASE_SECONDS = 3.5
"""Longest wait for the database."""
HEALTH_SECONDS = 4.5
"""Longest wait for the answer, whatever else is going on."""
LOOKING_AT_ONCE = 4
"""Threads of its own: those of all other requests may be waiting for the database."""


class HealthResponse(Model):
    """The server lives and reaches its database."""

    ok: Literal[True] = True


@router.get("/health")
async def health(request: Request) -> HealthResponse:
    """Whether the server lives and reaches its database, within 5 seconds; no key is needed."""
    state = request.app.state
    installation: Installation = state.installation
    try:
        with anyio.fail_after(HEALTH_SECONDS):
            await anyio.to_thread.run_sync(
                installation.health, DATABASE_SECONDS, abandon_on_cancel=True, limiter=state.lookers
            )
    except TimeoutError:
        raise errors.StoreUnavailableError from None
    return HealthResponse()


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request, _: Admin) -> Response:
    """Figures in the text format of Prometheus."""
    return Response(request.app.state.metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")

"""Routes for health, status and metrics."""

from typing import Literal

import anyio
import anyio.to_thread
from fastapi import APIRouter, Request, Response

from rag import errors, types
from rag.api.authentication import Admin
from rag.engine import Installation
from rag.observability import CONTENT_TYPE

router = APIRouter(tags=["status"])

DATABASE_SECONDS = 3.5
"""Maximum wait for the database."""
HEALTH_SECONDS = 4.5
"""Maximum wait for the response."""
HEALTH_THREADS = 4
"""Own threads, as those of other requests may all wait for the database."""


class HealthResponse(types.Model):
    """The server runs and reaches its database; `warnings`, if any, name imminent problems."""

    ok: Literal[True] = True
    warnings: tuple[str, ...] | None = None


@router.get("/health", response_model_exclude_none=True)
async def health(request: Request) -> HealthResponse:
    """Check, within 5 seconds, that the server runs and reaches its database; no key is needed."""
    state = request.app.state
    installation: Installation = state.installation
    try:
        with anyio.fail_after(HEALTH_SECONDS):
            await anyio.to_thread.run_sync(
                lambda: installation.store.health(DATABASE_SECONDS),  # connects first, which takes as long as it may
                abandon_on_cancel=True,
                limiter=state.health_threads,
            )
    except TimeoutError:
        raise errors.StoreUnavailableError from None
    return HealthResponse(warnings=installation.disk_warnings or None)


@router.get("/status")
def status(request: Request, _: Admin) -> types.Status:
    """Get the state of the installation: database, workers and their tasks, sizes, disks, the last backup."""
    installation: Installation = request.app.state.installation
    return installation.status()


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request, _: Admin) -> Response:
    """Get metrics in the text format of Prometheus."""
    return Response(request.app.state.metrics.render(), media_type=CONTENT_TYPE)

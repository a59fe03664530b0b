"""Whether the server lives, and its figures."""

from typing import Literal

from fastapi import APIRouter, Request, Response

from rag.api.access import Admin
from rag.engine import Installation
from rag.observing import CONTENT_TYPE
from rag.types import Model, Status

router = APIRouter(tags=["status"])


class HealthResponse(Model):
    """The server lives and reaches its database; `warnings`, if there are any, say what may end that soon."""

    ok: Literal[True] = True
    warnings: tuple[str, ...] | None = None


@router.get("/health", response_model_exclude_none=True)
def health(request: Request) -> HealthResponse:
    """Whether the server lives and reaches its database; no key is needed."""
    installation: Installation = request.app.state.installation
    installation.health()
    return HealthResponse(warnings=installation.disk_warnings or None)


@router.get("/status")
def status(request: Request, _: Admin) -> Status:
    """How the installation is: database, workers and what they are at, sizes, disks, the last backup."""
    installation: Installation = request.app.state.installation
    return installation.status()


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request, _: Admin) -> Response:
    """Figures in the text format of Prometheus."""
    return Response(request.app.state.metrics.render(), media_type=CONTENT_TYPE)

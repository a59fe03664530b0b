"""Whether the server lives, and its figures."""

from typing import Literal

from fastapi import APIRouter, Request, Response

from rag.api.access import Admin
from rag.engine import Installation
from rag.types import Model

router = APIRouter(tags=["status"])


class HealthResponse(Model):
    """The server lives and reaches its database."""

    ok: Literal[True] = True


@router.get("/health")
def health(request: Request) -> HealthResponse:
    """Whether the server lives and reaches its database; no key is needed."""
    installation: Installation = request.app.state.installation
    installation.health()
    return HealthResponse()


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request, _: Admin) -> Response:
    """Figures in the text format of Prometheus."""
    return Response(request.app.state.metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")

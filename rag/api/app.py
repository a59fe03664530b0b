"""The application: routes, what stands before them, and what they share."""

import logging
from importlib import metadata

import anyio
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.routing import APIRoute

from rag import observability
from rag.access.gate import Gate, origins
from rag.api import error_responses, limits
from rag.api.metrics import InstallationFigures
from rag.api.routes import (
    admin,
    annotations,
    answers,
    collections,
    conversations,
    documents,
    glossary,
    indexes,
    jobs,
    matrices,
    questions,
    status,
    tags_and_filters,
    team,
)
from rag.engine import Installation

requests = logging.getLogger("rag.api.requests")

DESCRIPTION = """Chat with your PDFs: every claim of an answer comes with its verbatim quote and the boxes of exactly
those words on the page. Send your key as `x-api-key` or as a bearer token. Its permissions are the most that it allows:
what is of curators or admins is done for users who have that role now. Every error has the shape
`{"success": false, "error": {"type", "message", "details"}}`."""

EXPOSED_HEADERS = ("x-request-id", "etag", "content-disposition", "retry-after", "location", "idempotency-replayed")


def create_app(installation: Installation, *, needs_key: bool = False) -> FastAPI:
    """The REST API over an installation, which stays the caller's to close.

    With `needs_key` nobody is answered without a key, though none be configured.
    """
    config = installation.config
    metrics = observability.Metrics(InstallationFigures(installation))
    app = FastAPI(
        title="Pagelight",
        description=DESCRIPTION,
        version=metadata.version("pagelight"),
        responses=error_responses.DOCUMENTED,
        generate_unique_id_function=_operation_id,
        docs_url=None,  # both pages load their scripts from elsewhere
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.installation = installation
    app.state.metrics = metrics
    app.state.gate = Gate(lambda: installation, needs_key=needs_key)
    app.state.lookers = anyio.CapacityLimiter(status.LOOKING_AT_ONCE)
    app.state.questions = limits.Turns(config.rag_max_questions)
    app.state.searches = limits.Turns(limits.SEARCHES_AT_ONCE)
    parts = (
        *(status, questions, collections, documents, annotations, indexes),
        *(jobs, matrices, conversations, answers, glossary, tags_and_filters, team, admin),
    )
    for part in parts:
        app.include_router(part.router)
    error_responses.install(app, [route for part in parts for route in part.router.routes])
    app.add_middleware(
        limits.BodyLimits,
        seconds=config.rag_upload_timeout_seconds,
        upload_bytes=config.rag_parsing.max_file_bytes,
    )
    if sites := origins(config):
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sites,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["authorization", "content-type", "x-api-key", "x-request-id", "idempotency-key"],
            expose_headers=list(EXPOSED_HEADERS),
        )
    app.add_middleware(observability.Observer, metrics=metrics, logger=requests)
    return app


def _operation_id(route: APIRoute) -> str:
    """The function's name: client generators name their methods by it."""
    return route.name

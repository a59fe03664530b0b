"""The FastAPI application: routes, middleware and shared state, and its server, uvicorn."""

import logging
from importlib import metadata

import anyio
import uvicorn
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from rag import observability
from rag.access.gate import Gate, require_key
from rag.access.rate_limits import MAX_CONNECTIONS
from rag.api import error_responses, limits
from rag.api.metrics import InstallationMetrics
from rag.api.routes import (
    admin,
    answers,
    conversations,
    documents,
    indexes,
    jobs,
    matrices,
    questions,
    status,
    tags_and_filters,
    team,
)
from rag.engine import Installation
from rag.foreign_pages import ForeignPageGuard

requests = logging.getLogger("rag.api.requests")

KEEP_ALIVE_SECONDS = 30
SHUTDOWN_SECONDS = 10

DESCRIPTION = """Chat with your PDFs: every claim of an answer comes with its verbatim quote and the boxes of these
words on the page. Send your key as `x-api-key` or as a bearer token. A key allows what both its permissions and the
current role of its user allow. Every error has the shape
`{"success": false, "error": {"type", "message", "details"}}`."""


def create_app(installation: Installation, *, needs_key: bool = False) -> FastAPI:
    """Make the REST API of an installation, which the caller closes.

    With `needs_key` all requests need a key, even if none exists.
    """
    config = installation.config
    metrics = observability.Metrics(InstallationMetrics(installation))
    app = FastAPI(
        title="Pagelight",
        description=DESCRIPTION,
        version=metadata.version("pagelight"),
        responses=error_responses.DOCUMENTED,
        generate_unique_id_function=lambda route: route.name,  # client generators name their methods by it
        docs_url=None,  # both pages load their scripts from elsewhere
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.state.installation = installation
    app.state.metrics = metrics
    app.state.gate = Gate(lambda: installation, needs_key=needs_key)
    app.state.health_threads = anyio.CapacityLimiter(status.HEALTH_THREADS)
    app.state.questions = limits.FairSemaphore(config.rag_max_questions)
    app.state.searches = limits.FairSemaphore(limits.SEARCHES_AT_ONCE)
    modules = (
        *(status, questions, documents, indexes),
        *(jobs, matrices, conversations, answers, tags_and_filters, team, admin),
    )
    for module in modules:
        app.include_router(module.router)
    error_responses.install(app, [route for module in modules for route in module.router.routes])
    app.add_middleware(
        limits.BodyLimits, seconds=config.rag_upload_timeout_seconds, upload_bytes=config.rag_parsing.max_file_bytes
    )
    if config.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=config.cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["authorization", "content-type", "x-api-key", "x-request-id", "idempotency-key"],
            expose_headers=[
                *("x-request-id", "etag", "content-disposition", "retry-after", "location", "idempotency-replayed")
            ],
        )
    app.add_middleware(observability.RequestLogger, metrics=metrics, logger=requests)
    return app


def serve(installation: Installation, host: str, port: int) -> None:
    """Answer requests until SIGINT or SIGTERM; the log is JSON on stderr, a line per request.

    Raises:
        errors.ConfigError: other machines can reach `host`, and there is no key.
    """
    require_key(installation, host)
    observability.log_as_json()
    uvicorn.run(
        ForeignPageGuard(create_app(installation)),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        forwarded_allow_ips=installation.config.forwarded_allow_ips,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        http="h11",  # which limits the size of heads
        limit_concurrency=MAX_CONNECTIONS,
    )

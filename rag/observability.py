"""Request logs as JSON lines, and Prometheus metrics, for the REST and MCP servers.

Neither contains text of documents, questions or keys. Servers describe a request in its scope's `state`: `user_id`,
`key_id`, `usage`, and `route` and `status` if HTTP's own are too general, as for MCP tools.
"""

import logging
import re
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import prometheus_client
from prometheus_client import registry
from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

from rag import tracing, types

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""A request id that a client may send."""

UNKNOWN_ROUTE = "unknown"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LOG_FIELDS = "{asctime}{levelname}{name}{message}"


def log_as_json() -> None:
    """Let every logger of this process write JSON lines to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    renamed = {"asctime": "time", "levelname": "level", "name": "logger"}
    unwanted = [*RESERVED_ATTRS, "color_message"]  # uvicorn's second version of a message, for terminals
    handler.setFormatter(JsonFormatter(LOG_FIELDS, style="{", rename_fields=renamed, reserved_attrs=unwanted))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in ("rag", "uvicorn"):
        logging.getLogger(name).setLevel(logging.INFO)


class Metrics:
    """The metrics of one application, including those of `collectors`."""

    def __init__(self, *collectors: registry.Collector) -> None:
        self.registry = prometheus_client.CollectorRegistry()
        self.requests = prometheus_client.Counter(
            "pagelight_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = prometheus_client.Histogram(
            "pagelight_request_seconds",
            "Time from a request to the end of its response.",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.running = prometheus_client.Gauge(
            "pagelight_requests_running", "Requests being answered.", registry=self.registry
        )
        self.tokens = prometheus_client.Counter(
            "pagelight_tokens", "Tokens sent to and received from models.", ["kind"], registry=self.registry
        )
        prometheus_client.ProcessCollector(registry=self.registry)
        for collector in collectors:
            self.registry.register(collector)

    def count_tokens(self, usage: types.Usage) -> None:
        """Add the tokens of a request."""
        self.tokens.labels("input").inc(usage.input_tokens)
        self.tokens.labels("output").inc(usage.output_tokens)
        self.tokens.labels("embedding").inc(usage.embedding_tokens)

    def render(self) -> bytes:
        """Return the current metrics in Prometheus' text format."""
        return prometheus_client.generate_latest(self.registry)


class RequestLogger:
    """ASGI middleware that gives each request an id, measures and logs it."""

    def __init__(self, app: App, metrics: Metrics, logger: logging.Logger) -> None:
        """`logger` gets the lines; its name says which server it is."""
        self._app = app
        self._metrics = metrics
        self._logger = logger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["request_id"] = _request_id(scope)
        started = time.perf_counter()
        status = 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", state["request_id"].encode())]
            await send(message)

        with self._metrics.running.track_inprogress(), tracing.span("request", id=state["request_id"]) as step:
            try:
                await self._app(scope, receive, send_with_id)
            finally:
                route, status = _route(scope), state.get("status") or status
                step.add(method=scope["method"], route=route, status=status)
                self._record(scope, route, status, time.perf_counter() - started)

    def _record(self, scope: Scope, route: str, status: int, seconds: float) -> None:
        self._metrics.requests.labels(scope["method"], route, status).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        state = scope["state"]
        usage: types.Usage | None = state.get("usage")
        if usage:
            self._metrics.count_tokens(usage)
        self._logger.info(
            "request",
            extra={
                "request_id": state["request_id"],
                "user": state.get("user_id"),
                "key": state.get("key_id"),
                "method": scope["method"],
                "route": route,
                "status": status,
                "ms": round(seconds * 1000, 1),
                **(usage.model_dump(include={"input_tokens", "output_tokens", "embedding_tokens"}) if usage else {}),
            },
        )


def _route(scope: Scope) -> str:
    """Return the server's name of the route, or else its declared path, which contains no ids or client text."""
    return str(scope["state"].get("route") or getattr(scope.get("route"), "path", UNKNOWN_ROUTE))


def _request_id(scope: Scope) -> str:
    """Return the client's request id if it is valid, or else a new one."""
    given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
    return given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex

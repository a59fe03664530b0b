"""What happens, for those who run the server: a line per request, and figures for Prometheus.

Neither has a word of a document, a question or a key.
"""

import logging
import re
import time
import uuid

import prometheus_client
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag.types import Usage

logger = logging.getLogger("rag.api.requests")

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""What a client may call its request."""

UNKNOWN_ROUTE = "unknown"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60)


class Metrics:
    """Counters of one application."""

    def __init__(self) -> None:
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

    def count_tokens(self, usage: Usage) -> None:
        """Add what a request cost."""
        self.tokens.labels("input").inc(usage.input_tokens)
        self.tokens.labels("output").inc(usage.output_tokens)
        self.tokens.labels("embedding").inc(usage.embedding_tokens)

    def render(self) -> bytes:
        """The present figures as Prometheus reads them."""
        return prometheus_client.generate_latest(self.registry)


class Observer:
    """Names, times, counts and logs each request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["request_id"] = _request_id(scope)
        started = time.perf_counter()
        status = 500

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = state["request_id"]
            await send(message)

        with self._metrics.running.track_inprogress():
            try:
                await self._app(scope, receive, send_named)
            finally:
                self._note(scope, status, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", UNKNOWN_ROUTE)
        self._metrics.requests.labels(scope["method"], route, status).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        state = scope["state"]
        usage: Usage | None = state.get("usage")
        if usage:
            self._metrics.count_tokens(usage)
        logger.info(
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


def _request_id(scope: Scope) -> str:
    """The client's name for the request if it has a harmless one, else a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and REQUEST_ID.fullmatch(value.decode("latin-1")):
            return str(value.decode("latin-1"))
    return uuid.uuid4().hex

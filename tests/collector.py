"""A local trace collector that accepts OpenTelemetry's OTLP over HTTP."""

import gzip
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Spans:
    """The received spans by name."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.all: list[Any] = []
        self.paths: set[str] = set()

    def named(self, name: str) -> list[Any]:
        """Return all spans of this name, ordered by start."""
        found = [span for span in self.all if span.name == name]
        return sorted(found, key=lambda span: int(span.start_time_unix_nano))

    def one(self, name: str) -> Any:
        """Return the only span of this name."""
        (span,) = self.named(name)
        return span

    def parent(self, span: Any) -> str | None:
        """Return the name of the span's parent; None for the root."""
        found = [other.name for other in self.all if other.span_id == span.parent_span_id]
        assert len(found) == bool(span.parent_span_id), f"{span.name} has a parent that was not sent"
        return found[0] if found else None

    def words(self) -> str:
        """Return every name, value, event and message that was received."""
        return "\n".join(map(str, self.all))


def attributes(span: Any) -> dict[str, Any]:
    """Return a span's attributes without our prefix."""
    return {
        item.key.removeprefix("pagelight."): getattr(item.value, item.value.WhichOneof("value"))
        for item in span.attributes
    }


@contextmanager
def collecting() -> Iterator[Spans]:
    """Run a collector during the block."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers["content-encoding"] == "gzip":
                body = gzip.decompress(body)
            sent = ExportTraceServiceRequest.FromString(body)
            spans.paths.add(self.path)
            spans.all += [span for of in sent.resource_spans for scope in of.scope_spans for span in scope.spans]
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        spans = Spans(f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield spans
        server.shutdown()

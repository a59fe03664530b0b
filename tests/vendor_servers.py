"""Local HTTP servers with the wire formats of OpenAI and Gemini, which can fail as vendors do.

A server answers normally unless a fault is queued, and records its requests.
"""

import base64
import hashlib
import json
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NATURAL_DIMENSIONS = {"nomic-embed-text": 768}
"""Dimensions by model, where they differ from OpenAI's."""

SLOW_SECONDS = 20.0
"""Duration of a slow answer in seconds; a test that waits for it has failed."""

REPEAT_SECONDS = 0.02
"""Time between the pieces of an endless answer, as of a model that runs here: faster ones grow to megabytes."""


@dataclass(frozen=True)
class Refusal:
    """An error response in the vendor's format."""

    status: int
    message: str = "No."


@dataclass(frozen=True)
class Cut:
    """Close the connection after a number of stream pieces; 0: before any answer."""

    after: int = 0


@dataclass(frozen=True)
class Unfinished:
    """A well-formed stream without the vendor's end mark."""


@dataclass(frozen=True)
class Limited:
    """A well-formed stream that ends because the answer reached its length limit; `text` as a reply of `reply_to`."""

    text: str = ""


@dataclass(frozen=True)
class Slow:
    """Send nothing more after a number of stream pieces until the timeout; 0: nothing at all."""

    after: int = 0


@dataclass(frozen=True)
class Endless:
    """Repeat the first piece of a stream until the client disconnects."""


@dataclass(frozen=True)
class Held:
    """Hold the answer back until the test releases it."""

    released: threading.Event


@dataclass(frozen=True)
class Paused:
    """Wait after a number of stream pieces until the test releases the rest."""

    after: int
    released: threading.Event


Fault = Refusal | Cut | Unfinished | Limited | Slow | Endless | Held | Paused


@dataclass(frozen=True)
class Request:
    """A received request."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass
class VendorServer:
    """A running server's script and log. `pieces` are the pieces of the model's answer.

    `faults` are those of the next requests, None for one that is answered normally. `thoughts` precede the answer in a
    field of their own; `replies` are earlier answers, one per request; `reply_to` answers the last message of a request
    of OpenAI's instead, also with a refusal or a text that is cut off. `pages` are further GET responses by path,
    `redirects` redirects by path; `looked` are the paths requested that way. `left` is set when a client disconnects
    before its answer is complete.
    """

    url: str = ""
    pieces: list[str] = field(default_factory=lambda: ["Apples ", "are red ", "[S1]."])
    thoughts: list[str] = field(default_factory=list)
    replies: deque[str] = field(default_factory=deque)
    reply_to: Callable[[str], "str | Refusal | Limited"] | None = None
    faults: deque[Fault | None] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)
    pages: dict[str, object] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    looked: list[str] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)

    def said(self) -> list[str]:
        """Return the pieces of the model's answer to a request."""
        return [self.replies.popleft()] if self.replies else self.pieces

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of all requests."""
        return [request.body for request in self.requests]


def listed(*models: str, **more: object) -> dict[str, object]:
    """OpenAI's list of models; `more` has additional fields for each."""
    rows = [{"id": name, "object": "model", "created": 1, "owned_by": "somebody", **more} for name in models]
    return {"object": "list", "data": rows}


def vector(text: str, dimensions: int) -> list[float]:
    """Return a vector for `text`, longer than 1."""
    digest = hashlib.sha256(text.encode()).digest()
    return [float(digest[index % len(digest)] - 127) for index in range(dimensions)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: VendorServer

    def do_GET(self) -> None:
        self.tell()

    def tell(self) -> None:
        """Answer a GET request."""
        self.script.looked.append(self.path)
        page = self.script.pages.get(self.path)
        if isinstance(page, Slow):
            self.script.closing.wait(SLOW_SECONDS)
            self.close_connection = True
        elif self.path in self.script.redirects:
            self.send_response(307)
            self.send_header("Location", self.script.redirects[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif page is None:
            self.send_json({"error": "not found"}, 404)
        else:
            self.send_json(page)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length))
        if self.path in self.script.pages or self.path.startswith("/api/"):
            self.tell()
            return
        self.script.requests.append(Request(self.path, dict(self.headers.items()), body))
        fault = self.fault(is_stream=bool(body.get("stream")) or ":stream" in self.path)
        match fault:
            case Refusal():
                self.send_json(self.refusal(fault), fault.status)
            case Slow(after=0):
                self.script.closing.wait(SLOW_SECONDS)
                self.close_connection = True
            case Cut(after=0):
                self.close_connection = True
            case Held():
                if fault.released.wait(SLOW_SECONDS):
                    self.answer(body, None)
                else:
                    self.close_connection = True
            case _:
                self.answer(body, fault)

    def fault(self, *, is_stream: bool) -> Fault | None:
        """Return the next fault, if any; an endless or paused stream waits for a streaming request."""
        faults = self.script.faults
        return faults.popleft() if faults and (is_stream or not isinstance(faults[0], Endless | Paused)) else None

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.script.left.set()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Print nothing."""

    def send_json(self, value: object, status: int = 200) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def send_events(self, events: list[str], fault: Fault | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        count = fault.after if isinstance(fault, Cut | Slow) else 1 if isinstance(fault, Endless) else len(events)
        for number, event in enumerate(events[:count]):
            if isinstance(fault, Paused) and number == fault.after:
                fault.released.wait(SLOW_SECONDS)
            self.send_event(event)
        while isinstance(fault, Endless) and not self.script.closing.wait(REPEAT_SECONDS):
            self.send_event(events[0])
        if isinstance(fault, Slow):
            self.script.closing.wait(SLOW_SECONDS)
        if isinstance(fault, Cut | Slow):
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def send_event(self, event: str) -> None:
        content = f"data: {event}\n\n".encode()
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")

    def refusal(self, fault: Refusal) -> object:
        raise NotImplementedError

    def answer(self, body: dict[str, Any], fault: Fault | None) -> None:
        raise NotImplementedError


class _OpenAIHandler(_Handler):
    pieces: list[str]

    def refusal(self, fault: Refusal) -> object:
        return {"error": {"message": fault.message, "type": "error", "param": None, "code": None}}

    def answer(self, body: dict[str, Any], fault: Fault | None) -> None:
        if self.path.endswith("/embeddings"):
            self.send_json(self.embeddings(body))
            return
        reply = self.script.reply_to(body["messages"][-1]["content"]) if self.script.reply_to else None
        if isinstance(reply, Refusal):
            self.send_json(self.refusal(reply), reply.status)
            return
        if isinstance(reply, Limited):
            fault, reply = reply, reply.text
        self.pieces = self.script.said() if reply is None else [reply]
        if body.get("stream"):
            self.send_events(self.events(body, fault), fault)
        else:
            message = {"role": "assistant", "content": "".join(self.pieces)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self.send_json({**self.head(body, "chat.completion"), "choices": [choice], "usage": self.usage()})

    def embeddings(self, body: dict[str, Any]) -> object:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        rows = []
        for index, text in enumerate(texts):
            values = vector(text, body.get("dimensions", NATURAL_DIMENSIONS.get(body["model"], 1536)))
            packed = base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
            embedding = packed if body.get("encoding_format") == "base64" else values
            rows.append({"object": "embedding", "index": index, "embedding": embedding})
        return {
            "object": "list",
            "model": body["model"],
            "data": rows,
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }

    def events(self, body: dict[str, Any], fault: Fault | None) -> list[str]:
        deltas = [{"reasoning_content": piece} for piece in self.script.thoughts]
        deltas += [{"content": piece} for piece in self.pieces]
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        if not isinstance(fault, Unfinished):
            reason = "length" if isinstance(fault, Limited) else "stop"
            chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
            if body.get("stream_options"):
                chunks.append({"choices": [], "usage": self.usage()})
        events = [json.dumps({**self.head(body, "chat.completion.chunk"), **chunk}) for chunk in chunks]
        return [*events, "[DONE]"]

    def head(self, body: dict[str, Any], kind: str) -> dict[str, Any]:
        return {"id": "1", "object": kind, "created": 1, "model": body["model"]}

    def usage(self) -> dict[str, int]:
        return {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


class _GeminiHandler(_Handler):
    NATURAL_DIMENSIONS = 3072

    def refusal(self, fault: Refusal) -> object:
        return {"error": {"code": fault.status, "message": fault.message, "status": "ERROR"}}

    def answer(self, body: dict[str, Any], fault: Fault | None) -> None:
        if ":batchEmbedContents" in self.path:
            self.send_json({"embeddings": [{"values": self.embedding(item)} for item in body["requests"]]})
        elif ":streamGenerateContent" in self.path:
            self.send_events(self.events(fault), fault)
        else:
            self.send_json(self.candidate("".join(self.script.said()), "STOP"))

    def embedding(self, item: dict[str, Any]) -> list[float]:
        text = item["content"]["parts"][0]["text"]
        return vector(text, item.get("outputDimensionality", self.NATURAL_DIMENSIONS))

    def events(self, fault: Fault | None) -> list[str]:
        *pieces, last = self.script.said()
        reason = {Unfinished: None, Limited: "MAX_TOKENS"}.get(type(fault), "STOP")
        return [*(json.dumps(self.candidate(piece)) for piece in pieces), json.dumps(self.candidate(last, reason))]

    def candidate(self, text: str, reason: str | None = None) -> dict[str, Any]:
        candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": [{"text": text}]}}
        if reason:
            candidate["finishReason"] = reason
        usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
        return {"candidates": [candidate], "usageMetadata": usage}


@contextmanager
def _serve(handler: type[_Handler], path: str) -> Iterator[VendorServer]:
    script = VendorServer()
    bound = type("BoundHandler", (handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), bound)
    script.url = f"http://127.0.0.1:{server.server_port}{path}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield script
    finally:
        script.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def openai_server() -> Iterator[VendorServer]:
    """A server of OpenAI's chat completions and embeddings."""
    with _serve(_OpenAIHandler, "/v1") as script:
        yield script


@contextmanager
def gemini_server() -> Iterator[VendorServer]:
    """A server of Gemini's generateContent, streamGenerateContent and batchEmbedContents."""
    with _serve(_GeminiHandler, "") as script:
        yield script

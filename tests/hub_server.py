"""A model hub on this machine that speaks Hugging Face's wire format for one model.

The addresses are those that huggingface_hub asks: https://huggingface.co/docs/hub/api, and `/resolve/` for files.
"""

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

REVISION = "0123456789abcdef0123456789abcdef01234567"
LARGE_BYTES = 100_000
"""Larger files are stored in LFS, with their SHA-256 as name."""


@dataclass
class HubServer:
    """A running hub. A file of `damaged` loses its last byte's value, one of `cut` ends after half of its bytes."""

    url: str
    repository: str
    files: Mapping[str, Path]
    damaged: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    status: int = 200
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def sent(self, path: str) -> int:
        """Return how often the content of a file was asked for."""
        return sum(1 for asked, _ in self.requests if asked.startswith("GET") and asked.endswith(f"/{path}"))


@contextmanager
def serve(repository: str, files: Mapping[str, Path]) -> Iterator[HubServer]:
    """Serve `files` (by path in the repository) as the model `repository`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        hub = HubServer(f"http://127.0.0.1:{server.server_port}", repository, files)
        server.hub = hub  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield hub
        server.shutdown()
        thread.join()


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        hub: HubServer = self.server.hub  # type: ignore[attr-defined]
        model, resolve = f"/api/models/{hub.repository}", f"/{hub.repository}/resolve/{REVISION}/"
        path = self.path.partition("?")[0]
        hub.requests.append((f"{self.command} {path}", dict(self.headers)))
        if hub.status != 200:
            self._json({"error": "Service unavailable"}, hub.status)
        elif path.startswith(f"{model}/tree/"):
            self._json([_entry(name, file) for name, file in hub.files.items()])
        elif path == model or path.startswith(f"{model}/revision/"):
            siblings = [{"rfilename": name} for name in hub.files]
            self._json({"id": hub.repository, "modelId": hub.repository, "sha": REVISION, "siblings": siblings})
        elif path.startswith(resolve) and (name := path.removeprefix(resolve)) in hub.files:
            self._file(hub, name)
        else:
            self._json({"error": "Repository not found"}, 404)

    do_HEAD = do_GET  # noqa: N815 – so it is called

    def _json(self, value: object, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        if status == 404:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def _file(self, hub: HubServer, name: str) -> None:
        content = hub.files[name].read_bytes()
        start = int(found[1]) if (found := re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))) else 0
        self.send_response(206 if start else 200)
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("ETag", f'"{_name(content)}"')
        self.send_header("Content-Length", str(len(content) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        if self.command == "GET":
            if name in hub.damaged:
                content = content[:-1] + bytes([content[-1] ^ 1])
            if name in hub.cut:
                self.wfile.write(content[start : len(content) // 2])
                self.close_connection = True
                return
            self.wfile.write(content[start:])

    def log_message(self, *_: object) -> None:
        pass


def _entry(name: str, file: Path) -> dict[str, object]:
    content = file.read_bytes()
    entry: dict[str, object] = {"type": "file", "path": name, "size": len(content), "oid": _git_name(content)}
    if len(content) > LARGE_BYTES:
        entry["lfs"] = {"oid": _name(content), "size": len(content), "pointerSize": 134}
    return entry


def _name(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest() if len(content) > LARGE_BYTES else _git_name(content)


def _git_name(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

"""A local HTTP server for the parts of Google Drive v3 that reading folders needs, and for its tokens."""

import json
import re
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

TOKEN_PATH = "/token"
ACCESS_TOKEN = "ya29.a-token-of-an-hour"
FOLDER = "application/vnd.google-apps.folder"
SHORTCUT = "application/vnd.google-apps.shortcut"
IN_PARENTS = re.compile(r"'([\w-]+)' in parents and trashed = false")


@dataclass
class Drive:
    """The server's contents. `pdf` is the export of a Doc or presentation; `page_size` limits list pages.

    `refusals` are sent first, each once: a status and a message.
    """

    url: str = ""
    page_size: int = 2
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    refusals: deque[tuple[int, str]] = field(default_factory=deque)
    requests: list[str] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)

    def add(
        self, file_id: str, name: str, mime_type: str, parent: str, content: bytes | None = None, **more: Any
    ) -> None:
        """Put a file or folder into a folder."""
        self.files[file_id] = {"id": file_id, "name": name, "mimeType": mime_type, "parents": [parent], **more}
        if content is not None:
            self.contents[file_id] = content

    def children(self, folder_id: str) -> list[dict[str, Any]]:
        """Return the contents of a folder."""
        return [item for item in self.files.values() if folder_id in item["parents"]]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    drive: Drive

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_json({"access_token": ACCESS_TOKEN, "expires_in": 3600, "token_type": "Bearer"})

    def do_GET(self) -> None:
        self.drive.requests.append(self.path)
        self.drive.tokens.add(self.headers.get("Authorization", ""))
        if self.drive.refusals:
            self.refuse(*self.drive.refusals.popleft())
            return
        parts = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        path = parts.path.removeprefix("/drive/v3/files").strip("/")
        file_id, _, action = path.partition("/")
        if not file_id:
            self.send_list(asked)
        elif file_id not in self.drive.files:
            self.refuse(404, f"File not found: {file_id}.")
        elif action == "export":
            is_app = self.drive.files[file_id]["mimeType"].startswith("application/vnd.google-apps.")
            assert (is_app, asked["mimeType"]) == (True, "application/pdf")
            self.send_content(self.drive.contents[file_id], "application/pdf")
        elif asked.get("alt") == "media":
            if self.drive.files[file_id]["mimeType"].startswith("application/vnd.google-apps."):
                self.refuse(403, "Only files with binary content can be directly downloaded.")
            else:
                self.send_content(self.drive.contents[file_id], self.drive.files[file_id]["mimeType"])
        else:
            self.send_json(self.drive.files[file_id])

    def send_list(self, asked: dict[str, str]) -> None:
        match = IN_PARENTS.fullmatch(asked["q"])
        assert match is not None
        found = self.drive.children(match[1])
        start = int(asked.get("pageToken", 0))
        end = start + self.drive.page_size
        more = {"nextPageToken": str(end)} if end < len(found) else {}
        self.send_json({"files": found[start:end], **more})

    def refuse(self, status: int, message: str) -> None:
        self.send_json({"error": {"code": status, "message": message, "errors": [{"message": message}]}}, status)

    def send_json(self, value: object, status: int = 200) -> None:
        self.send_content(json.dumps(value).encode(), "application/json; charset=UTF-8", status)

    def send_content(self, content: bytes, mime_type: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", mime_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def drive_server() -> Iterator[Drive]:
    """Yield a Drive with one empty folder, whose id is `root`."""
    drive = Drive()
    drive.add("root", "Reports", FOLDER, "")
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (_Handler,), {"drive": drive}))
    drive.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield drive
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@cache
def private_key() -> str:
    """Return a short RSA key, since each client verifies it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    pem, pkcs8, clear = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(pem, pkcs8, clear).decode()


def service_account(folder: Path, url: str) -> Path:
    """Return the key file of a service account whose tokens come from the server at `url`."""
    path = folder / "service-account.json"
    account = {
        "type": "service_account",
        "project_id": "orchard",
        "private_key_id": "1",
        "private_key": private_key(),
        "client_email": "reader@orchard.example",
        "token_uri": url + TOKEN_PATH,
    }
    path.write_text(json.dumps(account))
    return path

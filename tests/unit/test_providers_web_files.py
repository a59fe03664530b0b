"""Fetching a file from an address that somebody typed: what is asked for, and what never is."""

import contextlib
import ipaddress
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rag import errors
from rag.providers import WebDownloader, is_public

PDF = b"%PDF-1.7 not really"
MEGABYTE = 1024 * 1024


class Site(BaseHTTPRequestHandler):
    """A web site with a report, a page, something endless, and redirects."""

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["host"]))  # type: ignore[attr-defined]
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("location", self.path.removeprefix("/to/"))
            self.end_headers()
            return
        if self.path == "/gone":
            self.send_error(404)
            return
        kinds = {"/page": "text/html; charset=utf-8", "/named": "application/octet-stream"}
        self.send_response(200)
        self.send_header("content-type", kinds.get(self.path, "application/pdf"))
        if self.path == "/named":
            self.send_header("content-disposition", 'attachment; filename="../Annual report.pdf"')
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            for _ in range(3 if self.path == "/large.pdf" else 0):
                self.wfile.write(b"x" * MEGABYTE)
            self.wfile.write(PDF)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def site() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        server.asked = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def fetched(site: ThreadingHTTPServer, path: str, *, allows: bool = True) -> tuple[str, bytes]:
    web = WebDownloader(2, allows=lambda _: allows)
    with web.fetch(f"http://localhost:{site.server_port}{path}") as file:
        assert Path(file.path).is_file()
        return file.name, file.path.read_bytes()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/report.pdf?year=2", "report.pdf"),
        ("/page", "page.html"),
        ("/named", "../Annual report.pdf"),
        ("/", "localhost.pdf"),
        ("/to//to//annual%20report.pdf", "annual report.pdf"),
    ],
)
def test_a_file_is_fetched_and_called_as_the_site_calls_it(site: ThreadingHTTPServer, path: str, name: str) -> None:
    assert fetched(site, path) == (name, PDF)
    assert {host for _, host in site.asked} == {f"localhost:{site.server_port}"}  # type: ignore[attr-defined]


def test_nothing_is_asked_of_a_host_that_is_not_public(site: ThreadingHTTPServer) -> None:
    with pytest.raises(errors.ForbiddenError, match="not on the public Internet"):
        fetched(site, "/report.pdf", allows=False)
    with (
        pytest.raises(errors.ForbiddenError, match="169"),
        WebDownloader(2, allows=lambda one: one.is_loopback).fetch(
            f"http://localhost:{site.server_port}/to/http://169.254.169.254/latest/meta-data"
        ),
    ):
        pass
    assert len(site.asked) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/large.pdf", errors.LimitError),
        ("/gone", errors.SourceError),
        ("/to/" * 9, errors.SourceError),
        ("/to/ftp://localhost/x", errors.ValidationError),
        ("/to/file:///etc/passwd", errors.ValidationError),
    ],
)
def test_what_cannot_be_had_is_refused(site: ThreadingHTTPServer, path: str, error: type[errors.Error]) -> None:
    with pytest.raises(error):
        fetched(site, path)


@pytest.mark.parametrize(
    "address", ["ftp://example.com/x", "file:///etc/passwd", "https://a:b@example.com/", "http://"]
)
def test_only_addresses_of_the_web_are_taken(address: str) -> None:
    with pytest.raises(errors.ValidationError), WebDownloader(2).fetch(address):
        pass


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("fec0::1", False),
        ("5f00::1", False),
        ("2001:0:4136:e378:8000:63bf:80ff:fffe", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_public_addresses_are_told_from_others(address: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is public

"""What pages of other sites in the same browser cannot do, and what a client cannot say of itself, to real servers."""

import http.client
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from rag.engine import RAGEngine
from tests.acceptance import api
from tests.acceptance.serving import PATIENCE_SECONDS, serving
from tests.waiting import eventually

HANDSHAKE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}
STREAM = "/_stcore/stream"
OWN_NAMES = ["localhost", "LOCALHOST", "127.0.0.1", "[::1]", "192.0.2.7"]
"""Addresses are allowed, as no page can have its name turned into one."""
FOREIGN_NAMES = [
    *("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:80@localhost"),
    *("127.0.0.1]", "[fe80::1%evil.example]"),
]
PATHS = [
    *("/", "/_stcore/health", "/_stcore/host-config", "/media/a.png", "/component/a/b.html", "/app/static/a.png"),
    *("/_stcore/agent/openapi.json", "/reading/00000000-0000-0000-0000-000000000000", "/api/health", "/api/documents"),
]
REFUSED = 421
WRONG_KEYS = 30
SERVERS = [(("serve",), ""), (("mcp", "--http"), "/mcp"), (("run", "--no-browser"), "/api")]

pytestmark = pytest.mark.timeout(4 * PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def app(shared_settings: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of the app, which has no login and may also be opened as reports.example."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RAG_WORKER", "false")
        environment.setenv("RAG_ALLOWED_HOSTS", "reports.example, Intranet")
        with serving(tmp_path_factory.mktemp("app") / "log", "run", "--no-browser") as port:
            assert eventually(lambda: status(port, "/api/health") == 200)
            yield port


def status(port: int, path: str, method: str = "GET", *, host: str = "localhost", **headers: str) -> int:
    """The status of a response to a request for any host."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    given = {"host": f"{host}:{port}", **headers}
    connection.request(method, path, headers=given)
    try:
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", FOREIGN_NAMES)
def test_a_name_that_somebody_else_may_own_opens_nothing(app: int, host: str, path: str) -> None:
    assert status(app, path, host=host) == REFUSED
    assert status(app, path, "PUT", host=host) == REFUSED


def test_a_file_cannot_be_uploaded_by_a_foreign_name(app: int) -> None:
    assert status(app, "/_stcore/upload_file/session/file", "PUT", host="evil.example") == REFUSED


@pytest.mark.parametrize("host", [*OWN_NAMES, "reports.example", "intranet"])
def test_the_names_of_this_machine_and_of_the_settings_open_the_app(app: int, host: str) -> None:
    assert status(app, "/", host=host) == 200
    assert status(app, "/_stcore/health", host=host) == 200
    assert status(app, STREAM, host=host, origin=f"http://{host}:{app}", **HANDSHAKE) == 101


@pytest.mark.parametrize("host", FOREIGN_NAMES)
def test_a_web_socket_needs_a_known_host(app: int, host: str) -> None:
    assert status(app, STREAM, host=host, origin=f"http://{host}:{app}", **HANDSHAKE) == 403
    assert status(app, STREAM, host=host, **HANDSHAKE) == 403


@pytest.mark.parametrize(
    "origin",
    [
        *("http://localhost:{other}", "http://127.0.0.1:{port}", "http://localhost", "http://evil.example:{port}"),
        *("http://reports.example", "null", ""),
    ],
)
def test_a_web_socket_needs_a_page_of_the_same_host_and_port(app: int, origin: str) -> None:
    origin = origin.format(port=app, other=app + 1)
    assert status(app, STREAM, origin=origin, **HANDSHAKE) == 403


def test_a_program_opens_a_web_socket_without_an_origin(app: int) -> None:
    assert status(app, STREAM, **HANDSHAKE) == 101


def test_the_refusal_says_what_to_do(app: int) -> None:
    response = httpx.get(f"http://127.0.0.1:{app}/", headers={"host": "evil.example"})
    assert api.error_of(response) == (REFUSED, "forbidden")
    assert "RAG_ALLOWED_HOSTS" in response.json()["error"]["message"]


def test_the_agent_interface_of_streamlit_is_off(app: int) -> None:
    assert httpx.post(f"http://127.0.0.1:{app}/_stcore/agent/interact", json={}).status_code == 403


@pytest.mark.parametrize("path", [*PATHS, "/api/openapi.json"])
def test_no_other_site_may_frame_what_the_app_serves(app: int, path: str) -> None:
    headers = httpx.get(f"http://127.0.0.1:{app}{path}", timeout=PATIENCE_SECONDS).headers
    assert headers["content-security-policy"] == "frame-ancestors 'self'"
    assert headers["x-frame-options"] == "SAMEORIGIN"


@pytest.mark.usefixtures("settings")
def test_the_mcp_server_has_the_same_list_of_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_API_KEY", api.SHARED_KEY)
    monkeypatch.setenv("RAG_ALLOWED_HOSTS", "reports.example")
    key = {"x-api-key": api.SHARED_KEY, "content-type": "application/json"}
    with serving(tmp_path / "log", "mcp", "--http") as port:
        assert status(port, "/mcp", "POST", host="evil.example", **key) == REFUSED
        assert status(port, "/mcp", "POST", host="reports.example", **key) != REFUSED


# --- who asks ---


@pytest.fixture
def engine(settings: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[RAGEngine]:
    """The engine over the database of the servers, which have a shared key."""
    monkeypatch.setenv("RAG_API_KEY", api.SHARED_KEY)
    monkeypatch.setenv("RAG_WORKER", "false")
    with api.open_engine(database_url, settings) as opened:
        yield opened


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("arguments", "path"), SERVERS, ids=["REST", "MCP", "the app"])
def test_the_limit_of_wrong_keys_counts_the_sender_whatever_address_it_gives(
    arguments: tuple[str, ...], path: str, tmp_path: Path
) -> None:
    with serving(tmp_path / "log", *arguments) as port:
        assert eventually(lambda: last_of_wrong_keys(f"http://127.0.0.1:{port}{path}") == 429)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("arguments", "path"), SERVERS, ids=["REST", "MCP", "the app"])
def test_a_trusted_proxy_is_believed(
    arguments: tuple[str, ...], path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "127.0.0.1, 192.0.2.0/24")
    with serving(tmp_path / "log", *arguments) as port:
        assert last_of_wrong_keys(f"http://127.0.0.1:{port}{path}") == 401


def last_of_wrong_keys(url: str) -> int:
    """The status of the last of more wrong keys than an address may send, each for another client."""
    with httpx.Client(trust_env=False, timeout=PATIENCE_SECONDS) as web:
        for number in range(WRONG_KEYS + 1):
            headers = {"x-api-key": "wrong", "x-forwarded-for": f"198.51.100.{number}"}
            path = url if url.endswith("/mcp") else f"{url}/documents"
            answered = web.get(path, headers=headers).status_code
    return answered


@pytest.mark.parametrize(("trusted", "address"), [(None, "127.0.0.1"), ("127.0.0.1", "198.51.100.9")])
def test_the_audit_has_the_address_of_the_sender(
    engine: RAGEngine, trusted: str | None, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = api.take_in(engine, ("harbour.pdf",))["harbour.pdf"]
    if trusted:
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", trusted)
    headers = {"x-forwarded-for": "198.51.100.9"}
    with serving(tmp_path / "log", "serve") as port, api.client(f"http://127.0.0.1:{port}", **headers) as web:
        assert web.delete(f"/documents/{document_id}").status_code == 204
        assert web.get("/audit").json()["items"][0]["address"] == address


@pytest.mark.usefixtures("settings")
def test_a_forwarded_request_without_a_key_is_not_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_WORKER", "false")
    with serving(tmp_path / "log", "serve") as port, api.client(f"http://127.0.0.1:{port}", None) as web:
        assert web.get("/documents").status_code == 200
        assert web.get("/documents", headers={"x-forwarded-for": "127.0.0.1"}).status_code == 200
        assert web.get("/documents", headers={"x-forwarded-for": "127.0.0.1, 198.51.100.9"}).status_code == 403
        assert web.get("/health").headers["x-frame-options"] == "SAMEORIGIN"

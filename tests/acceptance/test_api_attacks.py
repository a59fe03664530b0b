"""What people try who mean harm. Each attempt gets its documented error, and the server lives on."""

import contextlib
import os
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient

from rag.api import create_app
from rag.api.limits import MAX_JSON_BYTES
from rag.engine import RAGEngine
from tests import pdfs
from tests.acceptance import api


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def engine(shared_database_url: str, data_dir: Path) -> Iterator[RAGEngine]:
    with api.open_engine(shared_database_url, data_dir, rag_upload_timeout_seconds=2.0) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _lives_on(web: httpx.Client) -> Iterator[None]:
    """After each attempt the server answers as before."""
    yield
    assert web.get("/health").json() == {"ok": True}


def send_raw(base_url: str, *parts: bytes) -> bytes:
    """What the server answers to these bytes."""
    address = urlsplit(base_url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        for part in parts:
            try:
                connection.sendall(part)
            except (BrokenPipeError, ConnectionResetError):
                break  # refused already: the answer is there
        answer = b""
        try:
            while piece := connection.recv(65536):
                answer += piece
                if b"\r\n\r\n" in answer and b'"details":{}}}' in answer:
                    break
        except ConnectionResetError:
            pass
        return answer


def head(path: str, *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"x-api-key: {api.SHARED_KEY}", *headers, "", ""]
    return "\r\n".join(lines).encode()


# --- sizes ---


def test_a_large_upload_is_refused_by_its_declared_length(base_url: str) -> None:
    form = "Content-Type: multipart/form-data; boundary=x"
    answer = send_raw(base_url, head("/documents", form, f"Content-Length: {2 * 1024**3}"), b"--x\r\n")
    assert answer.startswith(b"HTTP/1.1 413")
    assert b'"success":false' in answer


def test_a_large_upload_is_refused_while_it_comes(engine: RAGEngine) -> None:
    """Two gigabytes in chunks, without a declared length: refused when the limit is passed."""
    piece = os.urandom(1024 * 1024)
    sent = 0

    def body() -> Iterator[bytes]:
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
        for _ in range(2048):
            sent += len(piece)
            yield piece

    resources = engine.installation
    patient = RAGEngine(
        engine.config.model_copy(update={"rag_upload_timeout_seconds": 600.0}),
        store=resources.store,
        files=resources.files,
    )
    with api.serving(patient) as url, api.client(url) as web:
        with contextlib.suppress(httpx.WriteError):  # the server hangs up in the middle of a piece
            web.post("/documents", content=body(), headers={"content-type": "multipart/form-data; boundary=x"})
        assert 'pagelight_requests_total{method="POST",route="/documents",status="413"} 1.0' in web.get("/metrics").text
    limit = engine.config.rag_parsing.max_file_mb
    assert limit - 1 <= sent / len(piece) <= limit + 64  # what was under way when the limit was passed


@pytest.mark.parametrize(("beyond", "status"), [(0, 202), (1, 422)])
def test_the_largest_file_is_that_of_every_other_door(engine: RAGEngine, beyond: int, status: int) -> None:
    resources = engine.installation
    parsing = engine.config.rag_parsing.model_copy(update={"max_file_mb": 1})
    config = engine.config.model_copy(update={"rag_parsing": parsing})
    content = pdfs.plain().ljust(1024 * 1024 + beyond)
    small = RAGEngine(config, store=resources.store, files=resources.files)
    with api.serving(small) as url, api.client(url) as web:
        response = web.post("/documents", files={"file": ("large.pdf", content)})
    assert response.status_code == status, response.text
    if status == 202:
        assert small.documents.process(response.json()["id"]).status == "ready"


def test_a_large_question_is_refused(web: httpx.Client) -> None:
    response = web.post("/ask", json={"question": "x" * (MAX_JSON_BYTES + 1)})
    assert response.status_code == 413
    assert api.error_of(response) == (413, "content_too_large")


def test_a_stalled_body_times_out(base_url: str) -> None:
    answer = send_raw(base_url, head("/ask", "Content-Type: application/json", "Content-Length: 100"), b'{"que')
    assert answer.startswith(b"HTTP/1.1 408")


# --- JSON ---


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"question":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"question": ' + b"9" * 1_000_000 + b"}",
        b'{"question": 1e999999}',
        b'{"question": "\\ud800"}',
        b'{"question": "\xff\xfe"}',
        b'{"question": NaN}',
        b'{"question": "x", "question": ["y"]}',
        b"\x00" * 1000,
        b"",
        b"null",
    ],
)
def test_json_bombs_and_nonsense(web: httpx.Client, body: bytes) -> None:
    response = web.post("/ask", content=body, headers={"content-type": "application/json"})
    assert api.error_of(response)[0] in {400, 422}


@pytest.mark.parametrize("body", [b"{", b"nonsense", b'{"question": "x"', b'{"question": "\xff"}', b"[" * 100_000])
@pytest.mark.parametrize("path", ["/ask", "/retrieve"])
def test_malformed_json_is_refused(web: httpx.Client, path: str, body: bytes) -> None:
    response = web.post(path, content=body, headers={"content-type": "application/json"})
    assert api.error_of(response) == (400, "bad_request")
    assert "valid JSON" in response.json()["error"]["message"]


def test_a_form_of_another_site_is_no_json(web: httpx.Client) -> None:
    response = web.post("/ask", content=b'{"question": "x"}', headers={"content-type": "text/plain"})
    assert api.error_of(response) == (422, "validation")


# --- names and paths ---

HOSTILE_NAMES = [
    "../../../../etc/cron.d/evil.pdf",
    "..\\..\\windows\\evil.pdf",
    "/etc/passwd.pdf",
    "a\r\nSet-Cookie: owned=1.pdf",
    "a\x00.pdf",
    "<img src=x onerror=alert(1)>.pdf",
    "\u202efdp.exe.pdf",
    "a" * 5000 + ".pdf",
    '";evil=".pdf',
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_file_name_leads_nowhere(web: httpx.Client, engine: RAGEngine, data_dir: Path, name: str) -> None:
    content = pdfs.plain([f"named {name!r}"[:80]])
    response = web.post("/documents", files={"file": (name, content)})
    if response.status_code in {400, 422}:  # a name too long for a form's head is a form that cannot be read
        api.error_of(response)
        return
    assert response.status_code == 202, response.text
    kept = response.json()["name"]
    assert "/" not in kept
    assert "\\" not in kept
    assert kept.isprintable()
    served = web.get(f"/documents/{response.json()['id']}/content")
    assert served.content == content
    assert "set-cookie" not in served.headers
    assert served.headers["content-disposition"].startswith("attachment; ")
    assert all(path.resolve().is_relative_to(data_dir.resolve()) for path in data_dir.rglob("*"))


@pytest.mark.parametrize(
    "path",
    [
        "/documents/../../etc/passwd",
        "/documents/..%2f..%2fetc%2fpasswd/content",
        "/documents/%00/content",
        "/documents/1%27%20OR%20%271%27=%271/content",
        "/indexes/..%2f..%2fetc",
        "/indexes/x';DROP TABLE documents;--",
        "//etc/passwd",
    ],
)
def test_an_address_leads_nowhere(base_url: str, path: str) -> None:
    answer = send_raw(
        base_url,
        f"GET {path.replace(' ', '%20')} HTTP/1.1\r\nHost: localhost\r\nx-api-key: {api.SHARED_KEY}\r\n"
        "Connection: close\r\n\r\n".encode(),
    )
    assert answer.split(b" ", 2)[1] in {b"404", b"422"}
    assert b"root:" not in answer


def test_a_request_id_injects_nothing(web: httpx.Client) -> None:
    response = web.get("/jobs", headers={"x-request-id": "<script>alert(1)</script>"})
    assert "<script>" not in response.headers["x-request-id"]
    raw = b"GET /jobs HTTP/1.1\r\nHost: localhost\r\nx-request-id: a\rb: c\r\nConnection: close\r\n\r\n"
    assert b"\nb: c" not in send_raw(str(web.base_url), raw)


# --- files that are not what they say ---


# --- sources ---

SOURCES = [
    "/etc",
    "file:///etc",
    "http://169.254.169.254/latest/meta-data/",
    "http://127.0.0.1:5432/",
    "s3://bucket/key",
    "gdrive://folder",
    "../../",
    "zip://x.zip::http://localhost/",
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("permission", ["read", "write"])
def test_only_an_admin_has_the_server_read_folders(
    engine: RAGEngine, base_url: str, source: str, permission: str
) -> None:
    with api.client(base_url, api.key_of(engine, "mallory", permission)) as web:  # type: ignore[arg-type]  # a permission
        response = web.post("/reindex", json={"source": {"folderId": source}})
        assert api.error_of(response) == (403, "forbidden")
        assert web.get("/jobs").json()["items"] == []


@pytest.mark.parametrize(
    "source",
    [
        *("/etc", "/", "etc", "file:///etc", "local:///etc", "FILE:///etc", "memory://x", "http://127.0.0.1:1/"),
        *("gdrive://x", "data:text/plain,x", "zip://x::file:///etc/x.zip", "simplecache::file:///etc", "~"),
        *("{root}/..", "{root}/../", "{root}-beside", "{root}/link", "{root}/link/below", "file://{root}/../etc"),
        *("s3://bucket", "s3://bucket/reports/../other", "s3://bucket/reportsother", "s3://ada:pw@bucket/reports"),
        *("s3://bucket/reports/%2e%2e/other", "s3://bucket/reports\\..\\other", "S3://bucket/other"),
    ],
)
def test_an_admins_key_reads_no_folder_out_of_the_roots(rooted: tuple[RAGEngine, Path], source: str) -> None:
    engine, root = rooted
    client = TestClient(create_app(engine.installation), headers={"x-api-key": api.SHARED_KEY})
    response = client.post("/reindex", json={"source": {"folderId": source.replace("{root}", str(root))}})
    assert api.error_of(response) == (403, "forbidden")
    assert engine.store.jobs.list() == []


def test_a_link_out_of_the_roots_is_not_followed(rooted: tuple[RAGEngine, Path]) -> None:
    engine, root = rooted
    client = TestClient(create_app(engine.installation), headers={"x-api-key": api.SHARED_KEY})
    (papers := root / "papers").mkdir()
    (papers / "in sight.txt").write_text("A pear.", encoding="utf-8")
    (papers / "within.txt").symlink_to(papers / "in sight.txt")
    (papers / "out.txt").symlink_to(root.parent / "secret.txt")
    (papers / "folder.txt").symlink_to(root.parent, target_is_directory=True)
    started = client.post("/reindex", json={"source": {"folderId": f"{root}/./papers"}})
    engine.jobs.run(uuid.UUID(started.json()["id"]))
    result = client.get(f"/jobs/{started.json()['id']}").json()["result"]
    states = {file["source"].rpartition("/")[2]: file["state"] for file in result["files"]}
    assert states == {"in sight.txt": "added", "within.txt": "added", "out.txt": "failed", "folder.txt": "failed"}
    assert "secret" not in client.get("/documents").text
    papers.rename(root / "moved")
    papers.symlink_to(root.parent / "private", target_is_directory=True)
    again = client.post("/reindex", json={}).json()["id"]
    engine.jobs.run(uuid.UUID(again))
    assert client.get(f"/jobs/{again}").json()["result"]["unreadableFolders"] == 1
    assert "private" not in client.get("/documents").text


@pytest.fixture
def rooted(database_url: str, tmp_path: Path) -> Iterator[tuple[RAGEngine, Path]]:
    """An engine that reads folders for programs below one, and what is beside that."""
    (root := tmp_path / "reports").mkdir()
    (tmp_path / "private").mkdir()
    (tmp_path / "reports-beside").mkdir()
    for name in ("secret.txt", "private/private.txt", "reports-beside/beside.txt"):
        (tmp_path / name).write_text("A secret.", encoding="utf-8")
    (root / "link").symlink_to(tmp_path / "private", target_is_directory=True)
    roots = f"{root}, s3://bucket/reports/"
    with api.open_engine(database_url, tmp_path / "data", rag_folder_roots=roots) as engine:
        yield engine, root


def test_an_admins_folder_that_cannot_be_read_fails_as_a_job(rooted: tuple[RAGEngine, Path]) -> None:
    engine, root = rooted
    client = TestClient(create_app(engine.installation), headers={"x-api-key": api.SHARED_KEY})
    started = client.post("/reindex", json={"indexName": "x", "source": {"folderId": f"{root}/no/such/folder"}})
    assert started.status_code == 202
    engine.jobs.run(uuid.UUID(started.json()["id"]))
    assert client.get(f"/jobs/{started.json()['id']}").json()["errorCode"] == "source"


# --- secrets ---


def test_keys_in_requests_are_never_given_back(web: httpx.Client) -> None:
    secret = "sk-very-secret-vendor-key"
    body = {"question": "x", "generation": {"auth": {"apiKey": secret}}, "auth": {"apiKey": secret}}
    for sent in (body, {**body, "question": ""}):
        assert secret not in web.post("/answer", json=sent).text
    assert secret not in web.post("/ask", json={"question": "x", "password": secret}).text

"""Who is let in, as whom, how often, and what another user's ids are worth: nothing."""

import logging
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from rag import worker
from rag.access.rate_limits import FAILURES_PER_MINUTE
from rag.api import create_app
from rag.engine import RAGEngine
from rag.engine.users.accounts import SHARED_KEY
from rag.types import Role
from tests import pdfs
from tests.acceptance import api

SECRET_TEXT = "The confidential merger of Acme is planned for May."


def local(engine: RAGEngine, host: str = "127.0.0.1", **settings: object) -> TestClient:
    """A client on this machine, or at another address, of a server with other settings."""
    config = engine.config.model_copy(update=settings)
    resources = engine.installation
    other = RAGEngine(config, store=resources.store, files=resources.files)
    return TestClient(create_app(other.installation), client=(host, 1), base_url="http://localhost:3001")


# --- keys ---


@pytest.mark.parametrize("headers", [{}, {"x-api-key": ""}, {"authorization": "Basic eDp5"}])
def test_without_a_key_nothing_is_told(base_url: str, headers: dict[str, str]) -> None:
    response = httpx.get(f"{base_url}/documents", headers=headers)
    assert api.error_of(response) == (401, "auth")
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("key", ["wrong", "pl_" + "A" * 43, api.SHARED_KEY.upper(), api.SHARED_KEY[:-1], "é" * 20])
def test_a_wrong_key_opens_nothing(base_url: str, key: str) -> None:
    for name, value in ((b"x-api-key", key), (b"authorization", f"Bearer {key}")):
        response = httpx.get(f"{base_url}/documents", headers=[(name, value.encode())])
        assert api.error_of(response) == (401, "auth")


def test_the_shared_key_is_the_local_user(base_url: str) -> None:
    for headers in ({"x-api-key": api.SHARED_KEY}, {"authorization": f"Bearer {api.SHARED_KEY}"}):
        assert httpx.get(f"{base_url}/documents", headers=headers).status_code == 200


def test_a_revoked_key_opens_nothing_and_a_key_only_its_users_documents(engine: RAGEngine, base_url: str) -> None:
    ann = engine.installation.for_user("ann")
    key, secret = ann.keys.create("laptop", ("write",))
    with api.client(base_url, secret) as web:
        web.post("/indexes", json={"name": "mine"})
        assert [index["userId"] for index in web.get("/indexes").json()["items"]] == ["ann"]
        ann.store.api_keys.revoke(key.id)
        assert api.error_of(web.get("/indexes")) == (401, "auth")


WRITES = [("POST", "/indexes"), ("POST", "/reindex"), ("POST", "/conversations")]


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_a_reading_key_does_not_write(engine: RAGEngine, base_url: str, method: str, path: str) -> None:
    with api.client(base_url, api.key_of(engine, "reader", "read")) as web:
        response = web.request(method, path, json={"name": "x"} if path == "/indexes" else {})
        assert api.error_of(response) == (403, "forbidden")


def test_metrics_are_for_administrators(engine: RAGEngine, base_url: str) -> None:
    with api.client(base_url, api.key_of(engine, "reader", "write")) as web:
        assert api.error_of(web.get("/metrics")) == (403, "forbidden")
    with api.client(base_url) as web:
        web.get("/documents")
        figures = web.get("/metrics").text
    assert 'route="/documents"' in figures
    assert "pagelight_request_seconds_bucket" in figures
    for lane in ("reading", "embedding", "renewing", "pictures", "jobs"):
        assert f'pagelight_queue_waiting{{lane="{lane}"}} 0.0' in figures
        assert f'pagelight_queue_oldest_seconds{{lane="{lane}"}} 0.0' in figures
    for name in ("workers", "documents_read_total", "pages_read_total", "chunks_embedded_total", "database_bytes"):
        assert f"\npagelight_{name} " in figures


def test_the_status_is_for_administrators(engine: RAGEngine, base_url: str) -> None:
    with api.client(base_url, api.key_of(engine, "writer", "write")) as web:
        assert api.error_of(web.get("/status")) == (403, "forbidden")
    chief = api.key_of(engine, "chief", "admin")
    engine.installation.accounts.set_role("chief", Role.ADMIN)
    with api.client(base_url, chief) as web:
        status = web.get("/status").json()
    assert status["database"]["migration"] == engine.installation.store.health().migration
    assert {lane["lane"] for lane in status["lanes"]} == {"reading", "embedding", "renewing", "pictures", "jobs"}
    assert {space["place"] for space in status["disk"]} == {"data", "temporary"}  # the database's are its server's


def test_a_disk_without_room_is_told_and_uploads_are_refused(database_url: str, tmp_path: Path) -> None:
    with (
        api.open_engine(database_url, tmp_path, rag_disk_reserve_mb=10**9) as crowded,
        api.serving(crowded) as url,
        api.client(url) as web,
    ):
        health = web.get("/health")
        assert health.status_code == 200
        assert health.json()["ok"] is True
        assert "nearly full" in health.json()["warnings"][0]
        assert str(tmp_path) not in health.text
        refused = web.post("/documents", files={"file": ("a.pdf", pdfs.plain(["A page."]))})
        assert api.error_of(refused) == (507, "disk_full")
        assert str(tmp_path) not in refused.text
        assert web.get("/documents").json()["items"] == []


# --- without any key ---


@pytest.fixture
def keyless(database_url: str, tmp_path: Path) -> Iterator[RAGEngine]:
    """An engine over an installation without any key."""
    with api.open_engine(database_url, tmp_path, rag_api_key=None) as opened:
        yield opened


def test_without_any_key_this_machine_alone_is_answered(keyless: RAGEngine) -> None:
    assert local(keyless).get("/documents").status_code == 200
    assert api.error_of(local(keyless, "192.0.2.7").get("/documents")) == (403, "forbidden")
    hostile_origins = ("http://attacker.example", "null", "http://localhost:6274", "http://[")
    hostile_hosts = ("attacker.example", "attacker@localhost", "[", "")
    for hostile in (
        *({"origin": origin} for origin in hostile_origins),
        *({"host": host} for host in hostile_hosts),
    ):
        assert api.error_of(local(keyless).get("/documents", headers=hostile)) == (403, "forbidden")
    assert local(keyless).get("/documents", headers={"origin": "http://localhost:3001"}).status_code == 200
    keyless.keys.create("first")
    assert api.error_of(local(keyless).get("/documents")) == (401, "auth")


# --- other sites ---


def test_only_the_configured_site_may_call(engine: RAGEngine) -> None:
    web = local(engine, cors_origin="https://front.example, https://other.example")
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "x-api-key,content-type"}
    allowed = web.options("/ask", headers={"origin": "https://front.example", **asked})
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == "https://front.example"
    assert "access-control-allow-credentials" not in allowed.headers
    putting = {"origin": "https://front.example", **asked, "access-control-request-method": "PUT"}
    assert web.options("/shares", headers=putting).status_code == 200
    refused = web.options("/ask", headers={"origin": "https://evil.example", **asked})
    assert refused.status_code == 400
    assert "access-control-allow-origin" not in refused.headers
    without = local(engine).options("/ask", headers={"origin": "https://front.example", **asked})
    assert "access-control-allow-origin" not in without.headers


# --- limits ---


def test_requests_are_counted_per_key(engine: RAGEngine) -> None:
    web = local(engine, rag_rate_limit_per_minute=3)
    shared, own = {"x-api-key": api.SHARED_KEY}, {"x-api-key": api.key_of(engine, "counted")}
    assert [web.get("/jobs", headers=shared).status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = web.get("/jobs", headers=shared)
    assert api.error_of(refused) == (429, "rate_limit")
    assert 1 <= int(refused.headers["retry-after"]) <= 20
    assert web.get("/jobs", headers=own).status_code == 200


def test_keys_cannot_be_guessed_at_will(engine: RAGEngine) -> None:
    web = local(engine)
    answers = [
        web.get("/jobs", headers={"x-api-key": f"guess {n}"}).status_code for n in range(2 * FAILURES_PER_MINUTE)
    ]  # some may come back meanwhile, and other tests have guessed from here, too
    assert answers[0] == 401
    assert 429 in answers
    assert web.get("/jobs", headers={"x-api-key": api.SHARED_KEY}).status_code == 200


# --- the log ---


def test_a_request_is_a_line_without_words_and_keys(engine: RAGEngine, caplog: pytest.LogCaptureFixture) -> None:
    web = local(engine)
    with caplog.at_level(logging.INFO, "rag.api.requests"):
        web.post(
            "/search",
            json={"query": "a private question"},
            headers={"x-api-key": api.SHARED_KEY, "x-request-id": "mine-1"},
        )
    (record,) = [record for record in caplog.records if record.name == "rag.api.requests"]
    line = vars(record)
    assert (line["request_id"], line["user"], line["route"], line["status"]) == ("mine-1", "local", "/search", 200)
    assert line["key"] == str(SHARED_KEY.id)
    assert line["embedding_tokens"] > 0
    everything = " ".join(map(str, line.values()))
    assert "private" not in everything
    assert api.SHARED_KEY not in everything


# --- another user's ids ---


@pytest.fixture(scope="module")
def victim(engine: RAGEngine) -> dict[str, str]:
    """Ids of what the user "victim" owns."""
    owner = engine.installation.for_user("victim")
    document = owner.documents.add(pdfs.plain([SECRET_TEXT]), "merger.pdf", enqueue=False)
    assert owner.documents.process(document.id).status == "ready"
    trashed = owner.documents.add(pdfs.plain(["Old plans."]), "old.pdf", enqueue=False)
    owner.documents.trash([trashed.id])
    chat = owner.chats.start("The merger")
    owner.store.conversations.append(chat.id, "user", SECRET_TEXT)
    message = owner.chats.ask(chat.id, SECRET_TEXT)
    link = owner.answers.share(chat.id, {"grantee": "friend"})
    note = owner.annotations.add(
        document.id, {"regions": [{"page_number": 1, "rects": [[72, 72, 200, 90]]}], "note": SECRET_TEXT}
    )
    matrix = owner.matrices.create({"name": "M", "documentIds": [document.id], "fields": [SECRET_TEXT]})
    template = owner.templates.save("plans", {"fields": [SECRET_TEXT]})
    job = owner.jobs.start_reindex()
    worker.run(engine.installation, wait=False)
    return {
        "document": str(document.id),
        "trashed": str(trashed.id),
        "chunk": str(owner.store.chunks.of_document(document.id)[0].id),
        "index": str(owner.indexes.ensure().id),
        "chat": str(chat.id),
        "job": str(job.id),
        "message": str(message.id),
        "link": str(link.id),
        "annotation": str(note.id),
        "matrix": str(matrix.id),
        "lineage": str(matrix.lineage_ids[0]),
        "field": str(matrix.fields[0].id),
        "template": template.name,
    }


ATTEMPTS: list[tuple[str, str, object]] = [
    ("GET", "/documents/{document}", None),
    ("PATCH", "/documents/{document}", {"name": "mine now"}),
    ("GET", "/documents/{document}/content", None),
    ("GET", "/documents/{document}/chunks", None),
    ("GET", "/documents/{document}/pages/1/image", None),
    ("GET", "/documents/{document}/pages/1/image?chunk={chunk}", None),
    ("DELETE", "/documents/{document}", None),
    ("DELETE", "/documents/{trashed}?permanent=true", None),
    ("POST", "/documents/{trashed}/restore", None),
    ("GET", "/documents/{document}/overview", None),
    ("POST", "/documents/{document}/overview", {}),
    ("POST", "/documents/{document}/overview/estimate", {}),
    ("GET", "/documents/{document}/tables", None),
    ("POST", "/documents/{document}/tables/query", {"sql": "SELECT count(*) FROM data"}),
    ("POST", "/documents/{document}/tables/query", {"question": "How many rows are there?"}),
    ("GET", "/documents/{document}/versions", None),
    ("GET", "/documents/{document}/diff", None),
    ("POST", "/documents/{document}/current", None),
    ("POST", "/documents/{document}/cancel", None),
    ("POST", "/documents/{document}/retry", None),
    ("POST", "/documents/{document}/password", {"password": "x"}),
    ("GET", "/indexes/{index}", None),
    ("POST", "/search", {"query": "merger", "indexName": "{index}"}),
    ("POST", "/answer", {"question": "merger", "indexName": "{index}"}),
    ("POST", "/ask", {"question": "merger", "indexName": "{index}"}),
    ("POST", "/retrieve", {"query": "merger", "collection": "{index}"}),
    ("POST", "/validate", {"test_queries": ["merger"], "collection": "{index}"}),
    ("POST", "/reindex", {"indexName": "{index}"}),
    ("GET", "/jobs/{job}", None),
    ("POST", "/jobs/{job}/cancel", None),
    ("GET", "/tags?indexName={index}", None),
    ("GET", "/filters/{index}", None),
    ("DELETE", "/filters/{index}", None),
    ("GET", "/conversations/{chat}", None),
    ("PATCH", "/conversations/{chat}", {"title": "mine now"}),
    ("DELETE", "/conversations/{chat}", None),
    ("GET", "/conversations/{chat}/messages", None),
    ("PATCH", "/conversations/{chat}/messages/{message}", {"shown": True}),
    ("GET", "/conversations/{chat}/messages/{message}/marked?documentId={document}", None),
    ("POST", "/conversations/{chat}/messages/{message}/again", None),
    ("GET", "/conversations/{chat}/export?format=json", None),
    ("GET", "/conversations/{chat}/links", None),
    ("POST", "/conversations/{chat}/links", {"grantee": "mallory"}),
    ("DELETE", "/links/{link}", None),
    ("GET", "/links/{link}/messages", None),
    ("GET", "/documents/{document}/annotations", None),
    ("POST", "/documents/{document}/annotations", {"regions": [{"pageNumber": 1, "rects": [[1, 2, 3, 4]]}]}),
    ("PATCH", "/documents/{document}/annotations/{annotation}", {"note": "mine now"}),
    ("DELETE", "/documents/{document}/annotations/{annotation}", None),
    ("GET", "/matrices/{matrix}", None),
    ("PATCH", "/matrices/{matrix}", {"name": "mine now"}),
    ("POST", "/matrices/{matrix}/fill", None),
    ("POST", "/matrices/{matrix}/cancel", None),
    ("GET", "/matrices/{matrix}/export?format=csv", None),
    ("DELETE", "/matrices/{matrix}", None),
    ("PUT", "/matrices/{matrix}/cells/{lineage}/{field}/review", {"state": "rejected"}),
    ("POST", "/matrices", {"name": "mine", "documentIds": ["{document}"], "fields": ["merger"]}),
    ("POST", "/extract", {"documentIds": ["{document}"], "fields": ["merger"]}),
    ("POST", "/extract", {"documentIds": ["{document}"], "matrixId": "{matrix}"}),
    ("GET", "/documents/{document}/field-suggestions", None),
    ("GET", "/matrix-templates/{template}", None),
    ("GET", "/matrix-templates/{template}/schema", None),
    ("DELETE", "/matrix-templates/{template}", None),
    ("PUT", "/matrix-templates/mine", {"template": "{template}"}),
    ("PUT", "/matrix-templates/mine", {"matrixId": "{matrix}"}),
    ("POST", "/conversations/{chat}/messages", {"question": "merger"}),
    ("POST", "/conversations", {"documentIds": ["{document}"]}),
]


def _filled(value: object, ids: dict[str, str]) -> object:
    if isinstance(value, str):
        return value.format(**ids)
    if isinstance(value, list):
        return [_filled(item, ids) for item in value]
    return {key: _filled(item, ids) for key, item in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: " ".join(attempt[:2]))
def test_ids_of_another_user_are_not_found(
    engine: RAGEngine, base_url: str, victim: dict[str, str], attempt: tuple[str, str, object]
) -> None:
    method, path, body = attempt
    with api.client(base_url, api.key_of(engine, "mallory", "admin")) as web:
        web.post("/indexes", json={"name": "default"})
        sent = _filled(body, victim)
        response = web.request(method, path.format(**victim), json=sent)
        known = api.error_of(response)
        strangers = dict.fromkeys(victim, str(uuid.uuid4()))
        unknown = web.request(method, path.format(**strangers), json=_filled(body, strangers))
    assert known[0] == 404
    assert known == api.error_of(unknown)  # so nobody learns that the id exists
    assert "Acme" not in response.text


def test_lists_and_searches_have_nothing_of_others(engine: RAGEngine, base_url: str, victim: dict[str, str]) -> None:
    with api.client(base_url, api.key_of(engine, "mallory", "admin")) as web:
        filters = {"documentIds": [victim["document"]]}
        answers = [
            web.post("/indexes", json={"name": "default"}),
            web.get("/documents"),
            web.get("/documents", params={"trash": True}),
            web.get("/indexes"),
            web.get("/jobs"),
            web.get("/conversations"),
            web.get("/matrices"),
            web.get("/matrix-templates"),
            web.post("/search", json={"query": SECRET_TEXT, "retrieval": {"minScore": 0, "filters": filters}}),
            web.post("/ask", json={"question": SECRET_TEXT, "filters": filters}),
            web.post("/retrieve", json={"query": SECRET_TEXT}),
        ]
    for response in answers:
        assert response.is_success
        assert "Acme" not in response.text.replace(SECRET_TEXT, "")
        assert not [number for number in victim.values() if number in response.text]


def test_every_route_with_an_id_is_attempted(engine: RAGEngine) -> None:
    """A new route must get a case above."""
    schema = create_app(engine.installation).openapi()["paths"]
    with_ids = {
        (method.upper(), path.replace("{page_number}", "1"))
        for path, verbs in schema.items()
        for method in verbs
        if "{" in path
    }
    names = {"document": "document_id", "trashed": "document_id", "chat": "conversation_id", "job": "job_id"}
    names |= {"message": "message_id", "link": "link_id", "annotation": "annotation_id", "matrix": "matrix_id"}
    names |= {"lineage": "lineage_id", "field": "field_id", "template": "name"}
    tried = set()
    for method, path, _ in ATTEMPTS:
        spelled = path.partition("?")[0]
        for ours, theirs in names.items():
            spelled = spelled.replace(f"{{{ours}}}", f"{{{theirs}}}")
        tried.add((method, spelled.replace("{index}", "{name}").replace("templates/mine", "templates/{name}")))
    own = {("PUT", "/filters/{name}"), ("DELETE", "/admin/keys/{key_id}")}  # makes the sender's own; is admins' to do
    assert with_ids - own <= tried

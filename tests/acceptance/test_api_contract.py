"""What front ends are promised: defaults, ranges, settings, and the calls of curl as their documentation has them."""

import contextlib
import datetime as dt
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from benchmarks.processes import free_port
from rag.api import create_app, limits
from rag.api.ask import AskRequest
from rag.config import load_config
from rag.engine import RAGEngine
from rag.engine.retrieval_api import validate
from rag.types import Document, Hit, PageInfo, ValidationRequest
from tests import pdfs, sources
from tests.acceptance import api

PATIENCE_SECONDS = 120.0
DOCUMENTED = "http://localhost:3001"

POLICIES = "Our refund policy is to pay in full within 30 days of purchase. A partial refund is paid within 90 days."
FAQ = "Delivery takes three working days. Payment of a refund takes ten."
QUESTION = "What is the refund policy?"


def take_in_policies(engine: RAGEngine) -> None:
    """Two documents that were taken in from a folder called data."""
    for source, text in {"data/policies.md": POLICIES, "data/faq.txt": FAQ}.items():
        added = engine.documents.add(text.encode(), source.removeprefix("data/"), source=source, enqueue=False)
        assert engine.documents.process(added.id).status == "ready"


@pytest.fixture(scope="module")
def engine(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RAGEngine]:
    with api.open_engine(shared_database_url, tmp_path_factory.mktemp("data")) as opened:
        take_in_policies(opened)
        yield opened


# --- fields, defaults and ranges ---


@pytest.mark.parametrize(
    ("model", "field", "promised"),
    [
        ("RetrieveRequest", "query", {"type": "string", "minLength": 1, "maxLength": 999}),
        ("RetrieveRequest", "collection", {"type": "string", "default": "default"}),
        ("RetrieveRequest", "top_k", {"type": "integer", "default": 5, "minimum": 1, "maximum": 100}),
        ("RetrieveRequest", "query_embedding_model", {"type": "string", "default": "embed-english-v3.0"}),
        ("ValidationRequest", "collection", {"type": "string", "default": "default"}),
        ("ValidationRequest", "test_queries", {"type": "array", "minItems": 1}),
        ("ValidationRequest", "expected_sources", {"type": "array", "default": []}),
        ("ValidationRequest", "consistency_runs", {"type": "integer", "default": 3, "minimum": 1, "maximum": 10}),
        ("AskRequest", "question", {"type": "string", "minLength": 1}),
        ("AskRequest", "mustInclude", {"type": "array", "default": []}),
        ("AskRequest", "mustIncludeMode", {"type": "string", "default": "all", "enum": ["all", "any"]}),
        ("AskFilters", "sources", {"type": "array", "default": []}),
    ],
)
def test_the_description_has_what_is_promised(
    web: httpx.Client, model: str, field: str, promised: dict[str, object]
) -> None:
    described = web.get("/openapi.json").json()["components"]["schemas"][model]["properties"][field]
    assert promised.items() <= described.items()


@pytest.mark.parametrize(
    ("model", "required"),
    [("RetrieveRequest", ["query"]), ("ValidationRequest", ["test_queries"]), ("AskRequest", ["question"])],
)
def test_nothing_else_is_required(web: httpx.Client, model: str, required: list[str]) -> None:
    assert web.get("/openapi.json").json()["components"]["schemas"][model]["required"] == required


RESPONSES = {
    "RetrieveResponse": {"success", "retrieved_chunks", "query_embedding", "metrics"},
    "VectorChunk": {
        *("content", "source_url", "page_title", "section_hierarchy"),
        *("chunk_index", "similarity_score", "vector_id"),
    },
    "QueryVector": {"vector", "model"},
    "RetrieveMetrics": {"response_time_ms", "retrieval_count"},
    "ValidationResponse": {"success", "validation_results", "overall_validation"},
    "QueryValidation": {
        *("query", "retrieved_chunks", "relevance_valid", "metadata_correct"),
        *("consistency_score", "validation_metrics"),
    },
    "ValidationMetrics": {"accuracy", "relevance_score", "consistency_variance"},
    "OverallValidation": {"passed", "summary", "score"},
    "ErrorResponse": {"success", "error"},
    "ErrorBody": {"type", "message", "details"},
    "AskResponse": {"answer", "sources", "debug"},
}


@pytest.mark.parametrize("model", RESPONSES)
def test_a_response_has_every_promised_field(web: httpx.Client, model: str) -> None:
    assert RESPONSES[model] <= web.get("/openapi.json").json()["components"]["schemas"][model]["properties"].keys()


def test_five_chunks_are_found_unless_more_or_fewer_are_asked_for(engine: RAGEngine, web: httpx.Client) -> None:
    for number in range(7):
        added = engine.documents.add(
            pdfs.plain([f"Ship {number} came to the harbour."]), f"{number}.pdf", index_name="ships", enqueue=False
        )
        assert engine.documents.process(added.id).status == "ready"
    found = web.post("/retrieve", json={"query": "ship", "collection": "ships"}).json()
    assert found["metrics"]["retrieval_count"] == len(found["retrieved_chunks"]) == 5
    assert all(0 <= chunk["similarity_score"] <= 1 for chunk in found["retrieved_chunks"])
    more = web.post("/retrieve", json={"query": "ship", "collection": "ships", "top_k": 100}).json()
    assert more["metrics"]["retrieval_count"] == 7


def test_a_collection_goes_by_its_id_too(engine: RAGEngine, web: httpx.Client) -> None:
    found = web.post("/retrieve", json={"query": "refund", "collection": str(engine.indexes.ensure().id)}).json()
    assert found["metrics"]["retrieval_count"] == 2


def test_queries_run_three_times_unless_told_otherwise(engine: RAGEngine) -> None:
    def lookups() -> int:
        return sum(cache.hits + cache.misses for cache in engine.store.caches.stats() if cache.kind == "embeddings")

    before = lookups()
    engine.retrieval_api.validate({"test_queries": ["refund"]})
    assert lookups() - before == 3
    engine.retrieval_api.validate({"test_queries": ["refund"], "consistency_runs": 1})
    assert lookups() - before == 4


def test_the_engine_gives_plain_objects_that_become_the_same_json(engine: RAGEngine, web: httpx.Client) -> None:
    asked = {"query": "refund", "collection": "default", "top_k": 1}
    plain = engine.retrieval_api.retrieve(asked).model_dump(mode="json")
    sent = web.post("/retrieve", json=asked).json()
    assert {**plain, "metrics": None} == {**sent, "metrics": None}
    validated = {"test_queries": ["refund"]}
    assert (
        engine.retrieval_api.validate(validated).model_dump(mode="json") == web.post("/validate", json=validated).json()
    )


# --- `/ask` ---


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {"data/policies.md#0", "data/faq.txt#0"}),
        ({"sources": ["data/policies.md"]}, {"data/policies.md#0"}),
        ({"sources": ["data/faq.txt", "data/nothing.md"]}, {"data/faq.txt#0"}),
        ({"sourcePrefix": "data/p"}, {"data/policies.md#0"}),
        ({"sourcePrefix": "data/"}, {"data/policies.md#0", "data/faq.txt#0"}),
        ({"sources": ["data/faq.txt"], "sourcePrefix": "data/p"}, set()),
    ],
)
def test_sources_and_their_beginnings_choose_documents(
    web: httpx.Client, filters: dict[str, object], expected: set[str]
) -> None:
    answer = web.post("/ask", json={"question": "What about a refund and delivery?", "filters": filters}).json()
    assert set(answer["sources"]) <= expected
    assert bool(answer["sources"]) == bool(expected)


def test_keywords_are_all_needed_unless_any_will_do(web: httpx.Client) -> None:
    asked = {"question": QUESTION, "mustInclude": ["refund", "partial"]}
    assert web.post("/ask", json=asked).json()["sources"] == ["data/policies.md#0"]
    every = {**asked, "mustInclude": ["refund", "zebra"]}
    assert web.post("/ask", json=every).json()["sources"] == []
    assert web.post("/ask", json={**every, "mustIncludeMode": "any"}).json()["sources"] != []


def test_a_language_model_rewrites_and_supposes_and_rankings_are_fused() -> None:
    asked = AskRequest(question=QUESTION)
    options = asked.to_answer_request(has_language_model=True).retrieval
    assert (options.multi_query, options.hyde) == (3, True)
    assert (options.mode, options.fusion, options.rrf_k) == (None, "rrf", None)  # None: as the settings say
    assert options.diversity > 0
    alone = asked.to_answer_request(has_language_model=False).retrieval
    assert (alone.multi_query, alone.hyde) == (0, False)


@pytest.mark.parametrize(("hybrid", "mode"), [(True, "hybrid"), (False, "vector")])
def test_rag_hybrid_decides_how_is_searched(engine: RAGEngine, hybrid: bool, mode: str) -> None:
    config = engine.config.model_copy(update={"rag_debug": True, "rag_hybrid": hybrid})
    debugging = RAGEngine(config, store=engine.installation.store, files=engine.installation.files)
    with TestClient(create_app(debugging.installation), headers={"x-api-key": api.SHARED_KEY}) as client:
        debug = client.post("/ask", json={"question": QUESTION}).json()["debug"]
        answer = client.post("/answer", json={"question": QUESTION}).json()
        found = client.post("/search", json={"query": QUESTION}).json()
    assert debug["retrieval"]["mode"] == answer["retrieval"]["mode"] == found["mode"] == mode
    assert (found["results"][0]["lexicalScore"] is None) == (mode == "vector")
    assert {"vectorScore", "lexicalScore", "finalScore", "source"} == debug["contexts"][0].keys()
    assert (debug["contexts"][0]["lexicalScore"] is None) == (mode == "vector")


# --- settings and errors ---


def test_the_settings_have_their_documented_names_and_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    unset = load_config()
    assert (unset.port, unset.cors_origin, unset.rag_api_key) == (3001, None, None)
    assert (unset.rag_hybrid, unset.rag_rrf_k, unset.rag_debug) == (True, 60, False)
    given = {
        "PORT": "8080",
        "CORS_ORIGIN": "https://front.example",
        "RAG_API_KEY": "secret",
        "RAG_HYBRID": "false",
        "RAG_RRF_K": "10",
        "RAG_DEBUG": "true",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    config = load_config()
    assert (config.port, config.cors_origin) == (8080, "https://front.example")
    assert config.rag_api_key == SecretStr("secret")
    assert (config.rag_hybrid, config.rag_rrf_k, config.rag_debug) == (False, 10, True)


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/retrieve", {"query": "x"}, "store_unavailable"),
        ("/validate", {"test_queries": ["x"]}, "store_unavailable"),
        ("/ask", {"question": "x"}, "store"),
    ],
)
def test_a_database_that_is_down_is_named(tmp_path: Path, path: str, body: dict[str, object], kind: str) -> None:
    with api.open_engine("postgresql://127.0.0.1:1/nothing", tmp_path) as down:
        client = TestClient(create_app(down.installation), headers={"x-api-key": api.SHARED_KEY})
        response = client.post(path, json=body)
        assert api.error_of(response) == (503, kind)
        assert "postgresql://" not in response.text
        assert api.error_of(client.get("/health")) == (503, "store")


@pytest.mark.parametrize(
    ("turns", "path", "body"),
    [
        ("questions", "/ask", {"question": "x"}),
        ("questions", "/validate", {"test_queries": ["x"]}),
        ("searches", "/retrieve", {"query": "x"}),
    ],
)
def test_a_request_without_a_slot_is_told_when_to_retry(
    engine: RAGEngine, turns: str, path: str, body: dict[str, object]
) -> None:
    app = create_app(engine.installation)
    only = limits.FairSemaphore(1, timeout=0.0)
    setattr(app.state, turns, only)
    client = TestClient(app, headers={"x-api-key": api.SHARED_KEY})
    with only.acquire():
        refused = client.post(path, json=body)
    assert api.error_of(refused) == (503, "busy")
    assert int(refused.headers["retry-after"]) > 0
    assert client.post(path, json=body).status_code == 200


# --- validation of what varies ---


def test_runs_that_differ_are_inconsistent() -> None:
    one, two = sources.hit("One."), sources.hit("Two.", name="other.pdf")
    runs = iter([[_scored(one, 0.8), _scored(two, 0.4)], [_scored(one, 0.6)]])
    request = ValidationRequest(test_queries=("x",), consistency_runs=2)
    document = two_lines()
    response = validate(
        request,
        lambda _: next(runs),
        document=lambda _: document,
        named={},
        relevance=lambda _query, _text: 1.0,
    )
    (result,) = response.validation_results
    assert result.consistency_score == 0.5  # the first rank is the same, the second is not
    assert result.validation_metrics.relevance_score == pytest.approx(0.6)  # of the first run
    assert result.validation_metrics.consistency_variance == pytest.approx((0.1**2 + 0) / 2)
    assert response.overall_validation.passed is False
    assert response.overall_validation.score == pytest.approx((1 + 0.6 + 0.5) / 3)
    assert "0 the same in every run" in response.overall_validation.summary


def two_lines() -> Document:
    """A document of a page with two lines, whose size nobody knows."""
    page = PageInfo(number=1, width=0, height=0)
    ids: dict[str, Any] = {"id": uuid.uuid4(), "index_id": uuid.uuid4(), "user_id": "local"}
    file: dict[str, Any] = {"name": "a.txt", "mime_type": "text/plain", "sha256": "", "size": 1, "status": "ready"}
    return Document(**ids, **file, pages=(page,), line_count=2, created_at=dt.datetime.now(dt.UTC))


def _scored(hit: Hit, score: float) -> Hit:
    return hit.model_copy(update={"vector_score": score})


# --- curl ---

HEALTH = "curl http://localhost:3001/health"

ASK = r"""
curl -X POST http://localhost:3001/ask \
  -H "Content-Type: application/json" \
  -d "{\"question\":\"What is our refund policy?\"}"
"""

ASK_WITH_CONSTRAINTS = """
curl -X POST http://localhost:3001/ask -H "Content-Type: application/json" -d '{
  "question": "What is the refund policy?",
  "filters": { "sources": ["data/policies.md"] },
  "mustInclude": ["refund", "partial"],
  "mustIncludeMode": "all"
}'
"""

REINDEX = 'curl -X POST http://localhost:3001/reindex -H "x-api-key: the shared secret of this server"'


@contextlib.contextmanager
def serve(data_dir: Path, **environment: str) -> Iterator[str]:
    """The base URL of `pagelight serve`, at a free port, while the block runs."""
    port = str(free_port())
    settings = {**os.environ, **environment, "RAG_DATA_DIR": str(data_dir), "PORT": port}
    settings["PYTHONPATH"] = str(Path(__file__).parents[2])
    server = subprocess.Popen([sys.executable, "-m", "rag", "serve"], env=settings, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        for line in server.stderr:
            if "Uvicorn running" in line:
                break
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE_SECONDS)
    assert server.returncode in {0, -15}


def called(command: str, base_url: str) -> tuple[int, Any]:
    """Status and body of what a documented command line gets; where there is no curl, httpx says the same."""
    _, *arguments = shlex.split(command.replace("\\\n", " ").replace(DOCUMENTED, base_url))
    if shutil.which("curl"):
        run = subprocess.run(
            ["curl", "--silent", "--noproxy", "*", "--write-out", r"\n%{http_code}", *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
        body, _, status = run.stdout.rpartition("\n")
        return int(status), json.loads(body)
    said: dict[str, list[str]] = {"-X": [], "-H": [], "-d": [], "": []}
    option = ""
    for argument in arguments:
        if argument in said:
            option = argument
        else:
            said[option].append(argument)
            option = ""
    response = httpx.request(
        (said["-X"] or ["GET"])[0],
        said[""][0],
        headers=dict(header.split(": ", 1) for header in said["-H"]),
        content="".join(said["-d"]),
        timeout=PATIENCE_SECONDS,
        trust_env=False,
    )
    return response.status_code, response.json()


def test_documented_calls_run_as_written_on_this_machine(database_url: str, tmp_path: Path) -> None:
    with api.open_engine(database_url, tmp_path, rag_api_key=None) as engine, api.serving(engine) as url:
        take_in_policies(engine)
        assert called(HEALTH, url) == (200, {"ok": True})
        status, answer = called(ASK, url)
        assert status == 200
        assert "within 30 days" in answer["answer"]
        assert "data/policies.md#0" in answer["sources"]
        assert "debug" not in answer
        status, answer = called(ASK_WITH_CONSTRAINTS, url)
        assert status == 200
        assert answer["sources"] == ["data/policies.md#0"]
        assert {citation["verdict"] for citation in answer["citations"]} == {"verified"}


def test_documented_calls_need_the_key_where_there_is_one(database_url: str, tmp_path: Path) -> None:
    with api.open_engine(database_url, tmp_path) as engine:
        take_in_policies(engine)
    with serve(tmp_path, RAG_DATABASE_URL=database_url, RAG_API_KEY=api.SHARED_KEY) as url:
        assert called(HEALTH, url) == (200, {"ok": True})
        status, refused = called(ASK, url)
        assert (status, refused["error"]["type"]) == (401, "auth")
        status, job = called(REINDEX, url)
        assert (status, job["kind"]) == (202, "reindex")
        with api.client(url) as client:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while (seen := client.get(f"/jobs/{job['id']}").json())["status"] not in {"done", "failed"}:
                assert time.monotonic() < deadline, seen
                time.sleep(0.2)
    counted = {"documents": 2, "ready": 2, "failed": 0, "folders": [], "unreadableFolders": 0}
    assert seen["result"] == counted

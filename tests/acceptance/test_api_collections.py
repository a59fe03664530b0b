"""`/retrieve` and `/validate`: every field, default, range and error."""

import http.client
import json
import math
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest

from rag import errors
from rag.engine import RAGEngine
from rag.providers.embedded_models import LocalEmbedding
from rag.types import TextBlock
from tests import pdfs
from tests.acceptance import api
from tests.waiting import eventually

HARBOUR = api.FACTS["harbour.pdf"].split("\n")[0]

SHIPS = "How many ships did the harbour handle?"
PEARS = "How many kinds of pears are there?"

pytestmark = pytest.mark.usefixtures("documents")


def test_chunks_come_with_complete_sources(web: httpx.Client, documents: dict[str, str]) -> None:
    body = web.post("/retrieve", json={"query": SHIPS, "collection": "default"}).json()
    assert body["success"] is True
    first = body["retrieved_chunks"][0]
    assert first["content"].startswith("The harbour of Lindmark")
    assert first["source_url"] == f"/documents/{documents['harbour.pdf']}/content"
    assert first["page_title"] == "Harbour"
    assert first["section_hierarchy"] == ""
    assert (first["chunk_index"], first["page_number"], first["line_start"], first["line_end"]) == (0, 1, 1, 2)
    scores = [chunk["similarity_score"] for chunk in body["retrieved_chunks"]]
    assert all(0 <= score <= 1 for score in scores)
    assert body["metrics"]["retrieval_count"] == len(scores) == 2
    assert body["metrics"]["response_time_ms"] > 0
    assert web.get(first["source_url"]).content.startswith(b"%PDF")
    chunks = web.get(f"/documents/{documents['harbour.pdf']}/chunks").json()["items"]
    assert [chunk["id"] for chunk in chunks] == [first["vector_id"]]


def test_the_query_comes_with_its_vector(web: httpx.Client) -> None:
    embedding = web.post("/retrieve", json={"query": SHIPS}).json()["query_embedding"]
    assert embedding["model"] == "local:bge-small-en-v1.5"
    assert len(embedding["vector"]) == 384
    assert math.hypot(*embedding["vector"]) == pytest.approx(1, abs=1e-3)


def test_similarity_is_the_cosine_of_query_and_chunk(web: httpx.Client) -> None:
    body = web.post("/retrieve", json={"query": SHIPS}).json()
    model = LocalEmbedding()
    for chunk in body["retrieved_chunks"]:
        cosine = float(np.dot(body["query_embedding"]["vector"], model.get_text_embedding(chunk["content"])))
        assert chunk["similarity_score"] == pytest.approx(cosine, abs=0.1)  # with its title the chunk was embedded
    by_meaning = web.post("/search", json={"query": SHIPS, "mode": "vector", "minScore": 0}).json()["results"]
    scores = {hit["chunkId"]: hit["vectorScore"] for hit in by_meaning}
    for chunk in body["retrieved_chunks"]:
        assert chunk["similarity_score"] == pytest.approx(scores[chunk["vector_id"]], abs=1e-6)


@pytest.mark.parametrize("model", ["embed-english-v3.0", "bge-small-en-v1.5", "local:bge-small-en-v1.5"])
def test_the_default_model_is_the_collections_own(web: httpx.Client, model: str) -> None:
    assert web.post("/retrieve", json={"query": SHIPS, "query_embedding_model": model}).status_code == 200


def test_another_model_is_refused(web: httpx.Client) -> None:
    response = web.post("/retrieve", json={"query": SHIPS, "query_embedding_model": "text-embedding-3-small"})
    assert api.error_of(response) == (409, "index")


@pytest.mark.parametrize("top_k", [1, 2, 100])
def test_top_k_within_its_range(web: httpx.Client, top_k: int) -> None:
    body = web.post("/retrieve", json={"query": SHIPS, "top_k": top_k}).json()
    assert body["metrics"]["retrieval_count"] == min(top_k, 2)


def test_the_longest_query(web: httpx.Client) -> None:
    assert web.post("/retrieve", json={"query": "ships " * 166 + "abc"}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": ""},
        {"query": " \n"},
        {"query": "x" * 1000},
        {"query": None},
        {"query": "x", "top_k": 0},
        {"query": "x", "top_k": 101},
        {"query": "x", "top_k": 2.5},
        {"query": "x", "collection": ""},
        {"query": "x", "collection": "a/b"},
        {"query": "x", "collection": "a\x00b"},
        {"query": "x", "collection": "c" * 256},
        {"query": "x", "query_embedding_model": ""},
        {"query": "x", "topK": 3},
    ],
)
def test_queries_out_of_range_are_refused(web: httpx.Client, body: dict[str, object]) -> None:
    assert api.error_of(web.post("/retrieve", json=body)) == (422, "invalid_query")


@pytest.mark.parametrize(("route", "query"), [("/retrieve", {"query": "x"}), ("/validate", {"test_queries": ["x"]})])
def test_an_unknown_collection_is_named(web: httpx.Client, route: str, query: dict[str, object]) -> None:
    response = web.post(route, json={"collection": "elsewhere", **query})
    assert api.error_of(response) == (404, "collection_not_found")
    assert "elsewhere" in response.json()["error"]["message"]


def test_a_good_collection_passes(web: httpx.Client, documents: dict[str, str]) -> None:
    expected = [{"source": "harbour.pdf", "page": 1}, {"query": PEARS, "source": documents["orchard.pdf"]}]
    response = web.post("/validate", json={"test_queries": [SHIPS, PEARS], "expected_sources": expected, "top_k": 1})
    body = response.json()
    assert body["success"] is True
    assert [result["query"] for result in body["validation_results"]] == [SHIPS, PEARS]
    for result in body["validation_results"]:
        assert len(result["retrieved_chunks"]) == 1
        assert result["relevance_valid"] is True
        assert result["metadata_correct"] is True
        assert result["consistency_score"] == 1
        assert result["validation_metrics"]["accuracy"] == 1
        assert result["validation_metrics"]["consistency_variance"] == 0
        assert 0 < result["validation_metrics"]["relevance_score"] <= 1
    overall = body["overall_validation"]
    assert overall["passed"] is True
    assert 0 < overall["score"] <= 1
    assert overall["summary"].startswith("Of 2 queries: 2 with results")


def test_a_validation_counts_its_problems(web: httpx.Client) -> None:
    expected = [{"query": SHIPS, "source": "harbour.pdf"}, {"query": SHIPS, "source": "missing.pdf"}]
    queries = [SHIPS, "Who conducted the Vienna Philharmonic?"]
    body = web.post("/validate", json={"test_queries": queries, "expected_sources": expected}).json()
    ships, vienna = body["validation_results"]
    assert ships["validation_metrics"]["accuracy"] == 0.5
    assert ships["relevance_valid"] is True
    assert vienna["relevance_valid"] is False
    assert vienna["metadata_correct"] is True
    assert body["overall_validation"]["passed"] is False
    assert "1 relevant" in body["overall_validation"]["summary"]


def test_a_source_is_expected_in_the_words_of_a_filter(database_url: str, tmp_path: Path) -> None:
    (below := tmp_path / "reports" / "below").mkdir(parents=True)
    (below / "harbour.pdf").write_bytes(pdfs.plain(api.FACTS["harbour.pdf"].split("\n")))
    with api.open_engine(database_url, tmp_path / "data") as engine:
        (file,) = engine.sync_index({"source": {"folderId": str(tmp_path / "reports")}}).files
        for source, is_meant in {
            "below/harbour.pdf": True,
            "reports/below/harbour.pdf": True,
            "harbour.pdf": True,
            str(below / "harbour.pdf"): True,
            str(file.document_id): True,
            "arbour.pdf": False,
            "elsewhere/harbour.pdf": False,
        }.items():
            asked = {"test_queries": [SHIPS], "expected_sources": [{"source": source}], "consistency_runs": 1}
            (result,) = engine.retrieval_api.validate(asked).validation_results
            assert result.validation_metrics.accuracy == is_meant, source
            found = engine.search({"query": SHIPS, "minScore": 0, "filters": {"sources": [source]}}).results
            assert bool(found) == is_meant or source == str(file.document_id), source


@pytest.mark.parametrize(
    ("block", "is_correct"),
    [
        ({}, True),
        ({"page_number": 2}, False),
        ({"bbox": (72, 90, 700, 110)}, False),
        ({"bbox": (72, -40, 300, 110)}, False),
        ({"line_start": 3, "line_end": 3}, False),
    ],
)
def test_metadata_of_a_chunk_is_compared_with_its_document(
    database_url: str, tmp_path: Path, block: dict[str, Any], is_correct: bool
) -> None:
    """A document of one page and two lines, whose blocks are then brought by a caller."""
    usual = {"page_number": 1, "line_start": 1, "line_end": 1, "bbox": (72, 90, 300, 110), "text": HARBOUR}
    last = {**usual, "line_start": 2, "line_end": 2, "text": "Its crane lifts 95 tonnes."}
    with api.open_engine(database_url, tmp_path / "data") as engine:
        document_id = uuid.UUID(api.take_in(engine, ("harbour.pdf",))["harbour.pdf"])
        engine.index_document(document_id, [TextBlock.model_validate(b) for b in ({**usual, **block}, last)])
        body = {"test_queries": [SHIPS], "consistency_runs": 1}
        validated = engine.retrieval_api.validate(body)
    assert validated.validation_results[0].metadata_correct is is_correct
    assert validated.overall_validation.passed is is_correct


def test_an_expected_page_must_be_the_right_one(web: httpx.Client) -> None:
    expected = [{"source": "harbour.pdf", "page": 2}]
    body = web.post("/validate", json={"test_queries": [SHIPS], "expected_sources": expected}).json()
    assert body["validation_results"][0]["validation_metrics"]["accuracy"] == 0


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"test_queries": []},
        {"test_queries": [""]},
        {"test_queries": ["x" * 1000]},
        {"test_queries": ["x"], "consistency_runs": 0},
        {"test_queries": ["x"], "consistency_runs": 11},
        {"test_queries": ["x"], "expected_sources": [{"page": 1}]},
        {"test_queries": ["x"], "expected_sources": ["harbour.pdf"]},
        {"test_queries": ["x"], "expected_sources": [{"source": "harbour.pdf", "query": "y"}]},
        {"test_queries": ["x"], "expected_sources": [{"source": "harbour.pdf"}, {"source": "orchard.pdf"}]},
        {"test_queries": ["x"], "expected_sources": [{"source": "harbour.pdf\x00"}]},
        {"test_queries": ["x"], "collection": "a:b"},
    ],
)
def test_validations_out_of_range_are_refused(web: httpx.Client, body: dict[str, object]) -> None:
    assert api.error_of(web.post("/validate", json=body)) == (422, "invalid_query")


def test_an_expectation_of_no_query_is_named(web: httpx.Client, engine: RAGEngine) -> None:
    body = {"test_queries": [SHIPS], "expected_sources": [{"source": "a.pdf"}, {"source": "b.pdf"}]}
    problem = {"field": "expected_sources", "message": "number 2 belongs to none of the test queries"}
    assert web.post("/validate", json=body).json()["error"]["details"]["problems"] == [problem]
    with pytest.raises(errors.ValidationError, match="expected_sources: number 2"):
        engine.retrieval_api.validate(body)


@pytest.mark.parametrize("runs", [1, 10])
def test_runs_within_their_range(web: httpx.Client, runs: int) -> None:
    body = web.post("/validate", json={"test_queries": [SHIPS], "consistency_runs": runs}).json()
    assert body["validation_results"][0]["consistency_score"] == 1


def test_a_validation_ends_when_its_client_goes(web: httpx.Client, base_url: str) -> None:
    """The largest one runs for long; it would be answered with 200 in the end."""
    body = json.dumps({"test_queries": [SHIPS] * 100, "consistency_runs": 10, "top_k": 100})
    headers = {"x-api-key": api.SHARED_KEY, "content-type": "application/json"}
    client = http.client.HTTPConnection(urlsplit(base_url).netloc)
    client.request("POST", "/validate", body, headers)
    assert eventually(lambda: "pagelight_requests_running 2.0" in web.get("/metrics").text)
    client.close()
    ended = 'pagelight_requests_total{method="POST",route="/validate",status="409"} 1.0'
    assert eventually(lambda: ended in web.get("/metrics").text)

"""Searching and asking over HTTP."""

import http.client
import json
import re
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from rag.api import create_app
from rag.engine import RAGEngine
from tests import pdfs, vendors
from tests.acceptance import api
from tests.vendor_servers import Endless, Held, VendorServer
from tests.waiting import PATIENCE_SECONDS, eventually

QUESTION = "How many ships did the harbour handle in 2019?"

pytestmark = pytest.mark.usefixtures("documents")


def ask(web: httpx.Client, **body: object) -> dict[str, Any]:
    response = web.post("/ask", json={"question": QUESTION, **body})
    assert response.status_code == 200, response.text
    return dict(response.json())


def test_health_needs_no_key(web: httpx.Client) -> None:
    response = httpx.get(f"{web.base_url}/health")
    assert (response.status_code, response.json()) == (200, {"ok": True})


def test_an_answer_comes_with_sources_and_lit_citations(web: httpx.Client, documents: dict[str, str]) -> None:
    answer = ask(web)
    assert "4,812 ships" in str(answer["answer"])
    assert answer["sources"] == ["harbour.pdf#0"]
    citation = answer["citations"][0]
    assert citation["source"] == "harbour.pdf#0"
    assert citation["documentId"] == documents["harbour.pdf"]
    assert (citation["page"], citation["lines"], citation["verdict"]) == (1, [1, 1], "verified")
    assert citation["quote"] == "The harbour of Lindmark handled 4,812 ships in 2019."
    (region,) = citation["boxes"]
    ((x0, y0, x1, y1),) = region["rects"]
    assert region["pageNumber"] == 1
    assert 70 < x0 < 74
    assert 88 < y0 < 100 < y1 < 106  # the line's baseline is at 100
    assert 300 < x1 < 400
    assert "debug" not in answer


def test_debug_is_told_only_where_the_server_allows_it(engine: RAGEngine, documents: dict[str, str]) -> None:
    config = engine.config.model_copy(update={"rag_debug": True})
    debugging = RAGEngine(config, store=engine.installation.store, files=engine.installation.files)
    response = TestClient(create_app(debugging.installation)).post(
        "/ask", json={"question": QUESTION}, headers={"x-api-key": api.SHARED_KEY}
    )
    debug = response.json()["debug"]
    assert debug["retrieval"]["mode"] == "hybrid"
    assert debug["model"] == "extractive"


@pytest.mark.parametrize(
    ("constraint", "is_found"),
    [
        ({"mustInclude": ["ships"]}, True),
        ({"mustInclude": ["ships", "pears"]}, False),
        ({"mustInclude": ["ships", "pears"], "mustIncludeMode": "any"}, True),
        ({"filters": {"sources": ["harbour.pdf"]}}, True),
        ({"filters": {"sources": ["arbour.pdf"]}}, False),
        ({"filters": {"sourcePrefix": "harb"}}, True),
        ({"filters": {"sources": ["elsewhere/report.pdf"]}}, False),
        ({"filters": {"sourcePrefix": "elsewhere/"}}, False),
    ],
)
def test_constraints_hold(web: httpx.Client, constraint: dict[str, object], is_found: bool) -> None:
    answer = ask(web, **constraint)
    assert ("4,812" in str(answer["answer"])) == is_found
    assert answer["status"] == ("ok" if is_found else "insufficient_context")
    assert is_found or answer["answer"] == "I don't know from the provided documents."


def test_only_named_documents_are_read(web: httpx.Client, documents: dict[str, str]) -> None:
    answer = ask(web, filters={"documentIds": [documents["orchard.pdf"]]})
    assert "4,812" not in str(answer["answer"])


def test_an_answer_has_its_contexts_and_each_passage_once(web: httpx.Client, documents: dict[str, str]) -> None:
    answer = web.post("/answer", json={"question": QUESTION}).json()
    assert [context["fileId"] for context in answer["contexts"]] == [documents["harbour.pdf"]]
    assert "4,812 ships" in answer["contexts"][0]["text"]
    assert [source["citationId"] for source in answer["sources"]] == ["S1"]
    lines = [line["text"] for line in answer["sources"][0]["passage"]["lines"]]
    assert "The harbour of Lindmark handled 4,812 ships in 2019." in lines
    assert not any({"hit", "passage"} & citation.keys() for citation in answer["citations"])


def test_an_unanswered_question_has_no_sources(web: httpx.Client, documents: dict[str, str]) -> None:
    body = {"question": "Which kinds of pears grow here?", "filters": {"documentIds": [documents["harbour.pdf"]]}}
    asked = web.post("/ask", json=body).json()
    assert (asked["status"], asked["sources"]) == ("insufficient_context", [])
    answer = web.post("/answer", json={**body, "minScore": 0}).json()
    assert (answer["status"], answer["sources"], answer["contexts"]) == ("insufficient_context", [], [])
    assert [hit["fileId"] for hit in answer["nearest"]] == [documents["harbour.pdf"]]


def test_paths_of_the_server_are_shown_nowhere(database_url: str, tmp_path: Path) -> None:
    (below := tmp_path / "reports" / "below").mkdir(parents=True)
    (below / "harbour.pdf").write_bytes(pdfs.plain(api.FACTS["harbour.pdf"].split("\n")))
    with api.open_engine(database_url, tmp_path / "data", rag_folder_roots=str(tmp_path)) as engine:
        (file,) = engine.sync_index({"source": {"folderId": str(tmp_path / "reports")}}).files
        client = TestClient(create_app(engine.installation), headers={"x-api-key": api.SHARED_KEY})
        chat = client.post("/conversations", json={"title": "Ships"}).json()["id"]
        responses = [
            client.post("/ask", json={"question": QUESTION}),
            client.post("/ask", json={"question": QUESTION}, headers={"accept": "text/event-stream"}),
            client.post("/answer", json={"question": QUESTION}),
            client.post("/search", json={"query": QUESTION}),
            client.post("/retrieve", json={"query": QUESTION}),
            client.post(f"/conversations/{chat}/messages", json={"question": QUESTION}),
            client.get(f"/conversations/{chat}/messages"),
            client.get("/documents"),
            client.get(f"/documents/{file.document_id}"),
        ]
        query_sees = engine.query("How many ships?")[0].chunk.metadata["source_file"]
        (below / "harbour.pdf").rename(below / "former harbour.pdf")
        (below / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of a PDF follows")
        for source in ({"folderId": str(tmp_path / "reports")}, None):
            job = client.post("/reindex", json={"source": source}).json()["id"]
            engine.jobs.run(uuid.UUID(job))
            responses.append(client.get(f"/jobs/{job}"))
        engine.exports.write(tmp_path / "out")
    for response in responses:
        assert response.status_code in {200, 201}, response.text
        assert str(tmp_path) not in response.text, response.url
        assert "harbour.pdf" in response.text
    files = responses[9].json()["result"]["files"]
    assert {(found["source"], found["state"]) for found in files} == {
        ("below/harbour.pdf", "removed"),
        ("below/former harbour.pdf", "added"),
        ("below/broken.pdf", "failed"),
    }
    assert responses[0].json()["sources"] == ["below/harbour.pdf#0"]
    assert responses[0].json()["citations"][0]["source"] == "below/harbour.pdf#0"
    assert responses[4].json()["retrieved_chunks"][0]["source_url"] == "below/harbour.pdf"
    assert responses[8].json()["source"] == "below/harbour.pdf"
    assert not any(str(tmp_path) in path.read_text("utf-8") for path in (tmp_path / "out").glob("*.jsonl"))
    assert query_sees == str(below / "harbour.pdf")  # in Python, on this machine


def events(response: httpx.Response) -> Iterator[tuple[str, Any]]:
    """The events of a response as they come."""
    name = ""
    for line in response.iter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


@pytest.mark.parametrize("route", ["/ask", "/answer"])
def test_an_answer_is_streamed_on_demand(web: httpx.Client, route: str) -> None:
    body, asked_for = {"question": QUESTION}, {"accept": "text/event-stream"}
    response = web.post(route, json=body, headers=asked_for)
    assert response.headers["content-type"].startswith("text/event-stream")
    found = list(events(response))
    assert {name for name, _ in found[:-1]} <= {"stage", "token"}
    text = "".join(data["text"] for name, data in found if name == "token")
    whole = found[-1][1]
    assert "4,812 ships" in text
    assert whole == web.post(route, json=body).json() | {name: whole[name] for name in ("usage",) if name in whole}


def test_an_invalid_question_is_refused_before_streaming(web: httpx.Client) -> None:
    response = web.post(
        "/answer", json={"question": QUESTION, "indexName": "nowhere"}, headers={"accept": "text/event-stream"}
    )
    assert api.error_of(response) == (404, "not_found")


def test_search_has_every_score(web: httpx.Client, documents: dict[str, str]) -> None:
    found = web.post("/search", json={"query": QUESTION, "topK": 1}).json()
    (hit,) = found["results"]
    assert hit["fileId"] == documents["harbour.pdf"]
    assert all(0 <= hit[name] <= 1 for name in ("vectorScore", "lexicalScore", "finalScore"))
    assert found["topK"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": ""},
        {"question": "   "},
        {"question": "x" * 4001},
        {"question": 7},
        {"question": "x", "mustIncludeMode": "some"},
        {"question": "x", "mustInclude": ["w"] * 21},
        {"question": "x", "filters": {"folder": "y"}},
        {"question": "x", "unknown": 1},
    ],
)
def test_malformed_questions_are_named(web: httpx.Client, body: dict[str, object]) -> None:
    assert api.error_of(web.post("/ask", json=body)) == (422, "validation")


def test_problems_of_a_text_are_described_in_words(web: httpx.Client) -> None:
    refused = web.post("/ask", json={"question": "   ", "indexName": "\x00"}).json()["error"]
    assert refused["message"] == (
        "The request is malformed. question: Text should have something visible, and no zero byte; "
        "indexName: Text should have no zero byte."
    )
    assert [problem["field"] for problem in refused["details"]["problems"]] == ["question", "indexName"]
    refused = web.get("/documents", params={"search": "\x00"}).json()["error"]
    assert refused["message"] == "The request is malformed. search: Text should have no zero byte."


def test_a_conversation_is_kept(web: httpx.Client) -> None:
    started = web.post("/conversations", json={"title": "Ships"})
    assert started.status_code == 201
    path = f"/conversations/{started.json()['id']}"
    turn = web.post(f"{path}/messages", json={"question": QUESTION})
    assert turn.status_code == 201
    assert "4,812" in turn.json()["content"]
    turns = web.get(f"{path}/messages").json()["items"]
    assert [item["role"] for item in turns] == ["user", "assistant"]
    assert turns[1]["response"]["citations"][0]["verdict"] == "verified"
    asked, answered = (item["id"] for item in turns)
    assert web.patch(f"{path}/messages/{answered}", json={"rating": "good"}).status_code == 204
    again = {"question": "How many ships came to the harbour in 2019?", "beside": asked}
    web.post(f"{path}/messages", json=again)
    shown = web.get(f"{path}/messages").json()["items"]
    assert shown[0]["content"] == again["question"]
    assert shown[0]["versions"] == [asked, shown[0]["id"]]
    assert web.patch(f"{path}/messages/{asked}", json={"shown": True}).status_code == 204
    assert web.get(f"{path}/messages").json()["items"][1]["rating"] == "good"
    (hit,) = web.get("/conversations/search", params={"q": "harbour 4,812"}).json()["items"]
    assert "4,812" in hit["excerpt"]
    assert web.patch(path, json={"title": "Harbour", "pinned": True}).json()["pinned"]
    assert [item["title"] for item in web.get("/conversations").json()["items"]] == ["Harbour"]
    assert web.delete(path).status_code == 204
    assert api.error_of(web.get(path)) == (404, "not_found")
    assert api.error_of(web.post(f"{path}/messages", json={"question": QUESTION})) == (404, "not_found")


# --- chats with a model that writes ---


@pytest.fixture
def writer(database_url: str, tmp_path: Path) -> Iterator[tuple[httpx.Client, VendorServer]]:
    """The API of an engine with a language model, and the server behind that."""
    with vendors.vendor("openai") as vendor:
        settings = {**vendor.settings, "rag_embed_model": "local"}
        with api.open_engine(database_url, tmp_path / "data", **settings) as engine, api.serving(engine) as url:
            api.take_in(engine, ("harbour.pdf",))
            with api.client(url) as client:
                yield client, vendor.server


@pytest.mark.parametrize("route", ["/ask", "/answer"])
def test_a_streamed_answer_comes_before_the_model_has_judged_it(
    writer: tuple[httpx.Client, VendorServer], route: str
) -> None:
    web, model = writer
    judging = threading.Event()
    before = 2 if route == "/ask" else 0  # completions that widen the search
    model.replies += ["ships"] * before + [
        "It handled 4,812 ships in 2019 [S1]. Heavy loads can be hoisted there [S1].",
        json.dumps({"verdicts": [{"claim": 2, "words": [], "missing": "", "verdict": "supported"}]}),
    ]
    model.faults += [None] * (before + 1) + [Held(judging)]
    asked_for = {"accept": "text/event-stream"}
    with web.stream("POST", route, json={"question": QUESTION}, headers=asked_for) as response:
        found = events(response)
        so_far = next(data["soFar"] for name, data in found if name == "stage" and data["name"] == "judging")
        judging.set()
        rest = list(found)
    assert [name for name, _ in rest] == ["answer"]
    whole = rest[-1][1]
    assert so_far.keys() == whole.keys()
    assert so_far["answer"] == whole["answer"]
    assert [sentence["support"] for sentence in so_far["sentences"]] == ["supported", "not_verified"]
    assert [sentence["support"] for sentence in whole["sentences"]] == ["supported", "supported"]
    assert len(model.requests) == before + 2


MARK = r"\[S\d+\]"


def test_whole_documents_are_read_for_who_says_so_and_offered_to_others(database_url: str, tmp_path: Path) -> None:
    pages = pdfs.pages(6, line=lambda n: f"In table {n} the fee is {n}00 francs.", others=["It is due in May."] * 20)
    options: dict[str, object] = {"maxContextTokens": 400, "judgeWithModel": False, "planSearches": False}
    question = "List all fees in fees.pdf"
    with vendors.vendor("openai") as vendor:
        settings = {**vendor.settings, "rag_embed_model": "local"}
        with (
            api.open_engine(database_url, tmp_path / "data", **settings) as engine,
            api.serving(engine) as url,
            api.client(url) as web,
        ):
            engine.documents.process(engine.documents.add(pages, "fees.pdf", enqueue=False).id)
            vendor.server.reply_to = lambda prompt: f"The fee is due in May {re.findall(MARK, prompt)[0]}."
            offered = web.post("/answer", json={"question": question, "options": options}).json()["reading"]
            assert (offered["pages"], offered["isDone"]) == (6, False)
            asked = len(vendor.server.requests)
            body = {"question": question, "options": options | {"reading": "whole"}}
            with web.stream("POST", "/answer", json=body, headers={"accept": "text/event-stream"}) as response:
                found = list(events(response))
            stages = [data for name, data in found if name == "stage" and "parts" in data]
            assert [stages[0]["partsRead"], stages[-1]["partsRead"]] == [0, offered["parts"]]
            assert found[-1][1]["reading"]["isDone"]
            assert len(vendor.server.requests) == asked + offered["parts"] + 1
            assert web.post("/ask", json={"question": question, "reading": "some"}).status_code == 422


@pytest.mark.parametrize("route", ["/ask", "/answer"])
def test_the_model_stops_writing_when_the_client_goes(writer: tuple[httpx.Client, VendorServer], route: str) -> None:
    web, model = writer
    model.faults.append(Endless())
    client = http.client.HTTPConnection(web.base_url.netloc.decode())
    headers = {"content-type": "application/json", "x-api-key": api.SHARED_KEY}
    client.request("POST", route, json.dumps({"question": QUESTION}), headers)
    assert eventually(lambda: not model.faults)  # it writes
    client.close()
    assert model.left.wait(PATIENCE_SECONDS)


def test_a_follow_up_is_understood_by_the_last_turns_of_its_chat(writer: tuple[httpx.Client, VendorServer]) -> None:
    web, model = writer
    chat = web.post("/conversations", json={}).json()["id"]
    for number in range(1, 6):
        model.requests.clear()
        model.pieces = [f"Here is answer {number}:\n\nThe harbour of Lindmark handled 4,812 ships [S1]."]
        turn = web.post(f"/conversations/{chat}/messages", json={"question": f"What of the harbour's ships, {number}?"})
        assert turn.status_code == 201, turn.text
    (asked,) = model.bodies[0]["messages"]
    told = [line for line in asked["content"].split("\n") if line.startswith(("user:", "assistant:"))]
    assert told == [
        line
        for number in (2, 3, 4)
        for line in (
            f"user: What of the harbour's ships, {number}?",
            f"assistant: Here is answer {number}:",
        )
    ]
    assert "Last question: What of the harbour's ships, 5?" in asked["content"]

"""Matrices, templates and extraction over REST, as programs use them."""

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from rag import worker
from rag.engine import RAGEngine
from rag.types import MAX_FIELDS
from tests import pdfs
from tests.acceptance.api import client, error_of, key_of, serving
from tests.library import add

LINES = {1: "The harbour handled 4,812 ships in 2019.", 2: "The orchard grows eleven kinds of pears."}
SHIPS = {"name": "Ships", "instruction": "How many ships did the harbour handle in 2019?", "type": "number"}
QUASAR = "What does the xylophone quasar cost?"
SCHEMA = {
    "properties": {
        "schiffe": {"type": "integer", "description": SHIPS["instruction"], "x-unit": "ships"},
        "art": {"enum": ["Hafen", "Garten"]},
    },
    "required": ["schiffe"],
}

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[RAGEngine]:
    """An engine without a worker: tests do the work when they want it done."""
    monkeypatch.setenv("RAG_WORKER", "false")
    with RAGEngine() as opened:
        yield opened


@pytest.fixture
def document_id(engine: RAGEngine) -> str:
    return str(add(engine, pdfs.pages(2, line=LINES.__getitem__), "facts.pdf"))


@pytest.fixture
def web(engine: RAGEngine) -> Iterator[httpx.Client]:
    with serving(engine) as url, client(url, key_of(engine, "local", "write")) as opened:
        yield opened


def cells_of(matrix: dict[str, Any]) -> dict[str, Any]:
    """The cells by the names of their fields."""
    names = {field["id"]: field["name"] for field in matrix["matrix"]["fields"]}
    return {names[cell["cell"]["fieldId"]]: cell for cell in matrix["cells"]}


def test_a_matrix_is_filled_reviewed_and_exported(engine: RAGEngine, web: httpx.Client, document_id: str) -> None:
    asked = {"name": "Fäcts", "documentIds": [document_id], "fields": [SHIPS, QUASAR, SHIPS]}
    made = web.post("/matrices", json=asked).json()
    assert [one["name"] for one in made["fields"]] == ["Ships", QUASAR]
    path = f"/matrices/{made['id']}"
    worker.run(engine.installation, wait=False)
    found = web.get(path).json()
    assert (found["toFill"], found["job"]["status"]) == (0, "done")
    assert [row["documentId"] for row in found["rows"]] == [document_id]
    ships = cells_of(found)["Ships"]["cell"]
    assert ships["state"] == "found"
    assert ships["citations"][0]["quote"] == LINES[1]
    assert ships["citations"][0]["regions"][0]["pageNumber"] == 1
    assert ships["lineageId"] == found["rows"][0]["lineageId"]
    assert cells_of(found)[QUASAR]["cell"]["state"] == "not_stated"

    review = f"{path}/cells/{ships['lineageId']}/{ships['fieldId']}/review"
    corrected = web.put(review, json={"state": "corrected", "value": 4813, "words": "4,813"}).json()
    assert (corrected["review"]["state"], corrected["review"]["value"]) == ("corrected", 4813)
    assert corrected["cell"]["citations"] == ships["citations"]
    assert error_of(web.put(review, json={"state": "accepted"})) == (409, "conflict")
    seen = {"state": "accepted", "seenAt": corrected["review"]["reviewedAt"]}
    assert error_of(web.put(review, json={**seen, "filledAt": "2024-01-01T00:00:00Z"})) == (409, "conflict")
    naive = corrected["review"]["reviewedAt"].rstrip("Z")
    assert error_of(web.put(review, json={**seen, "seenAt": naive})) == (422, "validation")
    seen["filledAt"] = ships["filledAt"]
    assert web.put(review, json=seen).json()["review"]["state"] == "accepted"
    assert error_of(web.put(review, json={"state": "maybe"})) == (422, "validation")

    refused: list[dict[str, Any]] = [
        {"value": "x" * 20_001},
        {"words": "\0"},
        {"unit": "\0"},
        {"value": [{"a": "\0"}]},
        {"value": [{}] * 1001},
        {"citations": [{"quote": "\0", "pageNumber": 1}]},
        {"citations": [{"quote": "x", "pageNumber": 1, "regions": [{"pageNumber": 1, "rects": [[0, 0, 1e9, 1]]}]}]},
    ]
    for bad in refused:
        assert error_of(web.put(review, json={"state": "corrected", **bad})) == (422, "validation"), bad

    by_name = {one["name"]: one for one in made["fields"]}
    renamed = [{**by_name[QUASAR]}, {**by_name["Ships"], "name": "Ships of 2019"}]
    edited = web.patch(path, json={"fields": renamed, "name": "Facts", "seenAt": made["editedAt"]}).json()
    assert (edited["name"], [one["id"] for one in edited["fields"]]) == ("Facts", [one["id"] for one in renamed])
    assert error_of(web.patch(path, json={"fields": [SHIPS], "seenAt": made["editedAt"]})) == (409, "conflict")
    assert web.patch(path, json={"name": "Facts", "seenAt": edited["editedAt"]}).status_code == 200
    assert cells_of(web.get(path).json())["Ships of 2019"]["review"]["state"] == "accepted"
    file = web.get(f"{path}/export", params={"format": "csv"})
    assert file.headers["content-disposition"] == "attachment; filename*=UTF-8''Facts.csv"
    assert "facts.pdf,,4812" in file.content.decode("utf-8-sig")
    assert web.get(f"{path}/export").content[:2] == b"PK"
    copies = web.get(f"{path}/export", params={"format": "zip"})
    assert copies.headers["content-type"] == "application/zip"
    assert [name.endswith(".pdf") for name in zipfile.ZipFile(io.BytesIO(copies.content)).namelist()] == [True]
    whole = web.get(f"{path}/export", params={"format": "json"})
    assert whole.headers["content-type"] == "application/json"
    assert LINES[1] in json.dumps(whole.json())
    assert error_of(web.patch(path, json={"fields": []})) == (422, "validation")
    assert web.delete(path).status_code == 204
    assert web.get("/matrices").json() == []


def test_a_matrix_is_shared_with_a_collection(engine: RAGEngine, web: httpx.Client, document_id: str) -> None:
    request = {"documentIds": [document_id], "fields": [SHIPS], "indexName": "default"}
    shared = web.post("/matrices", json={**request, "name": "Ours"}).json()
    hidden = web.post("/matrices", json={**request, "name": "Mine", "indexName": None}).json()
    web.put("/matrix-templates/ours", json={"fields": [SHIPS], "indexName": "default"})
    worker.run(engine.installation, wait=False)
    engine.sharing.share({"grantee": "ada", "permission": "write"})
    with client(str(web.base_url), key_of(engine, "ada", "write")) as ada:
        for params in ({}, {"indexName": "shared:default"}):
            (listed,) = ada.get("/matrices", params=params).json()
            assert (listed["id"], listed["userId"], listed["permission"]) == (shared["id"], "local", "write")
        path = f"/matrices/{shared['id']}"
        found = ada.get(path).json()
        assert (found["permission"], found["rows"][0]["name"]) == ("write", "facts.pdf")
        cell = cells_of(found)["Ships"]["cell"]
        review = f"{path}/cells/{cell['lineageId']}/{cell['fieldId']}/review"
        assert ada.put(review, json={"state": "accepted"}).json()["review"]["reviewedBy"] == "ada"
        assert ada.post(f"{path}/fill").json()["userId"] == "local"
        assert ada.post(f"{path}/cancel").json()["status"] == "cancelled"
        assert b"4812" in ada.get(f"{path}/export", params={"format": "csv"}).content
        assert error_of(ada.patch(path, json={"name": "Theirs"})) == (403, "forbidden")
        assert error_of(ada.patch(path, json={"fields": [QUASAR]})) == (403, "forbidden")
        edited = ada.patch(path, json={"fields": [*shared["fields"], QUASAR], "seenAt": shared["editedAt"]}).json()
        assert [one["name"] for one in edited["fields"]] == ["Ships", QUASAR]
        assert ada.post(f"{path}/fill").json()["status"] == "queued"
        assert error_of(ada.delete(path)) == (403, "forbidden")
        assert ada.get(path).json()["job"]["status"] == "queued"
        for place in ("", "/export"):
            assert error_of(ada.get(f"/matrices/{hidden['id']}{place}")) == (404, "not_found")
        templates = ada.get("/matrix-templates", params={"indexName": "shared:default"}).json()
        assert [one["name"] for one in templates if one["indexId"]] == ["ours"]
        engine.sharing.unshare({"grantee": "ada"})
        assert error_of(ada.put(review, json={"state": "rejected"})) == (404, "not_found")
    assert cells_of(web.get(path).json())["Ships"]["review"]["reviewedBy"] == "ada"
    assert web.get(path).json()["permission"] is None


def test_a_pilot_fills_the_first_documents_until_all_are_asked_for(engine: RAGEngine, web: httpx.Client) -> None:
    ids = [str(add(engine, pdfs.plain([f"The harbour handled {n} ships in 2019."]), f"{n}.pdf")) for n in (11, 22)]
    made = web.post("/matrices", json={"name": "M", "documentIds": ids, "fields": [SHIPS], "pilot": 1}).json()
    path = f"/matrices/{made['id']}"
    worker.run(engine.installation, wait=False)
    found = web.get(path).json()
    assert (len(found["cells"]), found["toFill"], found["matrix"]["pilot"]) == (1, 0, 1)
    assert web.post(f"{path}/fill").status_code == 202  # stays a pilot
    assert web.get(path).json()["matrix"]["pilot"] == 1
    assert web.post(f"{path}/cancel").json()["status"] == "cancelled"
    assert web.post(f"{path}/fill", json={"pilot": None}).json()["status"] == "queued"
    worker.run(engine.installation, wait=False)
    found = web.get(path).json()
    assert (len(found["cells"]), found["toFill"], found["matrix"]["pilot"], found["nextOffset"]) == (2, 0, None, None)
    pages = [web.get(path, params={"limit": 1, "offset": offset}).json() for offset in (0, 1, 2)]
    assert [[row["documentId"] for row in page["rows"]] for page in pages] == [ids[:1], ids[1:], []]
    assert [[cell["cell"]["documentId"] for cell in page["cells"]] for page in pages] == [ids[:1], ids[1:], []]
    assert [page["nextOffset"] for page in pages] == [1, None, None]
    assert [(page["toFill"], page["reviewedDocuments"]) for page in pages] == [(0, found["reviewedDocuments"])] * 3
    assert error_of(web.post(f"{path}/fill", json={"pilot": 0})) == (422, "validation")


def test_templates_are_imported_used_exported_and_deleted(web: httpx.Client, document_id: str) -> None:
    packaged = {one["name"]: one["title"] for one in web.get("/matrix-templates").json()}
    assert packaged["annual_report"] == "Annual report"
    assert web.get("/matrix-templates/lease/schema").json()["properties"]["Monthly base rent"]["x-type"] == "money"
    saved = web.put("/matrix-templates/Häfen", json={"schema": SCHEMA}).json()
    assert (saved["name"], saved["isOwn"]) == ("Häfen", True)
    assert [(one["name"], one["type"], one["required"]) for one in saved["fields"]] == [
        ("schiffe", "number", True),
        ("art", "choice", False),
    ]
    schema = web.get("/matrix-templates/Häfen/schema").json()
    assert web.put("/matrix-templates/again", json={"schema": schema}).json()["fields"] == saved["fields"]
    matrix = {"name": "M", "documentIds": [document_id], "fields": saved["fields"]}
    made = web.post("/matrices", json=matrix).json()
    assert web.put("/matrix-templates/again", json={"matrixId": made["id"]}).json()["fields"] == saved["fields"]
    assert web.get("/matrix-templates/again").json()["fields"] == saved["fields"]
    assert web.delete("/matrix-templates/Häfen").status_code == 204
    assert error_of(web.get("/matrix-templates/Häfen")) == (404, "not_found")
    assert error_of(web.delete("/matrix-templates/lease")) == (404, "not_found")
    assert error_of(web.put("/matrix-templates/x", json={})) == (422, "validation")
    both = {"schema": SCHEMA, "template": "lease"}
    assert error_of(web.put("/matrix-templates/x", json=both)) == (422, "validation")


def test_a_schema_that_no_field_fits_is_refused_with_the_property(web: httpx.Client) -> None:
    refused = web.put("/matrix-templates/x", json={"schema": {"properties": {"p": {"type": "object"}}}})
    assert error_of(refused) == (422, "validation")
    assert "property p" in refused.json()["error"]["message"]
    many: dict[str, Any] = {"properties": {f"p{number}": {} for number in range(MAX_FIELDS + 1)}}
    assert error_of(web.put("/matrix-templates/x", json={"schema": many})) == (422, "validation")


def test_fields_are_suggested_for_documents_like_one(web: httpx.Client, engine: RAGEngine) -> None:
    lines = ["Lease of premises", "The landlord lets the premises to the tenant.", "Parking spaces: 12"]
    lease = add(engine, pdfs.plain(lines), "lease.pdf")
    found = web.get(f"/documents/{lease}/field-suggestions").json()
    assert (found["template"]["name"], found["model"]) == ("lease", None)
    assert found["suggested"][-1]["field"]["name"] == "Parking spaces"
    assert (found["suggested"][-1]["words"], found["suggested"][-1]["pageNumber"]) == ("12", 1)


@pytest.mark.parametrize(
    "given", [{"fields": [{**SHIPS, "name": "schiffe"}]}, {"schema": SCHEMA}, {"template": "Häfen"}], ids=str
)
def test_fields_are_extracted_at_once(web: httpx.Client, document_id: str, given: dict[str, Any]) -> None:
    web.put("/matrix-templates/Häfen", json={"schema": SCHEMA})
    found = web.post("/extract", json={"documentIds": [document_id], **given}).json()
    (row,) = found["rows"]
    assert (row["documentId"], row["name"]) == (document_id, "facts.pdf")
    ships = row["fields"]["schiffe"]
    assert ships["state"] == "found"
    assert ships["citations"][0]["quote"] == LINES[1]
    assert ships["citations"][0]["regions"][0]["rects"]
    assert 0 <= ships["confidence"] <= 1
    assert found["usage"]["inputTokens"] == 0
    assert web.get("/matrices").json() == []


def test_an_extraction_is_of_a_few_documents_that_were_read(
    web: httpx.Client, engine: RAGEngine, document_id: str
) -> None:
    asked = {"fields": [SHIPS]}
    assert error_of(web.post("/extract", json={**asked, "documentIds": []})) == (422, "validation")
    assert error_of(web.post("/extract", json={**asked, "documentIds": [document_id] * 11})) == (422, "validation")
    assert error_of(web.post("/extract", json={"documentIds": [document_id]})) == (422, "validation")
    unread = engine.documents.add(pdfs.plain(["Later."]), "later.pdf", enqueue=False)
    assert error_of(web.post("/extract", json={**asked, "documentIds": [str(unread.id)]})) == (404, "not_found")

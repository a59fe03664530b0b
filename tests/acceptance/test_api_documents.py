"""Documents, indexes and jobs over HTTP."""

import hashlib
import io
import json
import uuid
from pathlib import Path

import httpx
import pytest
from PIL import Image

from rag import worker
from rag.engine import RAGEngine
from tests import mails, pdfs, sheets, vendors
from tests.acceptance import api


def upload(
    web: httpx.Client, content: bytes, name: str, key: str | None = None, **fields: str | list[str]
) -> httpx.Response:
    headers = {"idempotency-key": key} if key else {}
    return web.post("/documents", files={"file": (name, content)}, data=fields, headers=headers)


@pytest.fixture
def content() -> bytes:
    """A file that no other test has."""
    return pdfs.plain(["The harbour handled 4,812 ships.", f"Its number is {uuid.uuid4()}."], title="Harbour")


@pytest.fixture
def ready(web: httpx.Client, engine: RAGEngine, content: bytes) -> str:
    """The address of a ready document."""
    response = upload(web, content, "harbour.pdf")
    assert response.status_code == 202, response.text
    assert response.json()["status"] == "queued"
    worker.run(engine.installation, wait=False)
    path = f"/{response.headers['location']}"
    assert web.get(path).json()["status"] == "ready"
    return path


def test_a_file_is_given_back_whole_and_in_ranges(web: httpx.Client, ready: str, content: bytes) -> None:
    whole = web.get(f"{ready}/content")
    assert whole.content == content
    assert whole.headers["content-type"] == "application/pdf"
    assert whole.headers["content-disposition"] == 'attachment; filename="harbour.pdf"'
    assert whole.headers["x-content-type-options"] == "nosniff"
    part = web.get(f"{ready}/content", headers={"range": "bytes=5-14"})
    assert (part.status_code, part.content) == (206, content[5:15])
    assert part.headers["content-range"] == f"bytes 5-14/{len(content)}"
    assert web.get(f"{ready}/content", headers={"range": "bytes=99999999-"}).status_code == 416
    tag = whole.headers["etag"]
    unchanged = web.get(f"{ready}/content", headers={"if-none-match": tag})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    other = web.get(f"{ready}/content", headers={"range": "bytes=5-14", "if-range": '"another"'})
    assert (other.status_code, other.content) == (200, content)


def test_an_overview_has_facts_with_their_places(web: httpx.Client, engine: RAGEngine) -> None:
    report = pdfs.annual_report(f"Harbour {uuid.uuid4().hex[:6]} Ltd")
    path = f"/{upload(web, report, 'report.pdf').headers['location']}"
    assert web.get(f"{path}/overview").json()["facts"] == []
    worker.run(engine.installation, wait=False)
    overview = web.get(f"{path}/overview").json()
    assert (overview["kind"], overview["pageCount"], overview["model"]) == ("annual_report", 6, None)
    income = next(fact for fact in overview["facts"] if fact["text"].startswith("Net income – 2021: 540"))
    assert income["pageNumber"] == 5
    box = ",".join(f"{side:.6f}" for side in income["regions"][0]["rects"][0])
    assert web.get(f"{path}/pages/5/image", params={"box": box}).status_code == 200
    for refused in (f"{path}/overview", f"{path}/overview/estimate"):
        response = web.post(refused, json={"provider": "extractive"})
        assert (response.status_code, response.json()["error"]["type"]) == (409, "config")
        assert web.post(refused, json={"temperature": 9}).status_code == 422
    assert web.get(f"/documents/{uuid.uuid4()}/overview").status_code == 404


def test_a_model_writes_the_overview_on_request(database_url: str, tmp_path: Path, content: bytes) -> None:
    with vendors.vendor("openai") as vendor:
        settings = {**vendor.settings, "rag_embed_model": "local"}
        with api.open_engine(database_url, tmp_path / "data", **settings) as engine, api.serving(engine) as url:
            document = engine.documents.add(content, "harbour.pdf", enqueue=False)
            path = f"/documents/{engine.documents.process(document.id).id}/overview"
            with api.client(url) as web:
                estimate = web.post(f"{path}/estimate").json()
                assert estimate["inputTokens"] > 300
                assert estimate["costUsd"] > 0
                vendor.server.pieces = ["- The harbour handled 4,812 ships [S1].\n- It has 40 cranes [S1]."]
                written = web.post(path).json()
                assert [fact["text"] for fact in written["facts"]] == ["The harbour handled 4,812 ships."]
                assert (written["model"], written["dropped"]) == (estimate["model"], 1)
                assert web.get(path).json() == written


def test_rows_of_a_table_are_counted_with_their_places(web: httpx.Client, engine: RAGEngine) -> None:
    rows = [("Order", "Amount (EUR)"), *((f"A{n}", 1000 * n) for n in range(1, 41)), (f"B {uuid.uuid4()}", 0)]
    path = f"/{upload(web, sheets.workbook(Orders=rows), 'orders.xlsx').headers['location']}/tables"
    assert api.error_of(web.get(path)) == (409, "conflict")
    worker.run(engine.installation, wait=False)
    (table,) = web.get(path).json()["items"]
    assert (table["name"], table["rowCount"], table["cells"]) == ("Orders", 41, "Orders!A2:B42")
    for query in (
        {"question": "How many orders over 30,000?"},
        {"sql": "SELECT count(*) FROM data WHERE amount_eur > 3e4"},
    ):
        result = web.post(f"{path}/query", json=query).json()
        assert (result["rows"], result["usedCount"], result["usedRows"]) == ([[10]], 10, [*range(32, 42)])
        region = result["citations"][0]["region"]
        assert (region["pageNumber"], region["cells"]) == (1, "Orders!A32:B32")
    for wrong in ({}, {"sql": "SELECT 1", "question": "How many?"}, {"sql": "COPY data TO 'x'"}, {"question": "Why?"}):
        assert api.error_of(web.post(f"{path}/query", json=wrong)) == (422, "validation")
    assert api.error_of(web.post(f"{path}/query", json={"table": 2, "sql": "SELECT 1"})) == (404, "not_found")


def test_a_model_writes_the_query_where_words_do_not(database_url: str, tmp_path: Path) -> None:
    rows = [("Order", "Amount (EUR)"), *((f"A{n}", 1000 * n) for n in range(1, 41))]
    question = "Which share of the orders is larger than 30,000?"
    with vendors.vendor("openai") as vendor:
        settings = {**vendor.settings, "rag_embed_model": "local"}
        with api.open_engine(database_url, tmp_path / "data", **settings) as engine, api.serving(engine) as url:
            document = engine.documents.process(
                engine.documents.add(sheets.workbook(Orders=rows), "o.xlsx", enqueue=False).id
            )
            sql = "SELECT count_if(amount_eur > 30000) / count(*) FROM data"
            replies = [{"table": 1, "sql": "SELECT * FROM read_csv('x')"}, {"table": 1, "sql": sql}]
            prompts: list[str] = []

            def reply(prompt: str) -> str:
                prompts.append(prompt)
                return json.dumps(replies.pop(0))

            vendor.server.reply_to = reply
            with api.client(url) as web:
                path = f"/documents/{document.id}/tables/query"
                result = web.post(path, json={"question": question}).json()
                assert (result["rows"], result["sql"], result["usedCount"]) == ([[0.25]], sql, 40)
                assert result["writtenBy"] not in {"words", "caller"}
                assert '"head": "Amount (EUR)"' in prompts[0]
                assert "table_function is not allowed" in prompts[1]
                asked = {
                    "question": "How many orders over 30,000?"
                }  # is counted as without a model, which is not asked
                result, answer = web.post(path, json=asked).json(), web.post("/answer", json=asked).json()
                assert (result["rows"], result["writtenBy"], len(prompts)) == ([[10]], "words", 2)
                assert (answer["answer"].partition(" [")[0], answer["model"]) == (
                    "Number of rows (Amount (EUR) > 30,000): 10",
                    "extractive",
                )
                replies.append({"table": 1, "sql": None})
                assert api.error_of(web.post(path, json={"question": question})) == (422, "validation")


def test_places_are_marked_and_noted(web: httpx.Client, ready: str) -> None:
    place = {"regions": [{"pageNumber": 1, "rects": [[72, 72, 200, 90]]}], "quote": "4,812 ships"}
    added = web.post(f"{ready}/annotations", json=place)
    assert added.status_code == 201, added.text
    path = f"{ready}/annotations/{added.json()['id']}"
    assert web.patch(path, json={"note": "Check this."}).json()["note"] == "Check this."
    (kept,) = web.get(f"{ready}/annotations").json()
    assert (kept["quote"], kept["note"]) == ("4,812 ships", "Check this.")
    assert kept["regions"][0]["rects"] == [[72, 72, 200, 90]]
    refused: tuple[dict[str, object], ...] = (
        {"regions": []},
        {"regions": [{"pageNumber": 0, "rects": [[1, 2, 3, 4]]}]},
        {"note": "x"},
    )
    for wrong in refused:
        assert web.post(f"{ready}/annotations", json=wrong).status_code == 422
    assert web.delete(path).status_code == 204
    assert web.delete(path).status_code == 404


def test_other_kinds_of_files_have_a_rendition(web: httpx.Client, engine: RAGEngine) -> None:
    added = upload(web, pdfs.word_document(), "minutes.docx").json()
    worker.run(engine.installation, wait=False)
    path = f"/documents/{added['id']}/content"
    assert web.get(path).content == pdfs.word_document() or web.get(path).content.startswith(b"PK")
    rendition = web.get(path, params={"form": "rendition"})
    assert rendition.content.startswith(b"%PDF")
    assert rendition.headers["content-disposition"] == 'attachment; filename="minutes.pdf"'


def test_what_is_in_a_mail_is_listed_and_goes_with_it(web: httpx.Client, engine: RAGEngine, content: bytes) -> None:
    mail = mails.eml({"harbour.pdf": content, "logo.svg": b"<svg></svg>"}, subject=str(uuid.uuid4()))
    added = upload(web, mail, "Offer.eml").json()
    worker.run(engine.installation, wait=False)
    found = web.get(f"/documents/{added['id']}").json()
    part, logo = found["parts"]
    assert (part["name"], part["reason"]) == ("harbour.pdf", None)
    assert (logo["documentId"], logo["reason"]) == (None, "of a kind that cannot be read (an SVG image)")
    inside = web.get(f"/documents/{part['documentId']}").json()
    assert (inside["status"], inside["containerId"], inside["source"]) == (
        "ready",
        added["id"],
        "Offer.eml › harbour.pdf",
    )
    assert web.delete(f"/documents/{added['id']}").status_code == 204
    assert web.get(f"/documents/{part['documentId']}").json()["deletedAt"]
    web.post(f"/documents/{added['id']}/restore")
    assert web.get(f"/documents/{part['documentId']}").json()["deletedAt"] is None
    web.delete(f"/documents/{added['id']}")
    purged = web.delete(f"/documents/{added['id']}", params={"permanent": True})
    assert purged.status_code == 200
    assert {*purged.json()["documentIds"]} >= {added["id"], part["documentId"]}
    assert web.get(f"/documents/{part['documentId']}").status_code == 404


def test_how_much_of_a_file_was_kept_is_told(web: httpx.Client, engine: RAGEngine) -> None:
    text = f"High at noon.\nA character of no font: \u0378.\n{uuid.uuid4().hex}"
    added = upload(web, text.encode(), "cut.txt").json()
    assert added["completeness"] is None
    worker.run(engine.installation, wait=False)
    told = web.get(f"/documents/{added['id']}").json()["completeness"]
    assert told["sourceCharacters"] - told["keptCharacters"] == 1
    (missing,) = told["missing"]
    assert (missing["place"], missing["characters"]) == ("line 2", 1)


def test_a_page_is_drawn_with_its_passage_marked(web: httpx.Client, ready: str) -> None:
    plain = web.get(f"{ready}/pages/1/image", params={"zoom": 1})
    assert plain.headers["content-type"] == "image/png"
    picture = Image.open(io.BytesIO(plain.content))
    assert picture.size == (pdfs.WIDTH, pdfs.HEIGHT)
    (chunk,) = web.get(f"{ready}/chunks").json()["items"]
    marked = web.get(f"{ready}/pages/1/image", params={"zoom": 1, "chunk": chunk["id"]})
    boxed = web.get(f"{ready}/pages/1/image", params={"zoom": 1, "box": "72,90,200,104"})
    assert len({hashlib.sha256(image.content).digest() for image in (plain, marked, boxed)}) == 3
    assert api.error_of(web.get(f"{ready}/pages/2/image")) == (404, "not_found")
    assert api.error_of(web.get(f"{ready}/pages/1/image", params={"chunk": str(uuid.uuid4())})) == (404, "not_found")
    assert api.error_of(web.get(f"{ready}/pages/1/image", params={"box": "1,2,3"})) == (422, "validation")
    for zoom in (5, -1, "nan", "inf", 1e300):
        assert api.error_of(web.get(f"{ready}/pages/1/image", params={"zoom": zoom})) == (422, "validation"), zoom


def test_chunks_have_lines_and_boxes(web: httpx.Client, ready: str) -> None:
    page = web.get(f"{ready}/chunks", params={"page": 1}).json()
    (chunk,) = page["items"]
    assert page["nextOffset"] is None
    assert chunk["lines"][0]["text"] == "The harbour handled 4,812 ships."
    assert len(chunk["lines"][0]["bbox"]) == 4
    assert web.get(f"{ready}/chunks", params={"page": 2}).json()["items"] == []


def test_a_document_goes_to_the_trash_and_back(web: httpx.Client, ready: str) -> None:
    number = ready.removeprefix("/documents/")

    def listed(*, trash: bool) -> bool:
        items = web.get("/documents", params={"trash": trash, "limit": 500}).json()["items"]
        return number in {item["id"] for item in items}

    assert api.error_of(web.delete(ready, params={"permanent": True})) == (409, "conflict")
    assert web.delete(ready).status_code == 204
    assert (listed(trash=False), listed(trash=True)) == (False, True)
    assert web.post(f"{ready}/restore").json()["deletedAt"] is None
    assert listed(trash=False)
    web.delete(ready)
    receipt = web.delete(ready, params={"permanent": True}).json()
    assert receipt["documentIds"] == [ready.rpartition("/")[2]]
    assert (receipt["files"], receipt["unfinished"]) == (2, 0)
    assert receipt["rows"] > receipt["chunks"] == receipt["vectors"] > 0
    assert api.error_of(web.get(ready)) == (404, "not_found")


def test_an_upload_can_be_repeated_under_its_key(web: httpx.Client) -> None:
    key = uuid.uuid4().hex
    content = pdfs.plain([f"The key of this upload is {key}."])
    first, again = upload(web, content, "a.pdf", key), upload(web, content, "a.pdf", key)
    assert (first.status_code, again.status_code) == (202, 200)
    assert again.json()["id"] == first.json()["id"]
    assert again.headers["idempotency-replayed"] == "true"
    assert api.error_of(upload(web, pdfs.plain(), "a.pdf", key)) == (422, "validation")
    duplicate = upload(web, content, "b.pdf")
    assert api.error_of(duplicate) == (409, "duplicate")
    assert duplicate.json()["error"]["details"]["document_id"] == first.json()["id"]


def test_an_encrypted_file_waits_for_its_password(web: httpx.Client, engine: RAGEngine) -> None:
    added = upload(web, pdfs.encrypted("open sesame"), "secret.pdf").json()
    assert added["status"] == "needs_password"
    path = f"/documents/{added['id']}"
    wrong = web.post(f"{path}/password", json={"password": "wrong"})
    assert api.error_of(wrong) == (422, "password")
    assert "wrong" not in str(wrong.json()["error"]["details"])
    assert web.post(f"{path}/password", json={"password": "open sesame"}).status_code == 202
    worker.run(engine.installation, wait=False)
    assert web.get(path).json()["status"] == "ready"


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        (b"", "empty.pdf", (422, "unreadable_file")),
        (b"\x00\x01\x02\x03", "program.exe", (422, "unsupported_file")),
    ],
)
def test_files_that_cannot_be_taken_in_are_named(
    web: httpx.Client, content: bytes, name: str, expected: tuple[int, str]
) -> None:
    assert api.error_of(upload(web, content, name)) == expected


def test_lists_come_in_pages(web: httpx.Client) -> None:
    web.post("/indexes", json={"name": "paged"})
    for number in range(3):
        assert upload(web, pdfs.plain([f"file {number}"]), f"{number}.pdf", indexName="paged").status_code == 202
    first = web.get("/documents", params={"indexName": "paged", "limit": 2}).json()
    second = web.get("/documents", params={"indexName": "paged", "limit": 2, "offset": first["nextOffset"]}).json()
    assert [item["name"] for item in first["items"] + second["items"]] == ["2.pdf", "1.pdf", "0.pdf"]
    assert second["nextOffset"] is None
    found = web.get("/documents", params={"indexName": "paged", "search": "1"}).json()
    assert [item["name"] for item in found["items"]] == ["1.pdf"]


def test_indexes_are_made_and_looked_into(web: httpx.Client) -> None:
    made = web.post("/indexes", json={"name": "contracts"})
    assert made.status_code == 201
    assert web.post("/indexes", json={"name": "contracts"}).json()["id"] == made.json()["id"]
    assert "contracts" in {index["name"] for index in web.get("/indexes").json()["items"]}
    assert web.get("/indexes/contracts").json()["documents"] == 0
    for path in ("/indexes/nowhere", "/documents?indexName=nowhere", "/conversations?indexName=nowhere"):
        assert api.error_of(web.get(path)) == (404, "not_found")
    assert api.error_of(web.post("/conversations", json={"indexName": "nowhere"})) == (404, "not_found")
    assert "nowhere" not in {index["name"] for index in web.get("/indexes").json()["items"]}  # looking makes nothing


def test_reindexing_is_a_job_that_can_be_followed(web: httpx.Client, engine: RAGEngine, ready: str) -> None:
    started = web.post("/reindex")
    assert started.status_code == 202
    path = f"/{started.headers['location']}"
    assert web.get(path).json()["status"] == "queued"
    worker.run(engine.installation, wait=False)
    done = web.get(path).json()
    assert done["status"] == "done"
    assert done["progress"]["done"] == done["progress"]["total"] == done["result"]["documents"] > 0
    assert path.removeprefix("/jobs/") in {
        job["id"] for job in web.get("/jobs", params={"kind": "reindex"}).json()["items"]
    }


def test_a_job_is_cancelled(web: httpx.Client, engine: RAGEngine, ready: str) -> None:
    path = f"/{web.post('/reindex').headers['location']}"
    cancelled = web.post(f"{path}/cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    worker.run(engine.installation, wait=False)
    assert web.get(path).json() == cancelled.json()
    assert api.error_of(web.post(f"/jobs/{uuid.uuid4()}/cancel")) == (404, "not_found")


# --- versions ---


def revised(web: httpx.Client, engine: RAGEngine, ready: str, **fields: str) -> dict[str, object]:
    """A second version of the document at `ready`, read."""
    content = pdfs.plain(["The harbour handled 5,103 ships.", f"Its number is {uuid.uuid4()}."], title="Harbour")
    response = upload(web, content, "harbour.pdf", **fields)
    assert response.status_code == 202, response.text
    worker.run(engine.installation, wait=False)
    found: dict[str, object] = web.get(f"/documents/{response.json()['id']}").json()
    return found


def test_a_new_version_takes_over_and_is_compared(web: httpx.Client, engine: RAGEngine, ready: str) -> None:
    first = web.get(ready).json()
    second = revised(web, engine, ready, replaces=first["id"])
    assert (second["version"], second["lineageId"], second["supersededBy"]) == (2, first["id"], None)
    listed = [one["id"] for one in web.get("/documents", params={"search": "harbour", "limit": 200}).json()["items"]]
    assert second["id"] in listed
    assert first["id"] not in listed
    assert web.get(ready).json()["supersededBy"] == second["id"]
    assert web.get(f"{ready}/content").status_code == 200
    versions = web.get(f"{ready}/versions").json()["items"]
    assert [one["version"] for one in versions] == [2, 1]
    diff = web.get(f"/documents/{second['id']}/diff").json()
    assert diff == web.get(f"/documents/{second['id']}/diff", params={"against": first["id"]}).json()
    assert (diff["oldVersion"], diff["newVersion"]) == (1, 2)
    change = diff["changes"][0]
    assert (change["kind"], change["old"]["pageNumber"], bool(change["new"]["regions"])) == ("changed", 1, True)
    assert "4,812" in change["old"]["text"]
    assert "5,103" in change["new"]["text"]
    assert api.error_of(web.get(f"{ready}/diff")) == (409, "conflict")
    back = web.post(f"{ready}/current").json()
    assert (back["id"], back["version"], back["supersededBy"]) == (first["id"], 3, None)
    assert api.error_of(web.post(f"{ready}/current")) == (409, "conflict")


def test_a_file_of_the_same_name_is_asked_about(web: httpx.Client, engine: RAGEngine, content: bytes) -> None:
    name = f"{uuid.uuid4()}.pdf"
    first = upload(web, content, name).json()
    other = pdfs.plain([f"Another {uuid.uuid4()}."])
    asked = upload(web, other, name, onSameName="ask")
    assert api.error_of(asked) == (409, "same_name")
    assert asked.json()["error"]["details"]["document_id"] == first["id"]
    assert upload(web, other, name, onSameName="version").json()["version"] == 2
    alone = upload(web, pdfs.plain([f"A third {uuid.uuid4()}."]), name).json()
    assert (alone["version"], alone["lineageId"]) == (1, alone["id"])
    nobody = upload(web, pdfs.plain([f"A fourth {uuid.uuid4()}."]), name, replaces=str(uuid.uuid4()))
    assert api.error_of(nobody) == (404, "not_found")
    assert api.error_of(upload(web, other, name, onSameName="perhaps")) == (422, "validation")


def test_an_upload_with_a_tag_joins_the_matrix_that_follows_it(
    web: httpx.Client, engine: RAGEngine, content: bytes
) -> None:
    request = {"name": "Piers", "fields": ["How many ships?"], "follows": {"indexName": "default", "tags": ["pier"]}}
    matrix = web.post("/matrices", json=request).json()
    key, name = str(uuid.uuid4()), f"{uuid.uuid4()}.pdf"
    made = upload(web, content, name, key, tag=["Pier", "2024"]).json()
    assert made["tags"] == ["Pier", "2024"]
    engine.documents.tag([uuid.UUID(made["id"])], remove=["pier"])
    assert upload(web, content, name, key, tag=["Pier"]).json()["tags"] == ["2024", "Pier"]  # as if it had ended before
    worker.run(engine.installation, wait=False)
    assert [row["documentId"] for row in web.get(f"/matrices/{matrix['id']}").json()["rows"]] == [made["id"]]
    later = upload(web, pdfs.plain([f"Later {uuid.uuid4()}."]), name, replaces=made["id"], tag=["signed"]).json()
    worker.run(engine.installation, wait=False)
    assert web.get(f"/documents/{later['id']}").json()["tags"] == ["2024", "Pier", "signed"]
    web.delete(f"/matrices/{matrix['id']}")
    for wrong in ("", "x" * 65, "a\nb"):
        other = f"{uuid.uuid4()}.pdf"
        assert api.error_of(upload(web, pdfs.plain([other]), other, tag=[wrong])) == (422, "validation")
        assert web.get("/documents", params={"search": other}).json()["items"] == []


def test_kept_answers_say_what_became_of_their_quotes(web: httpx.Client, engine: RAGEngine, ready: str) -> None:
    first = web.get(ready).json()
    chat = web.post("/conversations", json={"documentIds": [first["id"]]}).json()
    address = f"/conversations/{chat['id']}/messages"
    said = web.post(address, json={"question": "How many ships did the harbour handle?"}).json()
    assert "later" not in said["response"]["citations"][0]
    second = revised(web, engine, ready, replaces=first["id"])
    kept = web.get(address).json()["items"][-1]["response"]["citations"][0]
    assert kept["fileId"] == first["id"]
    assert {key: kept["later"][key] for key in ("documentId", "version", "latestVersion", "change", "pageNumber")} == {
        "documentId": second["id"],
        "version": 1,
        "latestVersion": 2,
        "change": "changed",
        "pageNumber": 1,
    }
    assert web.get(f"/conversations/{chat['id']}").json()["documentIds"] == [second["id"]]

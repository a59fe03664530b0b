"""Sharing and the audit as people use them: on the pages, over REST, and on the command line."""

import csv
import io
from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from rag.config import load_config
from rag.engine import RAGEngine
from rag.types import Document, Rect, ShareRequest, TextBlock
from tests.acceptance.api import client, key_of, serving

KNOWN = "The harbour of Lindmark was dredged to a depth of fourteen metres."

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def engine() -> Iterator[RAGEngine]:
    with RAGEngine(load_config()) as opened:
        yield opened


def add(engine: RAGEngine, name: str, index_name: str = "default") -> Document:
    document = engine.documents.add(KNOWN.encode(), name, index_name=index_name, enqueue=False)
    block = TextBlock(page_number=1, bbox=Rect(0, 0, 9, 9), line_start=1, line_end=1, text=KNOWN)
    return engine.index_document(document.id, [block])


def test_over_rest_a_shared_collection_is_read_until_it_is_withdrawn(engine: RAGEngine) -> None:
    document = add(engine, "known.txt")
    admin, reads = key_of(engine, "local", "admin"), key_of(engine, "ada", "write")
    with serving(engine) as url, client(url, admin) as owner, client(url, reads) as ada:
        assert ada.get(f"/documents/{document.id}").status_code == 404
        assert ada.put("/shares", json={"grantee": "bob"}).status_code == 403
        given = owner.put("/shares", json={"grantee": "ada"})
        assert [share["grantee"] for share in given.json()["items"]] == ["ada"]

        (shared,) = ada.get("/shared").json()["items"]
        index = shared["index"]["id"]
        assert [one["name"] for one in ada.get("/documents", params={"indexName": index}).json()["items"]] == [
            "known.txt"
        ]
        assert ada.get(f"/documents/{document.id}/content").text == KNOWN
        found = ada.post("/search", json={"indexName": index, "query": "How deep is the harbour?"}).json()
        assert found["results"]
        assert ada.patch(f"/documents/{document.id}", json={"title": "Mine"}).status_code == 403
        assert ada.delete(f"/documents/{document.id}").status_code == 403
        chat = ada.post("/conversations", json={"indexName": index}).json()
        asked = ada.post(f"/conversations/{chat['id']}/messages", json={"question": "How deep is the harbour?"})
        assert "fourteen" in asked.text

        assert owner.post("/shares/withdraw", json={"grantee": "ada"}).json()["items"] == []
        assert ada.get(f"/documents/{document.id}/content").status_code == 404
        assert ada.get("/documents", params={"indexName": index}).status_code == 404
        assert ada.get("/shared").json()["items"] == []
        assert len(ada.get(f"/conversations/{chat['id']}/messages").json()["items"]) == 2

        told = owner.get("/audit", params={"action": "share"}).json()["items"]
        assert [(entry["action"], entry["door"]) for entry in told] == [
            ("share.withdraw", "rest"),
            ("share.give", "rest"),
        ]
        own = {(entry["actor"], entry["owner"]) for entry in ada.get("/audit").json()["items"]}
        assert own
        assert all("ada" in entry for entry in own)
        rows = list(csv.DictReader(io.StringIO(owner.get("/audit", params={"csv": True}).text)))
        assert rows[0]["action"] == "share.withdraw"


def tables(app: AppTest) -> str:
    shown = [node.proto.json for node in app.get("bidi_component") if node.key == "library-table"]
    return "\n".join([*shown, *(str(one.value) for one in app.dataframe)])


def test_in_the_app_a_shared_collection_is_chosen_and_the_audit_is_read(app: AppTest, engine: RAGEngine) -> None:
    owner = engine.installation.for_user("ada")
    add(owner, "known.txt")
    owner._workspace.store.shares.share(owner.indexes.list()[0].id, ShareRequest(grantee="local"), is_admin=True)
    app.run().switch_page("pages/library.py").run()
    assert not app.exception
    assert "known.txt" not in tables(app)

    (switch,) = [box for box in app.selectbox if box.label == "Collection"]
    switch.set_value(str(owner.indexes.list()[0].id)).run()
    assert not app.exception
    assert "known.txt" in tables(app)
    assert {button.help for button in app.button if button.label in ("Edit", "Delete") and button.disabled} == {
        "This collection is shared with you for reading only."
    }

    owner.sharing.unshare({"grantee": "local"})
    app.run()
    assert not app.exception
    assert "known.txt" not in tables(app)

    app.switch_page("pages/audit.py").run()
    assert not app.exception
    shown = app.dataframe[0].value
    assert {"Shared", "No longer shared", "Document uploaded"} <= set(shown["What"])
    assert "with: a user, name: local, permissions: read" in set(shown["Details"])

"""Taking answers along as people do it: on the pages, over REST, and on the command line."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from rag.config import load_config
from rag.engine import RAGEngine
from rag.ui import session
from tests import pdfs
from tests.acceptance.api import client, key_of, serving

APP = Path(__file__).parents[2] / "app.py"
PATIENCE_SECONDS = 60
FACT = "The harbour of Lindmark handled 4,812 ships in 2019."
QUESTION = "How many ships did the harbour of Lindmark handle?"

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[RAGEngine]:
    monkeypatch.setenv("RAG_WORKER", "false")
    with RAGEngine(load_config()) as opened:
        yield opened
    session.installation().close()
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def kept(engine: RAGEngine) -> tuple[uuid.UUID, uuid.UUID]:
    """A conversation and its answer."""
    document = engine.documents.add(pdfs.plain([FACT]), "harbour.pdf", enqueue=False)
    engine.documents.process(document.id)
    conversation = engine.chats.start("Ships")
    return conversation.id, engine.chats.ask(conversation.id, QUESTION).id


def opened(name: str, conversation_id: str, message_id: str) -> None:
    """A page on which something of the menu was chosen."""
    import uuid

    from rag.ui.chat import export

    getattr(export, name)(uuid.UUID(conversation_id), uuid.UUID(message_id))


def test_a_saved_answer_is_exported_and_shared_on_the_page(kept: tuple[uuid.UUID, uuid.UUID]) -> None:
    app = AppTest.from_file(APP, default_timeout=PATIENCE_SECONDS)
    app.query_params["chat"] = str(kept[0])
    app.run()
    assert not app.exception
    assert not app.error
    pages = {}
    for name in ("_copy", "_save", "_ask_again", "_share"):
        kwargs = {"name": name, "conversation_id": str(kept[0]), "message_id": str(kept[1])}
        pages[name] = AppTest.from_function(opened, kwargs=kwargs, default_timeout=PATIENCE_SECONDS).run()
        assert not pages[name].exception, name
        assert not pages[name].error, name
    assert FACT in pages["_copy"].code[0].value
    assert "The same answer" in pages["_ask_again"].markdown[0].value
    assert pages["_save"].get("download_button")
    app.switch_page("pages/shared.py").run()
    assert not app.exception
    assert "Nothing is shared with you" in [title.value for title in app.subheader]


def test_whom_to_show_it_is_chosen_from_a_list(engine: RAGEngine, kept: tuple[uuid.UUID, uuid.UUID]) -> None:
    engine.installation.accounts.set_groups("ada", ["analysts"])
    engine.sharing.share({"grantee": "bob"})  # reads the collection
    kwargs = {"name": "_share", "conversation_id": str(kept[0]), "message_id": str(kept[1])}
    app = AppTest.from_function(opened, kwargs=kwargs, default_timeout=PATIENCE_SECONDS).run()
    (people,) = app.selectbox
    assert people.options == ["bob", "ada", "Group analysts"]
    people.select("Group analysts")
    (show,) = [button for button in app.button if button.label == "Share"]
    show.click().run()  # ends in a rerun of the dialog alone, for which a page must have opened it
    (link,) = engine.store.answer_links.list(kept[0])
    assert (link.grantee_kind, link.grantee, link.message_id) == ("group", "analysts", kept[1])


def test_a_saved_answer_is_exported_and_shared_over_rest(engine: RAGEngine) -> None:
    document = engine.documents.add(pdfs.plain([FACT]), "harbour.pdf", enqueue=False)
    engine.documents.process(document.id)
    admin, reads = key_of(engine, "local", "admin"), key_of(engine, "ada", "write")
    with serving(engine) as url, client(url, admin) as owner, client(url, reads) as ada:
        chat = owner.post("/conversations", json={"title": "Ships"}).json()["id"]
        answer = owner.post(f"/conversations/{chat}/messages", json={"question": QUESTION}).json()["id"]
        file = owner.get(f"/conversations/{chat}/export", params={"format": "pdf", "messageId": answer})
        assert (file.headers["content-type"], file.content[:5]) == ("application/pdf", b"%PDF-")
        assert "attachment" in file.headers["content-disposition"]
        copy = owner.get(
            f"/conversations/{chat}/messages/{answer}/marked", params={"documentId": str(document.id), "whole": True}
        )
        assert copy.content[:5] == b"%PDF-"
        again = owner.post(f"/conversations/{chat}/messages/{answer}/again").json()
        assert (again["same"], again["differences"]) == (True, [])
        assert "/" not in again["response"]["sources"][0]["source"]

        assert ada.get(f"/conversations/{chat}/export").status_code == 404
        assert ada.post(f"/conversations/{chat}/links", json={"grantee": "ada"}).status_code == 404
        link = owner.post(f"/conversations/{chat}/links", json={"grantee": "ada"}).json()["id"]
        assert ada.get("/links").json()["items"] == []
        owner.put("/shares", json={"grantee": "ada"})
        assert [one["id"] for one in ada.get("/links").json()["items"]] == [link]
        assert FACT in ada.get(f"/links/{link}/messages").text
        assert ada.delete(f"/links/{link}").status_code == 404
        assert owner.delete(f"/links/{link}").status_code == 204
        assert ada.get(f"/links/{link}/messages").status_code == 404

"""The index page tells which embedding models an index has vectors of, and leads from one to the other."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from rag.config import load_config
from rag.engine import RAGEngine
from tests import pdfs, vendor_servers

LOCAL = "local:bge-small-en-v1.5"
VENDORS = "openai_compatible:nomic-embed-text"

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def app(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The app, which searches with the embedded model, and knows a vendor's."""
    monkeypatch.setenv("RAG_GEN_MODEL", "extractive")
    with vendor_servers.openai_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield app


@pytest.fixture
def engine(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> Iterator[RAGEngine]:
    """An engine over the same library; two documents are in the index."""
    monkeypatch.setenv("RAG_EMBED_MODEL", LOCAL)
    config = load_config()
    monkeypatch.delenv("RAG_EMBED_MODEL")
    with RAGEngine(config) as engine:
        for name in ("harbour", "orchard"):
            engine.documents.process(
                engine.documents.add(pdfs.plain([f"All of the {name}."]), f"{name}.pdf", enqueue=False).id
            )
        yield engine


def overview(app: AppTest) -> AppTest:
    app.run().switch_page("pages/index.py").run()
    assert not app.exception
    assert not app.error
    return app


def words(app: AppTest) -> str:
    return "\n".join(str(element.value) for element in (*app.markdown, *app.subheader, *app.text))


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button if "ache" not in button.label]


def test_one_model_needs_no_choice(app: AppTest, engine: RAGEngine) -> None:
    overview(app)
    assert LOCAL in words(app)
    assert "Embedding models" not in words(app)


def test_switch_rollback_and_drop(app: AppTest, engine: RAGEngine) -> None:
    engine.indexes.generations("default").build(VENDORS)
    overview(app)
    assert "In use" in words(app)
    assert buttons(app) == ["Switch", "Delete vectors"]

    app.button(key="switch-2").click().run()
    assert not app.exception
    assert [one.state for one in engine.indexes.generations().list()] == ["retired", "active"]
    assert buttons(app) == ["Roll back", "Delete vectors"]

    app.button(key="rollback-1").click().run()
    assert [one.state for one in engine.indexes.generations().list()] == ["active", "ready"]
    assert buttons(app) == ["Switch", "Delete vectors"]

    app.button(key="drop-now-2").click().run()
    assert [one.space.name for one in engine.indexes.generations().list()] == [LOCAL]
    assert "Embedding models" not in words(app)


def test_a_build_shows_how_far_it_is_and_can_be_cancelled(app: AppTest, engine: RAGEngine) -> None:
    class Killed(Exception):  # noqa: N818  # not an error
        pass

    def kill(_stage: str, done: int, _total: int) -> None:
        if done:
            raise Killed

    with pytest.raises(Killed):
        engine.indexes.generations("default").build(VENDORS, kill)
    overview(app)
    assert "Incomplete" in words(app)
    (progress,) = app.get("progress")
    assert progress.proto.text == "1 of 2 chunks"
    assert buttons(app) == ["Delete vectors"]
    app.button(key="drop-now-2").click().run()
    assert [one.space.name for one in engine.indexes.generations().list()] == [LOCAL]


def test_a_model_that_cannot_be_used_is_not_switched_to(
    app: AppTest, engine: RAGEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.indexes.generations("default").build(VENDORS)
    monkeypatch.delenv("OPENAI_BASE_URL")
    overview(app)
    app.button(key="switch-2").click().run()
    assert not app.exception
    assert "compatible server needs" in app.error[0].value
    assert [one.state for one in engine.indexes.generations().list()] == ["active", "ready"]

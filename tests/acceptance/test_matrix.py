"""Matrices as people have them: on their page, over REST, and on the command line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from rag import vocabulary, worker
from rag.engine import RAGEngine
from rag.ui import session
from tests import pdfs
from tests.acceptance.api import client, error_of, key_of, serving

APP = Path(__file__).parents[2] / "app.py"
LINES = {1: "The harbour handled 4,812 ships in 2019.", 2: "The orchard grows eleven kinds of pears."}
SHIPS, QUASAR = "How many ships did the harbour handle in 2019?", "What does the xylophone quasar cost?"

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The app without a worker: tests do the work when they want it done."""
    monkeypatch.setenv("RAG_WORKER", "false")
    yield AppTest.from_file(APP, default_timeout=60)
    session.installation().close()
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def engine(app: AppTest) -> Iterator[RAGEngine]:
    with RAGEngine() as engine:
        added = engine.documents.add(pdfs.pages(2, line=LINES.__getitem__), "facts.pdf", enqueue=False)
        engine.documents.process(added.id)
        yield engine


def opened(app: AppTest) -> AppTest:
    app.run().switch_page("pages/matrix.py").run()
    assert not app.exception
    assert not app.error
    return app


def press(app: AppTest, label: str) -> None:
    (button,) = [button for button in app.button if button.label == label]
    button.click().run()
    assert not app.exception
    assert not app.error


def test_a_matrix_is_begun_from_a_template_filled_and_deleted(app: AppTest, engine: RAGEngine) -> None:
    opened(app)
    assert "No matrix yet" in [heading.value for heading in app.subheader]
    press(app, "New matrix")
    template = vocabulary.question_sets()[0]
    app.pills[0].set_value(template.title).run()
    press(app, "Ask")
    (begun,) = engine.store.matrices.list()
    assert begun.questions == template.questions
    press(app, "Cancel")
    engine.matrices.delete(begun.id)
    [added] = engine.documents.list()
    asked = engine.matrices.create({"name": "Facts", "documentIds": [added.id], "questions": [SHIPS, QUASAR]})
    worker.run(engine.installation, wait=False)
    opened(app)
    (row,) = app.dataframe[0].value.to_dict("records")
    assert row == {"document": "facts.pdf", "q0": f"≈ p. 1 · {LINES[1]}", "q1": "not found"}
    assert "Ask now" not in [button.label for button in app.button]
    press(app, "Edit")
    (name,) = [field for field in app.text_input if field.label == "Name"]
    name.set_value("Figures")
    press(app, "Save")
    (edited,) = [one for one in engine.store.matrices.list() if one.id == asked.id]
    assert (edited.name, edited.questions, edited.job_id) == ("Figures", asked.questions, asked.job_id)
    assert len(engine.matrices.get(asked.id).cells) == 2
    press(app, "Delete the matrix")
    assert asked not in engine.store.matrices.list()
    assert "No matrix yet" in [heading.value for heading in app.subheader]


def test_what_stands_below_the_progress_keeps_its_place(app: AppTest, engine: RAGEngine) -> None:
    """Else it is there twice while the page is written anew, and jumps."""
    [added] = engine.documents.list()
    engine.matrices.create({"name": "Facts", "documentIds": [added.id], "questions": [SHIPS]})
    opened(app)
    assert "Cancel" in [button.label for button in app.button]
    before = place(app)
    worker.run(engine.installation, wait=False)
    opened(app)
    assert "Cancel" not in [button.label for button in app.button]
    assert place(app) == before


def place(app: AppTest) -> list[int]:
    """Of the table: its number in its container, and before it of this in its own, from the page down."""
    return next(path for path, node in nodes(app.main) if node is app.dataframe[0])


def nodes(block: Any, *path: int) -> Iterator[tuple[list[int], Any]]:
    for number, child in getattr(block, "children", {}).items():
        yield [*path, number], child
        yield from nodes(child, *path, number)


def test_a_matrix_is_filled_and_exported_over_rest(engine: RAGEngine) -> None:
    [document] = engine.documents.list()
    key = key_of(engine, "local", "write")
    with serving(engine) as url, client(url, key) as web:
        assert "10-K basics" in [one["title"] for one in web.get("/matrix-templates").json()]
        asked = {"name": "Fäcts", "documentIds": [str(document.id)], "questions": [SHIPS, QUASAR, SHIPS]}
        made = web.post("/matrices", json=asked).json()
        assert [one["text"] for one in made["questions"]] == [SHIPS, QUASAR]
        path = f"/matrices/{made['id']}"
        worker.run(engine.installation, wait=False)
        found = web.get(path).json()
        assert (found["toAsk"], found["job"]["status"]) == (0, "done")
        assert [row["documentId"] for row in found["rows"]] == [str(document.id)]
        ships = next(one for one in found["cells"] if one["cell"]["question"] == 0)
        assert (ships["cell"]["quote"], ships["cell"]["lineageId"]) == (LINES[1], found["rows"][0]["lineageId"])
        assert web.patch(path, json={"questions": [QUASAR, SHIPS], "name": "Facts"}).json()["name"] == "Facts"
        assert {one["cell"]["question"]: one["cell"]["status"] for one in web.get(path).json()["cells"]} == {
            0: "not_found",
            1: "answered",
        }
        assert web.post(f"{path}/fill").json()["status"] == "queued"
        assert web.post(f"{path}/cancel").json()["status"] == "cancelled"
        file = web.get(f"{path}/export", params={"format": "csv"})
        assert file.headers["content-disposition"] == "attachment; filename*=UTF-8''Facts.csv"
        assert LINES[1] in file.content.decode("utf-8-sig")
        assert web.get(f"{path}/export").content[:2] == b"PK"
        assert error_of(web.patch(path, json={"questions": []})) == (422, "validation")
        assert web.delete(path).status_code == 204
        assert web.get("/matrices").json() == []

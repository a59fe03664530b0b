"""The index page's views in pictures, and repairing what failed."""

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from rag import worker
from rag.engine import RAGEngine
from tests import pdfs

HARBOUR = {1: "The harbour handled 4,812 ships in 2019.", 2: "The orchard grows eleven kinds of pears."}

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def engine(app: AppTest) -> Iterator[RAGEngine]:
    """The engine of the app's only user, with one document."""
    with RAGEngine() as engine:
        add(engine, "facts.pdf", pdfs.pages(2, line=HARBOUR.__getitem__))
        yield engine


def add(engine: RAGEngine, name: str, content: bytes) -> None:
    engine.documents.process(engine.documents.add(content, name, enqueue=False).id)


def opened(app: AppTest, view: str) -> AppTest:
    app.run().switch_page("pages/index.py").run()
    app.segmented_control[0].set_value(view).run()
    assert not app.exception
    assert not app.error
    return app


def drawn(app: AppTest) -> list[list[dict[str, Any]]]:
    """What each of the charts that are shown draws, row by row."""
    return [
        [
            row
            for given in chart.proto.datasets
            for row in convert_arrow_bytes_to_pandas_df(given.data.data).to_dict("records")
        ]
        for chart in app.get("vega_lite_chart")
    ]


def test_what_the_index_is_made_of_is_drawn(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "empty.pdf", pdfs.pages(3, line=lambda number: "Words." if number == 2 else "", others=()))
    opened(app, "Statistics")
    *growth, lengths = drawn(app)
    things = ("documents", "pages", "chunks")
    assert [chart[-1][thing] for chart, thing in zip(growth, things, strict=True)] == [2, 5, 3]
    assert sum(band["chunks"] for band in lengths) == 3
    (row,) = app.dataframe[0].value.to_dict("records")
    assert (row["document"], row["pages"], row["page numbers"]) == ("empty.pdf", "2 of 3", "1, 3")


def test_the_map_has_every_chunk_and_says_how_much_it_shows(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "more.pdf", pdfs.plain())
    opened(app, "Map")
    (chart,) = drawn(app)
    points = {point["id"]: point["document"] for point in chart}
    documents = engine.documents.list()
    chunks = {
        str(chunk.id): document.name for document in documents for chunk in engine.store.chunks.of_document(document.id)
    }
    assert points == chunks
    assert any("of their differences" in caption.value and "%" in caption.value for caption in app.caption)


def test_what_failed_is_read_again_by_a_button(app: AppTest, engine: RAGEngine) -> None:
    opened(app, "Health")
    assert "No problems found" in app.success[0].value
    document = engine.documents.add(pdfs.plain(["It is late."]), "late.pdf", enqueue=False)
    engine.installation.workspace(engine.user_id).store.documents.fail(document.id, "parsing_failed", "It *broke*.")
    opened(app, "Overview")
    assert "1 document could not be read" in app.warning[0].value
    opened(app, "Health")
    assert "late" in app.markdown[-1].value
    assert "\\*broke\\*" in app.markdown[-1].value
    (button,) = [button for button in app.button if button.label == "Read again"]
    button.click().run()
    worker.run(engine.installation, wait=False)
    assert engine.documents.get(document.id).searchable
    app.run()
    assert "No problems found" in app.success[0].value

"""The index page's views in pictures, and what can be done there: mend, compare settings, compare runs."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from rag import worker
from rag.engine import RAGEngine
from tests import pdfs

HARBOUR = {1: "The harbour handled 4,812 ships in 2019.", 2: "The orchard grows eleven kinds of pears."}
SHIPS = {"id": "1", "question": "How many ships did the harbour handle?", "pdf": "facts.pdf", "gold_pages": [1]}
PEARS = {"id": "2", "question": "How many kinds of pears grow?", "pdf": "facts.pdf", "gold_pages": [1]}

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def engine(app: AppTest) -> Iterator[RAGEngine]:
    """The engine of the app's only user, with one document."""
    with RAGEngine() as engine:
        add(engine, "facts.pdf", pdfs.pages(2, line=HARBOUR.__getitem__))
        yield engine


def add(engine: RAGEngine, name: str, content: bytes) -> None:
    engine.documents.process(engine.documents.add(content, name, enqueue=False).id)


def opened(app: AppTest, view: str, within: str = "") -> AppTest:
    app.run().switch_page("pages/index.py").run()
    app.segmented_control[0].set_value(view).run()
    if within:
        app.segmented_control[1].set_value(within).run()
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
    assert [chart[-1]["count"] for chart in growth] == [2, 5, 3]
    assert sum(band.get("chunks", 0) for band in lengths) == 3
    (row,) = app.dataframe[0].value.to_dict("records")
    assert (row["document"], row["pages"], row["page numbers"]) == ("empty.pdf", "2 of 3", "1, 3")


def test_the_map_has_every_chunk_and_says_how_much_it_shows(app: AppTest, engine: RAGEngine) -> None:
    add(engine, "more.pdf", pdfs.plain())
    opened(app, "Map")
    (chart,) = drawn(app)
    points = {point["id"]: point["name"] for point in chart}
    documents = engine.documents.list()
    chunks = {str(chunk.id): document.name for document in documents for chunk in engine.chunks.list(document.id)}
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


def test_two_settings_are_searched_side_by_side(app: AppTest, engine: RAGEngine) -> None:
    opened(app, "Search")
    app.toggle(key="search-beside").set_value(True).run()
    app.text_input[0].set_value("pears")
    app.selectbox(key="mode-B").set_value("lexical")
    app.button[0].click().run()
    assert not app.exception
    one, other = (table.value for table in app.dataframe)
    assert [*other["page"]] == [2]
    assert [*one["page"]] == [2, 1]
    assert [*one["in B"]] == ["1 =", "–"]
    assert "1 place found by both" in next(caption.value for caption in app.caption if "both" in caption.value)
    app.toggle(key="search-beside").set_value(False).run()
    assert not app.exception
    assert "rank by meaning" in app.dataframe[0].value


def test_sets_of_questions_are_filled_from_files(app: AppTest, engine: RAGEngine) -> None:
    opened(app, "Evaluation", "Questions")
    app.text_input[0].set_value("Basics")
    content = "".join(json.dumps(question) + "\n" for question in (SHIPS, PEARS)).encode()
    app.file_uploader[0].set_value([("questions.jsonl", content, "application/jsonl")])
    next(button for button in app.button if button.label == "Add").click().run()
    assert not app.exception
    assert [*app.dataframe[0].value["question"]] == [SHIPS["question"], PEARS["question"]]
    assert [question.id for question in engine.question_sets.get("Basics")] == ["1", "2"]


def test_runs_are_compared_question_by_question_and_told_over_time(app: AppTest, engine: RAGEngine) -> None:
    opened(app, "Evaluation", "Compare")
    assert "Nothing to compare yet" in [heading.value for heading in app.subheader]
    for gold in ([2], [1]):
        questions = [{**SHIPS, "gold_pages": gold}, PEARS]
        asked = {"questions": questions, "name": "Basics", "retrieval": {"mode": "lexical"}}
        engine.jobs.run(engine.jobs.start_evaluation(asked).id)
    opened(app, "Evaluation", "Compare")
    measures = app.dataframe[0].value.set_index("metric")
    assert measures.loc["a right page among the first 1", "difference"] == 0.5
    (changed,) = app.dataframe[1].value.to_dict("records")
    assert (changed["question"], changed["before"], changed["after"]) == (SHIPS["question"], "not found", "rank 1")
    assert "1 better, 0 worse, 1 the same" in [heading.value for heading in app.subheader]
    next(toggle for toggle in app.toggle if toggle.label == "Only what changed").set_value(False).run()
    assert len(app.dataframe[1].value) == 2
    opened(app, "Evaluation", "History")
    (chart,) = drawn(app)
    assert [point["mean"] for point in chart] == [0.5, 0.0]
    assert {point["questions"] for point in chart} == {"Basics · all documents"}
    assert [*app.dataframe[0].value["questions"]] == ["Basics", "Basics"]

"""The index page measures: questions in, and when the worker is done, figures and misses out."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rag import worker
from rag.engine import RAGEngine
from tests import pdfs

PAGES = {1: "The harbour handled 4,812 ships in 2019.", 2: "The orchard grows eleven kinds of pears."}
QUESTIONS = [
    {
        "id": 1,
        "question": "How many ships did the harbour handle in 2019?",
        "pdf": "facts.pdf",
        "gold_pages": [1],
        "answer": "4,812 ships",
    },
    {"id": 2, "question": "How many kinds of pears grow?", "pdf": "facts.pdf", "gold_pages": [1]},
    {"id": 3, "question": "xylophone quasar", "pdf": "facts.pdf", "answerable": False},
]

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def engine(app: AppTest) -> Iterator[RAGEngine]:
    """The engine of the app's only user, with one document."""
    with RAGEngine() as engine:
        added = engine.documents.add(pdfs.pages(2, line=PAGES.__getitem__), "facts.pdf", enqueue=False)
        engine.documents.process(added.id)
        yield engine


def opened(app: AppTest) -> AppTest:
    app.run().switch_page("pages/index.py").run()
    app.segmented_control[0].set_value("Evaluation").run()
    assert not app.exception
    return app


def start(app: AppTest, content: str, **chosen: str) -> None:
    app.file_uploader[0].set_value([("questions.jsonl", content.encode(), "application/jsonl")])
    for label, value in chosen.items():
        (box,) = [box for box in app.selectbox if box.label == label]
        box.set_value(value)
    (button,) = [button for button in app.button if button.label == "Run evaluation"]
    button.click().run()
    assert not app.exception


def lines(questions: list[dict[str, object]]) -> str:
    return "".join(json.dumps(question) + "\n" for question in questions)


def table(app: AppTest, number: int) -> Any:
    return app.dataframe[number].value


def test_an_evaluation_is_cancelled_where_it_is_shown(app: AppTest, engine: RAGEngine) -> None:
    job = engine.jobs.start_evaluation({"questions": QUESTIONS})
    opened(app)
    (button,) = [button for button in app.button if button.label == "Cancel"]
    button.click().run()
    assert not app.exception
    assert engine.jobs.get(job.id).status == "cancelled"
    worker.run(engine.installation, wait=False)
    assert engine.jobs.get(job.id).result is None
    opened(app)
    assert "Cancelled." in [info.value for info in app.info]
    assert [button for button in app.button if button.label == "Cancel"] == []


def test_answers_are_measured_while_one_waits(app: AppTest, engine: RAGEngine) -> None:
    opened(app)
    assert "No evaluations yet" in [heading.value for heading in app.subheader]
    start(app, lines(QUESTIONS), **{"Search in": "document"})
    assert not app.error
    (job,) = engine.jobs.list(kind="evaluation")
    assert job.status == "queued"
    assert not app.dataframe
    worker.run(engine.installation, wait=False)
    app.run()
    figures = table(app, 0).set_index("metric")
    assert figures.loc["said", "mean"] == figures.loc["unanswerable, refused", "mean"] == 1
    assert figures.loc["first citation on a right page", "mean"] == 0.5
    assert figures.loc["first citation on a right page", "questions"] == 2
    (miss,) = table(app, 1).to_dict("records")
    assert miss == {
        "question": QUESTIONS[1]["question"], "expected": "facts.pdf, p. 1", "found first": "facts.pdf, p. 2",
        "outcome": "other page",
    }  # fmt: skip
    assert "p95" in app.caption[-1].value


def test_a_search_is_measured_and_earlier_evaluations_stay(app: AppTest, engine: RAGEngine) -> None:
    engine.jobs.start_evaluation({"subject": "answers", "questions": QUESTIONS})
    worker.run(engine.installation, wait=False)
    elsewhere = {"id": 4, "question": "Who is the mayor?", "pdf": "lost.pdf", "gold_pages": [3, 4]}
    opened(app)
    assert "said" in [*table(app, 0)["metric"]]
    start(app, lines([QUESTIONS[0], elsewhere]), What="retrieval")
    worker.run(engine.installation, wait=False)
    app.run()
    figures = table(app, 0).set_index("metric")
    assert figures.loc["a right page among the first 5", "mean"] == 0.5
    (miss,) = table(app, 1).to_dict("records")
    assert (miss["expected"], miss["outcome"]) == ("lost.pdf, p. 3, 4", "not found")
    assert "lost" in app.caption[-1].value
    (runs,) = [box for box in app.selectbox if box.label == "Evaluation"]
    assert len(runs.options) == 2
    runs.select_index(1).run()
    assert "said" in [*table(app, 0)["metric"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": 1}', "line 1 is not a question"),
        ("", "questions"),
        (lines([{**QUESTIONS[0], "gold_pages": []}]), "None"),
    ],
)
def test_what_is_no_list_of_questions_is_said(app: AppTest, engine: RAGEngine, content: str, message: str) -> None:
    opened(app)
    start(app, content)
    (error,) = app.error
    assert message in error.value.replace("\\", "")
    assert engine.jobs.list() == []

"""Traces as a collector gets them: their spans, the parents of these, and that no word of anybody is among them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")  # the extra "telemetry"

from rag import tracing
from rag.config import load_config
from rag.engine import RAGEngine
from rag.types import AnswerToken
from tests import forked, pdfs
from tests.collector import Spans, attributes, collecting

TEXT = "The harbour of Lindmark handled 4,812 ships in 2019."
QUESTION = "How many ships did the harbour of Lindmark handle?"
NAME = "lindmark-confidential.pdf"
WORDS = ("Lindmark", "lindmark", "4,812", "ships", "confidential", "harbour")


@pytest.fixture
def collector() -> Iterator[Spans]:
    with collecting() as spans:
        yield spans
        tracing.switch_off()


@pytest.fixture
def desk(database_url: str, tmp_path: Path, collector: Spans) -> Iterator[RAGEngine]:
    """An engine that traces."""
    config = load_config(
        rag_data_dir=tmp_path / "data",
        rag_database_url=database_url,
        otel_exporter_otlp_endpoint=collector.url,
    )
    with RAGEngine(config) as opened:
        yield opened


def work(desk: RAGEngine) -> None:
    """Have a worker, a process of its own, read what is queued."""
    config = desk.config
    assert config.rag_database_url
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RAG_DATABASE_URL", config.rag_database_url.get_secret_value())
        environment.setenv("RAG_DATA_DIR", str(config.rag_data_dir))
        environment.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", config.otel_exporter_otlp_endpoint or "")
        assert forked.run(forked.PAGELIGHT, "worker", "--once") == 0


def test_an_upload_is_one_trace_through_two_processes(desk: RAGEngine, collector: Spans) -> None:
    document = desk.documents.add(pdfs.plain([TEXT]), NAME)
    work(desk)
    tracing.switch_off()

    assert collector.paths == {"/v1/traces"}
    assert len({span.trace_id for span in collector.all}) == 1
    upload = collector.one("upload")
    assert collector.parent(upload) is None
    assert attributes(upload) == {
        "document": str(document.id),
        "bytes": document.size,
        "mime_type": "application/pdf",
    }
    for step, parent in (
        ("store", "upload"),
        ("queue", "upload"),
        ("reading", "upload"),  # by the worker
        ("parse", "reading"),
        ("chunk", "reading"),
        ("index", "reading"),
        ("embedding", "upload"),
        ("ready", "embedding"),
    ):
        span = collector.one(step)
        assert collector.parent(span) == parent, step
        assert span.end_time_unix_nano >= span.start_time_unix_nano
    batch = next(span for span in collector.named("embed chunks") if collector.parent(span) == "embedding")
    assert attributes(batch)["texts"] == 1
    assert attributes(collector.one("parse"))["pages"] == 1
    assert attributes(collector.one("ready"))["chunks"] == 1
    assert not [word for word in WORDS if word in collector.words()]


def test_a_failure_is_told_by_its_code_alone(desk: RAGEngine, collector: Spans) -> None:
    desk.documents.add(pdfs.plain([TEXT])[:400], NAME)
    work(desk)
    tracing.switch_off()
    reading = collector.one("failed")
    assert attributes(reading)["error"] == "unreadable_file"
    (failed,) = (span for span in collector.all if "error.type" in attributes(span))
    assert (failed.name, attributes(failed)["error.type"]) == ("parse", "unreadable_file")
    assert not failed.events  # an exception's event would have its message and a traceback
    assert not [word for word in WORDS if word in collector.words()]


def test_a_question_is_one_trace_through_all_its_steps(desk: RAGEngine, collector: Spans) -> None:
    document = desk.documents.add(pdfs.plain([TEXT]), NAME, enqueue=False)
    desk.documents.process(document.id)
    answer = desk.answer({"question": QUESTION, "retrieval": {"rerank": {"enabled": True}}})
    assert answer.status == "ok"
    tracing.switch_off()

    question = collector.one("question")
    asked = [span for span in collector.all if span.trace_id == question.trace_id]
    steps = {span.name: span for span in asked if collector.parent(span) in ("question", "retrieve")}
    parents = {name: collector.parent(span) for name, span in steps.items()}
    assert collector.parent(question) is None
    assert parents | dict.fromkeys(("understand", "embed question", "dense", "lexical", "fuse"), "retrieve") == parents
    assert parents | dict.fromkeys(("retrieve", "rerank", "context", "model", "ground"), "question") == parents
    order = [
        steps[name].start_time_unix_nano for name in ("understand", "dense", "fuse", "rerank", "context", "ground")
    ]
    assert order == sorted(order)
    assert attributes(steps["dense"])["found"] == attributes(steps["lexical"])["found"] == 1
    assert attributes(steps["model"])["model"] == "extractive"
    assert question.end_time_unix_nano >= max(span.end_time_unix_nano for span in asked)
    assert not [word for word in WORDS if word in collector.words()]


def test_what_a_reader_does_between_two_pieces_is_no_part_of_the_question(desk: RAGEngine, collector: Spans) -> None:
    document = desk.documents.add(pdfs.plain([TEXT]), NAME, enqueue=False)
    desk.documents.process(document.id)
    for event in desk.questions.stream({"question": QUESTION}):
        if isinstance(event, AnswerToken):
            with tracing.span("elsewhere"):
                pass
    tracing.switch_off()
    assert {collector.parent(span) for span in collector.named("elsewhere")} == {None}
    assert len(collector.named("question")) == 1


def test_a_question_that_nobody_hears_out_is_no_failure(desk: RAGEngine, collector: Spans) -> None:
    document = desk.documents.add(pdfs.plain([TEXT]), NAME, enqueue=False)
    desk.documents.process(document.id)
    events = desk.questions.stream({"question": QUESTION})
    next(events)
    events.close()
    tracing.switch_off()
    assert "error.type" not in attributes(collector.one("question"))

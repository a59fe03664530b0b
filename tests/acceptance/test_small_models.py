"""What a small language model on this machine is not trusted with."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag import providers
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.engine import RAGEngine
from rag.types import SAME_MEANING, Support
from tests import pdfs, vendors
from tests.databases import Databases
from tests.vendors import Vendor

WRITTEN = "The current ratio was 9.9 [S1]."


SMALL = "openai_compatible"
BY_MODEL = [(SMALL, True), ("openai", False)]


@contextmanager
def asked_about(
    report: bytes, vendor_name: str, databases: Databases, folder: Path
) -> Iterator[tuple[Vendor, RAGEngine]]:
    settings = {"rag_data_dir": folder / "data", "rag_embed_model": "local"}
    with databases.lent() as url, vendors.vendor(vendor_name) as vendor:
        assert providers.is_small(vendor.llm()) is (vendor_name == SMALL)
        with RAGEngine(vendor.config(**settings, rag_database_url=url)) as engine:
            engine.documents.process(engine.documents.add(report, "acme.pdf", enqueue=False).id)
            yield vendor, engine


@pytest.mark.parametrize(("vendor_name", "is_small"), BY_MODEL)
def test_a_small_model_is_not_asked_for_a_figure_of_a_statement(
    vendor_name: str, is_small: bool, databases: Databases, tmp_path: Path
) -> None:
    with asked_about(pdfs.annual_report("Acme"), vendor_name, databases, tmp_path) as (vendor, engine):
        vendor.server.pieces = [WRITTEN]
        read = engine.questions.answer("What was the net income in 2021?")
        computed = engine.questions.answer("What is the current ratio?")
        asked = len(vendor.server.bodies)
        engine.questions.answer("What is the interest coverage?")  # no figure of the report gives it
    assert "Net income – 2021" in read.answer  # also quoted in place of what the large model says
    assert ("Current ratio 2" in computed.answer) is is_small
    assert (Support.SUPPORTED in [sentence.support for sentence in computed.sentences]) is is_small
    assert (asked == 0) is is_small
    assert len(vendor.server.bodies) > asked


@pytest.mark.parametrize(("vendor_name", "is_small"), BY_MODEL)
def test_only_a_large_model_is_given_a_document_whole(
    vendor_name: str, is_small: bool, databases: Databases, tmp_path: Path
) -> None:
    with asked_about(pdfs.pages(4), vendor_name, databases, tmp_path) as (vendor, engine):
        engine.questions.answer({"question": "What is said of topic number 2?", "retrieval": {"top_k": 1}})
        assert str(vendor.server.bodies[0]["messages"]).count("[Source: acme.pdf") == (1 if is_small else 4)


@pytest.mark.parametrize(
    "said", ["Acme has 911 employees [S1].", "The employees of Acme number 911 at the end of 2021 [S1]."]
)
@pytest.mark.parametrize("vendor_name", [name for name, _ in BY_MODEL])
def test_an_unsupported_answer_is_replaced_by_extracts(
    databases: Databases, tmp_path: Path, vendor_name: str, said: str
) -> None:
    with asked_about(pdfs.annual_report("Acme"), vendor_name, databases, tmp_path) as (vendor, engine):
        vendor.server.pieces = [said]
        answer = engine.questions.answer("How many employees does Acme have?")
    assert (answer.status, answer.model) == ("ok", EXTRACTIVE_MODEL)
    assert "412 employees" in answer.answer
    assert answer.hint


@pytest.mark.parametrize(
    "said",
    [
        "The employees of Acme number 95 at the end of 2021 [S1].",
        "At the end of 2021 Acme had 412 employees in 95 offices [S1].",
    ],
)
@pytest.mark.parametrize(("vendor_name", "is_small"), BY_MODEL)
def test_a_count_that_cannot_be_verified_is_shown_only_from_a_large_model(
    databases: Databases, tmp_path: Path, *, vendor_name: str, is_small: bool, said: str
) -> None:
    with asked_about(pdfs.annual_report("Acme"), vendor_name, databases, tmp_path) as (vendor, engine):
        vendor.server.pieces = [said]
        answer = engine.questions.answer("How many employees does Acme have?")
    assert answer.status == "ok"
    assert (answer.model == EXTRACTIVE_MODEL) is is_small
    assert ("95" in answer.answer) is not is_small
    assert bool(answer.hint) is is_small
    assert (Support.NOT_VERIFIED in [sentence.support for sentence in answer.sentences]) is not is_small


@pytest.mark.parametrize(
    ("held", "is_kept"),
    [
        ("At the end of 2021 Acme had 412 employees [S1].", True),
        ("Passenger numbers on the ferries rose because two bridges were closed for repair [S1].", True),
        ("Passenger numbers on the ferries rose because bridges were closed by storms [S1].", False),
    ],
)
def test_a_figure_that_holds_keeps_a_small_model_s_answer(
    held: str, is_kept: bool, databases: Databases, tmp_path: Path
) -> None:
    with asked_about(pdfs.annual_report("Acme"), SMALL, databases, tmp_path) as (vendor, engine):
        vendor.server.pieces = [f"The employees of Acme number 911 at the end of 2021 [S1]. {held}"]
        answer = engine.questions.answer("How many employees does Acme have?")
    assert (answer.model != EXTRACTIVE_MODEL) is is_kept
    assert ("911" in answer.answer) is is_kept


@pytest.mark.parametrize(
    ("said", "is_supported"),
    [
        ("The closure of two bridges led to an increase in ferry passengers [S1].", True),
        ("The closure of two bridges led to a decrease in ferry passengers [S1].", False),
    ],
)
def test_other_words_are_judged_by_the_packaged_model(
    said: str, is_supported: bool, databases: Databases, tmp_path: Path
) -> None:
    with asked_about(pdfs.annual_report("Acme"), SMALL, databases, tmp_path) as (vendor, engine):
        vendor.server.pieces = [f"At the end of 2021 Acme had 412 employees [S1]. {said}"]
        answer = engine.questions.answer("How many employees does Acme have, and why did passenger numbers rise?")
    shown = [sentence for sentence in answer.sentences if "bridges led" in sentence.text]
    assert [sentence.judged_by for sentence in shown if sentence.support is Support.SUPPORTED] == (
        [SAME_MEANING] if is_supported else []
    )
    quoted = [citation.quote for citation in answer.citations if answer.sentences[citation.sentence] in shown]
    assert not is_supported or quoted == [
        "Passenger numbers on the ferries rose because two bridges were closed for repair."
    ]

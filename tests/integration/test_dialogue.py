"""Questions that take more than one look-up, asked of made reports without a language model."""

import re
import uuid
from collections.abc import Iterator, Sequence

import pytest

from rag import prompts
from rag.config import load_config
from rag.engine import RAGEngine
from rag.types import AnswerResponse, Support
from tests import pdfs, vendors
from tests.databases import Databases
from tests.vendor_servers import VendorServer

FIGURE = re.compile(r"\b\d,\d{3}\b")
OTHER_SHEET = tuple(
    ("Total current assets", "900", "880") if row[0] == "Total current assets" else row for row in pdfs.SHEET
)
WITHOUT_LIABILITIES = tuple(row for row in pdfs.SHEET if row[0] != "Total current liabilities")
FILES = {
    "Northmoor_2021.pdf": pdfs.annual_report("Northmoor Ferries"),
    "Eastvale_2021.pdf": pdfs.annual_report("Eastvale Lines", sheet=OTHER_SHEET, employees="96"),
    "Gapwell_2021.pdf": pdfs.annual_report("Gapwell Boats", sheet=WITHOUT_LIABILITIES, employees="7"),
}


@pytest.fixture(scope="module")
def engine(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RAGEngine]:
    folder = tmp_path_factory.mktemp("dialogue")
    with (
        databases.lent() as url,
        RAGEngine(load_config(rag_data_dir=folder, rag_database_url=url), user_id="ann") as engine,
    ):
        for name, content in FILES.items():
            engine.documents.process(engine.documents.add(content, name, enqueue=False).id)
        yield engine


def ids(engine: RAGEngine, names: Sequence[str]) -> list[str]:
    return [str(document.id) for document in engine.documents.list() if document.name.split("_")[0] in names]


def ask(engine: RAGEngine, question: str, *names: str, earlier: Sequence[str] = ()) -> AnswerResponse:
    response = engine.answer(
        {
            "question": question,
            "history": [{"role": "user", "content": turn} for turn in earlier],
            "retrieval": {"filters": {"document_ids": ids(engine, names)}},
        }
    )
    check(response)
    return response


def check(response: AnswerResponse) -> None:
    """What holds for every answer that is put together."""
    for sentence in response.sentences:
        assert response.answer[sentence.start :].startswith(sentence.text)
        assert sentence.citation_ids
        assert all(
            f"[{citation_id}]" in response.answer[sentence.start : sentence.end]
            for citation_id in sentence.citation_ids
        )
    for citation, hit in response.cited:
        assert citation.quote is not None
        assert citation.quote in hit.passage.text
        assert citation.regions
        assert citation.citation_id in response.sentences[citation.sentence].citation_ids
    assert {citation.citation_id for citation in response.citations} == {*response.sources}


# --- figures that are worked out ---


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the current ratio?", "Current ratio 2021 = 1,700 / 850 = 2.00"),
        ("What was Northmoor's current ratio in 2020?", "Current ratio 2020 = 1,400 / 800 = 1.75"),
        ("quick ratio 2021", "Quick ratio 2021 = (810 + 90 + 300) / 850 = 1.41"),
        ("What was the gross margin in 2021?", "Gross margin 2021 = 2,080 / 5,200 = 40.0 %"),
        ("What is the return on assets?", "Return on assets 2021 = 540 / ((4,000 + 3,500) / 2) = 14.4 %"),
        ("By how much did net sales grow from 2020 to 2021?", "= 5,200 − 4,800 = 400 thousand; 400 / 4,800 = 8.3 %"),
        ("What is the ratio of total liabilities to total assets in 2020?", "2020 = 1,750 / 3,500 = 0.50"),
    ],
)
def test_a_figure_is_worked_out_from_the_cells_and_each_is_cited(engine: RAGEngine, question: str, said: str) -> None:
    response = ask(engine, question, "Northmoor")
    assert said in response.answer
    assert response.status == "ok"
    assert {sentence.support for sentence in response.sentences} == {Support.SUPPORTED}
    quoted = " ".join(citation.quote or "" for citation in response.citations)
    assert all(figure in quoted for figure in FIGURE.findall(said.partition(" = ")[2] if said[0] != "=" else said))


def test_nothing_is_worked_out_where_it_is_open_whose_figures_are_meant(engine: RAGEngine) -> None:
    assert "1.75" not in ask(engine, "What is the current ratio of the industry in 2020?").answer


# --- one answer per document ---


def test_a_comparison_has_an_answer_for_each_document(engine: RAGEngine) -> None:
    response = ask(engine, "Compare the current ratio of Northmoor and Eastvale in 2021")
    first, second = response.answer.split("**Eastvale_2021.pdf**")
    assert first.startswith("**Northmoor_2021.pdf**")
    assert "1,700 / 850 = 2.00 [S1]" in first
    assert "900 / 850 = 1.06 [S2]" in second
    assert [hit.document_name for hit in response.contexts] == ["Northmoor_2021.pdf", "Eastvale_2021.pdf"]


def test_each_document_is_searched_by_itself(engine: RAGEngine) -> None:
    response = ask(engine, "How many employees do Northmoor and Eastvale have?")
    first, second = response.answer.split("**Eastvale_2021.pdf**")
    assert "412" in first
    assert "96" in second
    for citation, hit in response.cited:
        name = "Northmoor" if response.sentences[citation.sentence].start < len(first) else "Eastvale"
        assert hit.document_name.startswith(name)


def test_the_chosen_documents_are_asked_one_after_the_other(engine: RAGEngine) -> None:
    response = ask(engine, "In each report, how many employees are there?", "Northmoor", "Gapwell")
    assert [name in response.answer for name in ("**Northmoor_2021.pdf**", "**Gapwell_2021.pdf**")] == [True, True]
    assert "Eastvale" not in response.answer


# --- figures of two years ---


def kelp(year: int, *told: str) -> bytes:
    others = (f"The board met twice in {year} in the old salt house.", *told)
    return pdfs.pages(1, line=lambda _: f"Annual report {year} of the Kelp Works", others=others)


@pytest.fixture(scope="module")
def years(engine: RAGEngine) -> list[str]:
    """Reports of three years, each of which knows its own."""
    found = [
        engine.documents.add(kelp(2017, "Revenue was 1,310 million in 2017."), "kelp-2017.pdf", enqueue=False),
        engine.documents.add(kelp(2018, "Revenue was 1,465 million in 2018."), "kelp-2018.pdf", enqueue=False),
        engine.documents.add(kelp(2019), "kelp-2019.pdf", enqueue=False),
    ]
    return [str(engine.documents.process(document.id).id) for document in found]


def of(engine: RAGEngine, question: str, document_ids: Sequence[str]) -> AnswerResponse:
    filters = {"filters": {"document_ids": document_ids}}
    response = engine.answer({"question": question, "retrieval": filters})
    check(response)
    return response


def test_figures_of_two_years_may_stand_in_different_reports(engine: RAGEngine, years: list[str]) -> None:
    response = of(engine, "How did revenue change from 2017 to 2018?", years)
    first, second = response.answer.split("**2018**")
    assert first.startswith("**2017**")
    assert ("1,310" in first, "1,465" in first) == (True, False)
    assert ("1,465" in second, "1,310" in second) == (True, False)
    assert [hit.document_name for hit in response.contexts] == ["kelp-2017.pdf", "kelp-2018.pdf"]
    assert {sentence.support for sentence in response.sentences} == {Support.QUOTED}


# --- extracts ---


def test_a_summary_is_an_extract_section_by_section(engine: RAGEngine) -> None:
    response = ask(engine, "Summarise this document", "Northmoor")
    assert response.answer.startswith(f"*{prompts.EXTRACT_NOTE}*")
    said = [sentence.text for sentence in response.sentences]
    assert 3 <= len(said) <= 20
    assert len(set(said)) == len(said)
    assert all("| Annual report |" not in text and "\t" not in text for text in said)
    headings = [heading for heading in ("**Overview**", "**Risks**", "**Outlook**") if heading in response.answer]
    assert headings == ["**Overview**", "**Risks**", "**Outlook**"]
    assert [response.answer.index(heading) for heading in headings] == sorted(map(response.answer.index, headings))
    for citation in response.citations:
        assert citation.row or " ".join((citation.quote or "").split()) == response.sentences[citation.sentence].text


@pytest.mark.parametrize("question", ["What is Northmoor about?", "main results of Northmoor's 2021 in short"])
def test_a_document_is_summed_up_by_its_name(engine: RAGEngine, question: str) -> None:
    summary = ask(engine, "Summarise this document", "Northmoor")
    assert ask(engine, question, "Northmoor").answer == summary.answer


def test_what_somebody_of_a_company_says_is_no_summary(engine: RAGEngine) -> None:
    assert prompts.EXTRACT_NOTE not in ask(engine, "What does Northmoor's auditor say?", "Northmoor").answer


def test_a_list_is_not_asked_of_several_documents_at_once(engine: RAGEngine) -> None:
    response = ask(engine, "What are the main risks?", "Northmoor", "Eastvale")
    assert "items of the list" not in response.answer


# --- follow-ups ---


def test_a_follow_up_is_answered_and_shown_as_it_was_understood(engine: RAGEngine) -> None:
    chat = engine.chats.start("Ratios", document_ids=[uuid.UUID(one) for one in ids(engine, ["Northmoor"])])
    turns = ["What was the current ratio in 2021?", "And in 2020?", "and the gross margin?", "what about 2021?"]
    responses = [engine.chats.ask(chat.id, turn).response for turn in turns]
    assert [response and response.question for response in responses] == [
        None,
        "What was the current ratio in 2020?",
        "What was the gross margin in 2020?",
        "What was the gross margin in 2021?",
    ]
    assert [("1.75" in (response.answer if response else "")) for response in responses] == [False, True, False, False]
    assert responses[-1] is not None
    assert "40.0 %" in responses[-1].answer


def test_a_follow_up_may_change_the_document(engine: RAGEngine) -> None:
    response = ask(engine, "and eastvale?", earlier=["What was Northmoor's current ratio in 2021?"])
    assert response.question == "What was eastvale's current ratio in 2021?"
    assert "900 / 850 = 1.06" in response.answer


# --- what a model reads ---


@pytest.fixture(scope="module")
def writer(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RAGEngine, VendorServer]]:
    folder = tmp_path_factory.mktemp("written")
    with databases.lent() as url, vendors.vendor("openai") as vendor:
        settings = {**vendor.settings, "rag_embed_model": "local", "rag_data_dir": folder, "rag_database_url": url}
        with RAGEngine(load_config(**settings), user_id="ann") as engine:
            for name, content in FILES.items():
                engine.documents.process(engine.documents.add(content, name, enqueue=False).id)
            yield engine, vendor.server


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("Compare the risks of Northmoor and Eastvale", [("Northmoor_2021.pdf", 3), ("Eastvale_2021.pdf", 3)]),
        ("Summarise Gapwell", [("Gapwell_2021.pdf", page) for page in (2, 3, 4)]),
    ],
)
def test_a_model_reads_from_each_document_or_from_all_of_one(
    writer: tuple[RAGEngine, VendorServer], question: str, read: list[tuple[str, int]]
) -> None:
    engine, model = writer
    model.requests.clear()
    engine.answer({"question": question, "options": {"use_cache": False}})
    told = str(model.bodies[0]["messages"])  # the second request asks the model to judge what it wrote
    assert all(f"[Source: {name}, Page {page}," in told for name, page in read)
    assert {name for name in FILES if f"[Source: {name}," in told} == {name for name, _ in read}

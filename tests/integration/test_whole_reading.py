"""Questions about whole documents that do not fit into one prompt, over a real database and a model's real client."""

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from rag import errors, prompts
from rag.engine import RAGEngine
from rag.engine.questions import whole_reading
from rag.types import AnswerResponse, AnswerStage, Support, Verdict
from tests import pdfs, vendors
from tests.databases import Databases
from tests.vendor_servers import Refusal, VendorServer

QUESTION = "List all fees of berths in ledger.pdf"
FILLER = [f"Berth {number} was cleaned, painted and opened again in the spring of that year." for number in range(20)]
COUNT = 24
BUDGET = 3600
"""Tokens of sources per prompt, in which about a third of the ledger fits."""
GUIDE = "\n\n".join(
    f"# {name}\n\n" + " ".join(f"The {name.lower()} of quay {number} are told here in full." for number in range(120))
    for name in ("Duties", "Moorings", "Tolls")
)


@dataclass
class Model:
    """Takes notes on each part and joins them, as a strong model would; `failing` are pages whose part is refused."""

    failing: int | None = None
    empty: bool = False
    asked: list[str] = field(default_factory=list)

    def reply(self, prompt: str) -> str | Refusal:
        self.asked.append(prompt)
        if "Notes:" in prompt:
            items = {line.partition("[")[0]: line for line in prompt.split("\n") if line.startswith("- ")}
            return "The ledger has these fees:\n\n" + "\n".join(items.values())
        told: dict[int, str] = {}
        for source, text in re.findall(r"\[(S\d+)\] \[Source: (.*?)(?=\[S\d+\] \[Source|\Z)", prompt, re.DOTALL):
            for berth in map(int, re.findall(r"the fee of berth (\d+) is", text)):
                quote = f"the fee of berth {berth} is {berth}00 francs"
                told.setdefault(berth, f'- T{quote[1:]}. [{source}] <quote id="{source}">{quote}</quote>')
        if self.failing in told:
            return Refusal(400, "Too busy.")
        return prompts.NOT_FOUND_SENTINEL if self.empty or not told else "\n".join(told.values())

    @property
    def parts(self) -> list[str]:
        return [prompt for prompt in self.asked if "is read in parts" in prompt]

    @property
    def merged(self) -> list[str]:
        return [prompt for prompt in self.asked if "Notes:" in prompt]


@dataclass
class Desk:
    """An engine with a language model, and the server behind that."""

    engine: RAGEngine
    server: VendorServer
    model: Model

    def request(self, question: str = QUESTION, reading: str = "whole", **options: Any) -> dict[str, Any]:
        values = {"max_context_tokens": BUDGET, "judge_with_model": False, "plan_searches": False, "reading": reading}
        values |= options
        return {"question": question, "options": values}

    def ask(self, question: str = QUESTION, reading: str = "whole", **options: Any) -> AnswerResponse:
        return self.engine.answer(self.request(question, reading, **options))


@pytest.fixture(scope="module")
def opened(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    with databases.lent() as url, vendors.vendor("openai") as vendor:
        config = vendor.config(
            rag_data_dir=folder / "data", rag_database_url=url, rag_embed_model="local", rag_gen_model="openai:gpt-4.1"
        )
        library = {
            "ledger.pdf": pdfs.pages(
                COUNT, line=lambda n: f"In table {n} the fee of berth {n} is {n}00 francs.", others=FILLER
            ),
            "guide.md": GUIDE.encode(),
            "orchard.pdf": pdfs.plain(["The orchard grows eleven kinds of pears.", "Harvest begins in August."]),
        }
        with RAGEngine(config, user_id="ann") as engine:
            for name, content in library.items():
                engine.documents.process(engine.documents.add(content, name, enqueue=False).id)
            yield Desk(engine, vendor.server, Model())


@pytest.fixture
def desk(opened: Desk) -> Desk:
    """Nothing was asked before."""
    opened.engine.store.caches.clear()
    opened.model = Model()
    opened.server.reply_to = opened.model.reply
    return opened


def test_all_pages_are_read_in_parts_and_each_item_is_cited_on_its_page(desk: Desk) -> None:
    *events, response = desk.engine.questions.stream(desk.request())
    assert isinstance(response, AnswerResponse)
    assert len(desk.model.parts) == 3
    assert len(desk.model.merged) == 1
    assert response.status == "ok"
    told = [sentence for sentence in response.sentences if sentence.citation_ids]
    assert [sentence.support for sentence in told] == [Support.SUPPORTED] * COUNT
    assert {citation.verdict for citation in response.citations} == {Verdict.VERIFIED}
    assert [[region.page_number for region in citation.regions] for citation in response.citations] == [
        [number] for number in range(1, COUNT + 1)
    ]
    assert [citation.quote for citation in response.citations][4] == "the fee of berth 5 is 500 francs"
    stages = [event for event in events if isinstance(event, AnswerStage) and event.parts]
    assert {event.parts for event in stages} == {3}
    assert stages[0].parts_read == 0
    assert stages[-1].parts_read == 3
    assert response.reading is not None
    assert (response.reading.pages, response.reading.parts, response.reading.is_done) == (COUNT, 3, True)
    assert response.usage.input_tokens == 4 * 11  # of all four requests
    assert response.usage.cost_usd
    assert response.hint is None


def test_parts_are_read_once_for_the_same_question(desk: Desk) -> None:
    first = desk.ask()
    asked = len(desk.model.asked)
    again = desk.ask()
    assert len(desk.model.asked) == asked
    assert again.answer == first.answer
    assert again.usage.input_tokens == 0


def test_a_program_gets_the_best_passages_and_is_told_what_reading_all_takes(desk: Desk) -> None:
    response = desk.ask(reading="auto")
    assert not desk.model.parts
    assert response.status == "ok"
    reading = response.reading
    assert reading is not None
    assert (reading.pages, reading.documents, reading.parts, reading.is_done) == (COUNT, 1, 3, False)
    assert reading.input_tokens > COUNT * 300
    assert reading.cost_usd is not None
    assert reading.cost_usd > 2e-6 * reading.input_tokens


def test_the_chat_asks_before_it_reads(desk: Desk) -> None:
    response = desk.ask(reading="ask")
    assert not desk.model.asked
    assert response.status == "insufficient_context"
    assert f"all {COUNT} pages" in response.answer
    assert response.reading is not None
    assert not response.reading.is_done


@pytest.mark.parametrize(
    ("question", "reading"),
    [(QUESTION, "passages"), ("What is the fee of berth 7?", "auto"), ("Which berth was painted?", "ask")],
)
def test_other_questions_are_searched_for(desk: Desk, question: str, reading: str) -> None:
    response = desk.ask(question, reading=reading)
    assert response.reading is None
    assert not desk.model.parts
    assert desk.model.asked


@pytest.mark.parametrize("reading", ["auto", "ask"])
def test_what_takes_hardly_more_than_usual_is_read_at_once(desk: Desk, reading: str) -> None:
    response = desk.ask(reading=reading, max_context_tokens=5000)
    assert len(desk.model.parts) == 2
    assert response.reading is not None
    assert response.reading.is_done


def test_what_fits_into_one_prompt_is_given_whole(desk: Desk) -> None:
    response = desk.ask(reading="ask", max_context_tokens=30_000)
    assert response.reading is None
    (prompt,) = desk.model.asked
    assert all(f"In table {number} the fee" in prompt for number in range(1, COUNT + 1))
    assert len(response.citations) == COUNT


def test_a_part_that_fails_is_told_with_its_pages(desk: Desk) -> None:
    desk.model.failing = 12
    response = desk.ask()
    assert response.status == "ok"
    assert response.reading is not None
    ((document_id, unread),) = response.reading.unread.items()
    assert desk.engine.documents.get(document_id).name == "ledger.pdf"
    assert 12 in unread
    assert response.hint is not None
    assert response.hint.startswith(f"Not read completely: ledger.pdf, p. {unread[0]}–{unread[-1]}. ")
    assert "Too busy." in response.hint
    cited = {region.page_number for citation in response.citations for region in citation.regions}
    assert 12 not in cited
    assert cited >= {*range(1, COUNT + 1)} - {*unread}
    desk.model.failing = None
    desk.model.asked.clear()
    assert desk.ask().hint is None
    assert len(desk.model.parts) == 1  # only what failed is read again


def test_an_error_of_all_parts_is_the_error_of_the_answer(desk: Desk) -> None:
    desk.server.reply_to = lambda prompt: Refusal(400, "Too busy.")
    with pytest.raises(errors.ProviderError, match="Too busy"):
        desk.ask()


def test_without_anything_in_any_part_there_is_no_answer(desk: Desk) -> None:
    desk.model.empty = True
    response = desk.ask("List all painters of berths in ledger.pdf")
    assert response.status == "insufficient_context"
    assert response.nearest
    assert len(desk.model.parts) == 3
    assert not desk.model.merged


def test_a_stop_in_the_middle_ends_the_reading(desk: Desk) -> None:
    reached, stopped = threading.Event(), threading.Event()
    model = desk.model

    def reply(prompt: str) -> str | Refusal:
        reached.set()
        assert stopped.wait(20)
        return model.reply(prompt)

    desk.server.reply_to = reply
    request = desk.request(max_context_tokens=1000)
    stages: list[AnswerStage] = []
    for event in desk.engine.questions.stream(request, stopped.is_set):
        if isinstance(event, AnswerStage):
            stages.append(event)
            assert reached.wait(20)
            stopped.set()
    assert isinstance(event, AnswerResponse)
    assert event.stopped
    assert event.status == "insufficient_context"
    assert event.reading is not None
    assert not event.reading.is_done
    assert stages[0].parts
    assert stages[0].parts > 3
    assert len(model.asked) <= 3
    assert not model.merged


def test_notes_that_are_too_long_together_are_joined_step_by_step(desk: Desk) -> None:
    config = desk.engine.config.model_copy(update={"rag_context_window": 3000})
    with RAGEngine(config, user_id="ann") as engine:
        options = desk.request(max_context_tokens=700)["options"]
        request = {"question": QUESTION, "options": options, "generation": {"max_output_tokens": 1000}}
        response = engine.answer(request)
    assert len(desk.model.merged) > 1
    assert {region.page_number for citation in response.citations for region in citation.regions} == {
        *range(1, COUNT + 1)
    }


def test_of_a_section_only_its_pages_are_read(desk: Desk) -> None:
    desk.ask("Summarise the section Moorings of guide.md", reading="auto", max_context_tokens=30_000)
    (prompt,) = desk.model.asked
    assert "The moorings of quay 3 are told here" in prompt
    assert "The duties of quay" not in prompt
    assert "The tolls of quay" not in prompt


def test_more_documents_than_can_be_read_whole_are_refused(desk: Desk) -> None:
    ids = [desk.engine.documents.add(f"Note {n}.".encode(), f"note-{n}.txt", enqueue=False).id for n in range(12)]
    for document_id in ids:
        desk.engine.documents.process(document_id)
    try:
        with pytest.raises(errors.ValidationError, match="At most 12 documents"):
            desk.ask("What is told?")
        offered = desk.ask("List all fees", reading="ask")
        assert offered.reading is None
        assert offered.hint is not None
        assert offered.hint.startswith("This is from the best passages, not from all pages. At most 12 documents")
        assert desk.ask("List all fees", reading="auto").hint is None
    finally:
        desk.engine.documents.trash(ids)


@pytest.mark.parametrize(
    ("retrieval", "option"), [({"must_include": ["fee"]}, "mustInclude"), ({"passage": "chunk"}, "passage")]
)
def test_passages_that_are_searched_for_are_not_read_whole(desk: Desk, retrieval: dict[str, Any], option: str) -> None:
    with pytest.raises(errors.ValidationError, match=f"^{option} is for passages"):
        desk.engine.answer(desk.request() | {"retrieval": retrieval})
    response = desk.engine.answer(desk.request(reading="ask") | {"retrieval": retrieval})
    assert response.reading is None
    assert response.hint is not None
    assert f"{option} is for passages" in response.hint


def test_what_no_model_can_read_whole_is_said(desk: Desk) -> None:
    request = desk.request()
    with pytest.raises(errors.ConfigError, match="takes a language model"):
        desk.engine.answer(request | {"generation": {"provider": "extractive"}})
    narrow = desk.engine.config.model_copy(update={"rag_context_window": 2200})
    with RAGEngine(narrow, user_id="ann") as engine:
        generation = {"max_output_tokens": 2000}
        with pytest.raises(errors.ConfigError, match=r"takes too little at once to read all pages"):
            engine.answer(request | {"generation": generation})
    assert not desk.model.asked


def test_more_pages_than_have_a_mark_are_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_reading, "MAX_SOURCES", 20)
    with pytest.raises(errors.ValidationError, match="At most 20 pages are read whole, but 24 are meant"):
        desk.ask()


HISTORY = [
    {"role": "user", "content": "What does the orchard.pdf grow?"},
    {"role": "assistant", "content": "The orchard grows eleven kinds of pears."},
]


@pytest.mark.parametrize(
    ("question", "history", "expected"),
    [
        ("Summarise orchard.pdf", [], "orchard.pdf"),
        ("Summarise guide.md", HISTORY, "guide.md"),
        ("Summarise it", HISTORY, "orchard.pdf"),
        ("Give me a summary", HISTORY, "orchard.pdf"),
    ],
)
def test_without_a_model_a_summary_is_of_the_document_that_is_meant(
    desk: Desk, question: str, history: list[dict[str, str]], expected: str
) -> None:
    request = {"question": question, "history": history, "generation": {"provider": "extractive"}}
    response = desk.engine.answer(request)
    assert {hit.document_name for hit in response.contexts} == {expected}
    assert not desk.model.asked

"""A strong language model completes questions and plans the searches that their answers are written from."""

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from rag.engine import RAGEngine
from rag.engine.questions.composite_answers import CompositeAnswers
from rag.types import AnswerResponse
from tests import pdfs, vendors
from tests.databases import Databases
from tests.vendor_servers import VendorServer

FILLER = [f"Berth {number} was cleaned, painted and opened again in the spring of that year." for number in range(40)]
LIBRARY = {
    "quayside.pdf": ("Quayside Corporation", "Net revenues were 31 million in 2022."),
    "millbrook.pdf": ("Millbrook Inc.", "Net revenues were 58 million in 2022."),
    "orchard.pdf": ("Orchard notes", "Pears ripen in August."),
}


@dataclass
class Desk:
    """An engine with a language model, the server behind that, and the numbers of the documents in its prompts."""

    engine: RAGEngine
    server: VendorServer
    ids: dict[str, uuid.UUID] = field(default_factory=dict)

    def answer(self, question: str, plan: str, **request: Any) -> AnswerResponse:
        """Ask; the model replies with the plan, then with an answer."""
        self.server.requests.clear()
        self.server.replies.clear()
        self.server.replies.append(plan)
        options = {"use_cache": False, "judge_with_model": False} | request.pop("options", {})
        return self.engine.answer({"question": question, "options": options, **request})

    def prompt(self, number: int) -> str:
        """Return the text of a request to the model."""
        return str(self.server.bodies[number]["messages"][-1]["content"])

    def number(self, name: str) -> int:
        """Return the number that the last plan's prompt gave to a document."""
        lines = self.prompt(0).split("Documents:\n")[1].splitlines()
        return next(int(line.split(".")[0]) for line in lines if name in line)


@pytest.fixture(scope="module")
def desk(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    with databases.lent() as url, vendors.vendor("openai") as vendor:
        config = vendor.config(
            rag_data_dir=folder / "data", rag_database_url=url, rag_embed_model="local", rag_gen_model="openai:gpt-4.1"
        )
        with RAGEngine(config, user_id="ann") as engine:
            desk = Desk(engine, vendor.server)
            for name, (title, line) in LIBRARY.items():
                content = pdfs.pages(40, line=_line(title, line), others=FILLER)
                desk.ids[name] = engine.documents.add(content, name, enqueue=False).id
                engine.documents.process(desk.ids[name])
            vendor.server.pieces = ["Net revenues were 31 million in 2022 [S1]."]
            yield desk


def _line(title: str, line: str) -> Callable[[int], str]:
    return lambda page: f"{title}. {line if page == 7 else page}"


def _plan(question: str, *searches: tuple[str, list[int]]) -> str:
    return json.dumps({"question": question, "searches": [{"text": text, "documents": of} for text, of in searches]})


QUESTION = "Who had the bigger top line in 2022?"


def test_each_planned_search_reads_its_document_and_the_answer_tells_which(desk: Desk) -> None:
    desk.answer(QUESTION, "")
    numbers = [desk.number("quayside.pdf"), desk.number("millbrook.pdf")]
    plan = _plan(QUESTION, ("net revenues 2022", numbers[:1]), ("net revenues 2022", numbers[1:]))
    answer = desk.answer(QUESTION, plan)
    sources = desk.prompt(1)
    assert "31 million" in sources
    assert "58 million" in sources
    assert "orchard.pdf" not in sources
    assert {*answer.retrieval.named.values()} == {"quayside.pdf", "millbrook.pdf"}
    assert answer.retrieval.searches == ("net revenues 2022", "net revenues 2022")
    assert answer.question is None  # only follow-up questions are restated


def test_a_follow_up_is_restated_with_the_conversation_in_view(desk: Desk) -> None:
    history = [
        {"role": "user", "content": "Revenue of Quayside?"},
        {"role": "assistant", "content": "31 million [S1]."},
    ]
    answer = desk.answer("And Millbrook's?", _plan("What is Millbrook's revenue?", ("revenue", [])), history=history)
    assert "31 million" in desk.prompt(0)
    assert answer.question == "What is Millbrook's revenue?"
    assert "Question: What is Millbrook's revenue?" in desk.prompt(1)


@pytest.mark.parametrize(
    "reply", ["", "no plan", '{"question": ""}', '{"question": "x", "searches": [{"documents": [1]}]}']
)
def test_without_a_readable_plan_the_question_is_asked_as_it_is(desk: Desk, reply: str) -> None:
    answer = desk.answer("What were the net revenues of Quayside in 2022?", reply)
    assert "31 million" in desk.prompt(1)
    assert answer.retrieval.named == {desk.ids["quayside.pdf"]: "quayside.pdf"}


def test_what_is_wrong_of_one_search_leaves_the_others(desk: Desk) -> None:
    searches = [{"text": "", "documents": []}, {"text": "net revenues", "documents": None}, {"text": "net revenues"}]
    answer = desk.answer(QUESTION, json.dumps({"question": QUESTION, "searches": searches}))
    assert answer.retrieval.searches == ("net revenues",)


def test_the_document_that_the_question_names_is_asked_though_the_plan_names_none(desk: Desk) -> None:
    question = "What were the net revenues of Quayside in 2022?"
    answer = desk.answer(question, _plan(question, ("net revenues 2022", [])))
    assert answer.retrieval.named == {desk.ids["quayside.pdf"]: "quayside.pdf"}
    assert "58 million" not in desk.prompt(1)
    question = "What were the net revenues? (in millbrook.pdf)"
    answer = desk.answer(question, _plan(question, ("net revenues", [1, 2, 3])))
    assert "58 million" in desk.prompt(1)
    assert "31 million" not in desk.prompt(1)


def test_numbers_of_no_document_choose_none(desk: Desk) -> None:
    answer = desk.answer(
        "What were the net revenues?", _plan("What were the net revenues?", ("net revenues", [99, 0, -1]))
    )
    assert answer.retrieval.named == {}
    assert answer.retrieval.searches == ()
    assert "31 million" in desk.prompt(1)


def test_a_plan_never_reaches_beyond_the_documents_that_the_request_allows(desk: Desk) -> None:
    filters = {"document_ids": [str(desk.ids[name]) for name in ("orchard.pdf", "millbrook.pdf")]}
    plan = _plan("What were the net revenues?", ("net revenues", [1, 2, 3]), ("net revenues", []))
    desk.answer("What were the net revenues?", plan, retrieval={"filters": filters})
    assert "58 million" in desk.prompt(1)
    assert "31 million" not in desk.prompt(1)
    assert "quayside" not in desk.prompt(0)


@pytest.mark.parametrize("switched_off", [{"options": {"plan_searches": False}}, {"retrieval": {"routing": False}}])
def test_it_can_be_switched_off(desk: Desk, switched_off: dict[str, Any]) -> None:
    desk.answer(QUESTION, "Net revenues were 31 million in 2022 [S1].", **switched_off)
    assert desk.prompt(0).startswith("Sources:")


@pytest.mark.parametrize(("most", "requests"), [(0, 0), (1, 1), (2, 1)])
def test_after_a_stop_nothing_is_asked_of_the_model_and_no_search_begins(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, most: int, requests: int
) -> None:
    """The stop is seen when it was looked at `most` times: before the plan, before the first search, or the second."""
    looked, searched, search = [], [], CompositeAnswers._search

    def stop() -> bool:
        looked.append(True)
        return len(looked) > most

    def counted(self: CompositeAnswers, *values: Any, **options: Any) -> Any:
        searched.append(values)
        return search(self, *values, **options)

    monkeypatch.setattr(CompositeAnswers, "_search", counted)
    desk.server.requests.clear()
    desk.server.replies.append(_plan(QUESTION, *(("net revenues", [number]) for number in (1, 2, 3))))
    options = {"use_cache": False, "judge_with_model": False}
    *_, answer = desk.engine.questions.stream({"question": QUESTION, "options": options}, stop)
    desk.server.replies.clear()
    assert (len(desk.server.requests), len(searched)) == (requests, max(most - 1, 0))
    assert isinstance(answer, AnswerResponse)
    assert (answer.status, answer.stopped, answer.citations) == ("insufficient_context", True, ())


def test_plans_are_cached_by_question_and_library(desk: Desk) -> None:
    options = {"use_cache": True}
    plan = _plan("Which pears ripen first?", ("pears ripen", []))
    desk.answer("Which pears ripen first?", plan, options=options)
    desk.answer("Which pears ripen first?", "", options=options)
    assert not any("You plan the searches" in desk.prompt(number) for number in range(len(desk.server.bodies)))

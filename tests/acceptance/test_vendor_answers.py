"""Whole answers through each vendor's client: a real database, real documents, and models that say what tests want."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from rag import prompts, providers
from rag.engine import RAGEngine
from rag.types import AnswerRequest, AnswerResponse, AnswerStage, AnswerToken, Support, Verdict
from tests import pdfs, vendors
from tests.databases import Databases
from tests.vendor_servers import Cut, Held, Limited
from tests.vendors import Vendor

HARBOUR = (
    "The harbour of Lindmark handled 4,812 ships in 2019.",
    "In 2020 the harbour of Lindmark handled 5,112 ships.",
    "Its largest crane lifts 95 tonnes.",
)
ORCHARD = ("The orchard grows eleven kinds of pears.", "Harvest begins in the last week of August.")
PIECE_CHARS = 7
"""Marks, tags and numbers are torn apart: a vendor's pieces end anywhere."""


class Asked(NamedTuple):
    """An answer as it was streamed, and as it was checked."""

    shown: str
    response: AnswerResponse

    @property
    def verdicts(self) -> list[Verdict]:
        return [citation.verdict for citation in self.response.citations]

    @property
    def support(self) -> list[Support | None]:
        return [sentence.support for sentence in self.response.sentences]

    @property
    def quotes(self) -> list[str | None]:
        return [citation.quote for citation in self.response.citations]

    @property
    def unsupported(self) -> set[str]:
        return {number for citation in self.response.citations for number in citation.unsupported_numbers}


@dataclass
class Desk:
    """An engine that writes with one vendor only."""

    engine: RAGEngine
    vendor: Vendor

    def ask(self, question: str, reply: str) -> Asked:
        """Ask; the vendor's model will say `reply`."""
        self.vendor.server.pieces = [reply[at : at + PIECE_CHARS] for at in range(0, len(reply), PIECE_CHARS)]
        *tokens, response = self.engine.questions.stream({"question": question})
        assert isinstance(response, AnswerResponse)
        return Asked("".join(token.text for token in tokens if isinstance(token, AnswerToken)), response)


@pytest.fixture(scope="module")
def library(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, object]]:
    """Settings with an empty database."""
    with databases.lent() as url:
        folder = tmp_path_factory.mktemp("library")
        yield {"rag_data_dir": folder, "rag_database_url": url, "rag_embed_model": "local"}


@pytest.fixture(scope="module", params=vendors.NAMES)
def desk(request: pytest.FixtureRequest, library: dict[str, object]) -> Iterator[Desk]:
    """A user of each vendor's, with two documents: what one was answered is kept for that user only."""
    with (
        vendors.vendor(request.param) as vendor,
        RAGEngine(vendor.config(**library), user_id=vendor.name) as engine,
    ):
        for name, lines in {"harbour.pdf": HARBOUR, "orchard.pdf": ORCHARD}.items():
            engine.documents.process(engine.documents.add(pdfs.plain(lines), name, enqueue=False).id)
        yield Desk(engine, vendor)


def test_a_good_answer_is_verified_and_lit(desk: Desk) -> None:
    reply = 'It handled 4,812 ships in 2019 [S1] <quote id="S1">handled 4,812 ships in 2019</quote>.'
    asked = desk.ask("How many ships did the harbour handle in 2019?", reply)
    assert asked.shown == asked.response.answer == "It handled 4,812 ships in 2019 [S1]."
    assert asked.response.status == "ok"
    assert asked.response.model == desk.vendor.llm().metadata.model_name
    assert asked.verdicts == [Verdict.VERIFIED]
    assert asked.quotes == ["handled 4,812 ships in 2019"]
    assert asked.support == [Support.SUPPORTED]
    assert asked.unsupported == set()
    ((citation, hit),) = asked.response.cited
    assert hit.document_name == "harbour.pdf"
    assert [region.page_number for region in citation.regions] == [1]
    assert asked.response.usage.input_tokens > 0
    assert asked.response.usage.output_tokens > 0


def test_the_vendor_is_sent_the_sources_and_the_question(desk: Desk) -> None:
    question = "What does the largest crane of the harbour lift?"
    before = len(desk.vendor.server.bodies)
    desk.ask(question, "It lifts 95 tonnes [S1].")
    written, *judged = desk.vendor.server.bodies[before:]
    sent = "\n".join(_texts(written))
    assert "[S1] [Source: harbour.pdf, Page 1, Lines 1-3]" in sent
    assert HARBOUR[2] in sent
    assert question in sent
    assert prompts.NOT_FOUND_SENTINEL in sent
    assert vendors.KEY not in sent
    assert len(judged) == (0 if providers.is_small(desk.vendor.llm()) else 1)
    for body in judged:
        sent = "\n".join(_texts(body))
        assert "[S1] [Source: harbour.pdf, Page 1, Lines 1-3]" in sent
        assert HARBOUR[2] in sent
        assert f"Question: {question}" in sent
        assert "(1) It lifts 95 tonnes." in sent
        assert vendors.KEY not in sent


def _texts(value: object) -> Iterator[str]:
    """All strings in a request, in whatever form the vendor wants them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def test_unknown_citations_are_gone(desk: Desk) -> None:
    reply = "It handled 4,812 ships in 2019 [S1][S9]. Ships are heavy [S9]. Cranes lift [S4, S77]."
    asked = desk.ask("How many ships were there at Lindmark in 2019?", reply)
    assert asked.shown == "It handled 4,812 ships in 2019 [S1]. Ships are heavy. Cranes lift."
    assert "[S9]" not in asked.response.answer
    assert asked.response.status == "ok"
    assert {citation.citation_id for citation in asked.response.citations} == {"S1"}
    assert asked.support[0] is Support.SUPPORTED
    assert Support.SUPPORTED not in asked.support[1:]


def test_what_neither_model_nor_documents_answer_is_refused(desk: Desk) -> None:
    asked = desk.ask("Who is the harbour master of Lindmark?", prompts.NOT_FOUND_SENTINEL)
    assert asked.response.status == "insufficient_context"
    assert asked.response.answer == prompts.INSUFFICIENT_CONTEXT_MESSAGE
    assert (asked.response.sentences, asked.response.citations) == ((), ())
    assert asked.response.nearest[0].document_name == "harbour.pdf"
    assert prompts.NOT_FOUND_SENTINEL[:20] not in asked.shown


def test_a_vendor_that_breaks_off_leaves_what_it_said_checked(desk: Desk) -> None:
    desk.vendor.server.faults.append(Cut(after=8))
    reply = "In 2020 the harbour handled 5,112 ships [S1]. Its crane"
    asked = desk.ask("What happened at the harbour?", reply + " lifts 95 tonnes [S1].")
    assert asked.response.status == "ok"
    assert asked.response.stopped
    assert asked.response.answer == "In 2020 the harbour handled 5,112 ships [S1]. Its crane"
    assert asked.support == [Support.SUPPORTED, None]
    assert asked.response.hint is not None
    assert asked.response.hint.startswith(f"The answer is not complete. {desk.vendor.label}")


def test_an_answer_at_its_length_limit_says_so_and_is_not_kept(desk: Desk) -> None:
    question = "Which harvest is in August?"
    reply = "Harvest begins in the last week of August [S1]. The orchard"
    desk.vendor.server.faults.append(Limited())
    asked = desk.ask(question, reply)
    assert asked.response.hint is not None
    assert "its limit" in asked.response.hint
    assert asked.support == [Support.SUPPORTED, None]
    whole = desk.ask(question, "Harvest begins in the last week of August [S1].")
    assert whole.response.hint is None
    assert whole.response.answer == "Harvest begins in the last week of August [S1]."


def test_a_follow_up_is_searched_as_the_vendor_restates_it(desk: Desk) -> None:
    restated = "When does the harvest of pears begin?"
    plan = json.dumps({"question": restated, "searches": [{"text": "harvest of pears", "documents": []}]})
    is_small = desk.vendor.name == "openai_compatible"  # which plans no searches
    desk.vendor.server.replies.append(restated if is_small else plan)
    history = [
        {"role": "user", "content": "What grows in the orchard?"},
        {"role": "assistant", "content": "Eleven kinds of pears [S1]."},
    ]
    before = len(desk.vendor.server.requests)
    response = desk.engine.answer({"question": "And when does it begin?", "history": history})
    assert "Eleven kinds of pears ." in "".join(_texts(desk.vendor.server.bodies[before]))
    assert response.question == restated
    assert (response.nearest or response.contexts)[0].document_name == "orchard.pdf"


PARAPHRASE = "It handled 4,812 ships in 2019 [S1]. The season for picking fruit starts as August ends [S2]."


def _verdict(claim: int, verdict: str, *words: tuple[str, str]) -> dict[str, object]:
    copied = [{"source": source, "text": text} for source, text in words]
    return {"claim": claim, "words": copied, "missing": "", "verdict": verdict}


JUDGED = json.dumps({"verdicts": [_verdict(1, "supported"), _verdict(2, "supported", ("S2", ORCHARD[1]))]})


def _judged(question: str) -> AnswerRequest:
    """A question whose answer the model also judges, small or not, without knowing how it did before."""
    options = {"judge_with_model": True, "use_cache": False}
    return AnswerRequest.model_validate({"question": question, "retrieval": {"min_score": 0.0}, "options": options})


def test_an_answer_comes_before_the_model_has_judged_it(desk: Desk) -> None:
    judging = threading.Event()
    desk.vendor.server.faults.extend((None, Held(judging)))
    desk.vendor.server.replies.extend((PARAPHRASE, JUDGED))
    events = desk.engine.questions.stream(_judged("How many ships in 2019, and when does the harvest begin?"))
    so_far = next(event.so_far for event in events if isinstance(event, AnswerStage) and event.so_far)
    assert so_far.answer == PARAPHRASE
    assert [sentence.support for sentence in so_far.sentences] == [Support.SUPPORTED, Support.NOT_VERIFIED]
    assert so_far.sentences[1].judged_by is None
    judging.set()
    (response,) = events
    assert isinstance(response, AnswerResponse)
    assert response.answer == PARAPHRASE
    assert [sentence.support for sentence in response.sentences] == [Support.SUPPORTED, Support.SUPPORTED]
    assert response.model == desk.vendor.llm().metadata.model_name
    assert [sentence.judged_by for sentence in response.sentences] == [response.model, response.model]
    assert [citation.quote for citation in response.citations if citation.sentence == 1] == [ORCHARD[1]]
    assert so_far.retrieval == response.retrieval
    assert so_far.provenance is not None  # it may be all that is kept of the answer

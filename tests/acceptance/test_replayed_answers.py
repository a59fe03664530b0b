"""Answers of the kinds that real models give, replayed by servers: verdicts, status, and what is left of them.

The cases stand in replayed_answers.toml. Vendors take turns, each by its own client library.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from rag.answering.generation.model_answer import drop_unproved
from rag.engine import RAGEngine
from rag.types import AnswerResponse, Support
from tests import pdfs, vendors
from tests.databases import Databases

CASES = tomllib.loads((Path(__file__).parent / "replayed_answers.toml").read_text("utf-8"))
LETTERS = {
    Support.SUPPORTED: "S",
    Support.PARTLY: "P",
    Support.NOT_VERIFIED: "N",
    Support.NOT_STATED: "O",
    Support.CONTRADICTED: "X",
    Support.UNCITED: "C",
    None: "-",
}
QUESTION = "What about the harbour of Lindmark, and the orchard of Hollin?"

Replay = Callable[[str, str], AnswerResponse]


@pytest.fixture(scope="module")
def replay(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    """Asks a vendor's model, which says what it is told to; the harbour is S1, the orchard S2."""
    with ExitStack() as stack:
        url = stack.enter_context(databases.lent())
        library = {
            "rag_data_dir": tmp_path_factory.mktemp("library"),
            "rag_database_url": url,
            "rag_embed_model": "local",
        }
        engines: dict[str, tuple[vendors.Vendor, RAGEngine]] = {}

        def ask(name: str, reply: str) -> AnswerResponse:
            if name not in engines:
                vendor = stack.enter_context(vendors.vendor(name))
                engine = stack.enter_context(RAGEngine(vendor.config(**library), user_id=name))
                for file, lines in CASES["documents"].items():
                    engine.documents.process(engine.documents.add(pdfs.plain(lines), file, enqueue=False).id)
                engines[name] = vendor, engine
            vendor, engine = engines[name]
            vendor.server.pieces = [reply[at : at + 7] for at in range(0, len(reply), 7)]
            options = {"options": {"useCache": False}, "retrieval": {"minScore": 0.0}}
            return engine.answer({"question": QUESTION, **options})

        yield ask


@pytest.mark.parametrize("number", range(len(CASES["answer"])), ids=[case["kind"] for case in CASES["answer"]])
def test_a_replayed_answer_gets_its_verdicts_and_status(replay: Replay, number: int) -> None:
    case: dict[str, Any] = CASES["answer"][number]
    response = replay(vendors.NAMES[number % len(vendors.NAMES)], case["reply"])
    if "verdicts" not in case:
        assert response.status == "insufficient_context"
        assert not response.sentences
        assert response.nearest
        return
    assert response.status == "ok"
    assert "".join(LETTERS[sentence.support] for sentence in response.sentences) == case["verdicts"]
    assert drop_unproved(response).answer == case["kept"]
    for number_of, sentence in enumerate(response.sentences):
        quotes = [citation.quote for citation in response.citations if citation.sentence == number_of]
        assert any(quotes) or sentence.support is not Support.SUPPORTED


def test_every_verdict_has_at_least_five_cases() -> None:
    counts = Counter(letter for case in CASES["answer"] for letter in case.get("verdicts", "I"))
    assert len(CASES["answer"]) >= 60
    assert min(counts[letter] for letter in "SPNOXC-I") >= 5

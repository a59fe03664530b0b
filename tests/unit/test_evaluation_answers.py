"""Scores of answers by hand: what is said, where it is cited, what is refused."""

import json
from pathlib import Path

import pytest

from rag import evaluation
from rag.evaluation import answers
from rag.types import AnswerResponse, Citation, Sentence, Support, Verdict
from tests import sources


def question(**fields: object) -> evaluation.Question:
    known = {"id": "q", "question": "?", "pdf": "dir/a.pdf", "gold_pages": [2, 5], "answer": "1,250 barrels"}
    return evaluation.Question.model_validate(known | fields)


def cited(page: int, quote: str | None = None, pdf: str = "a.pdf") -> answers.CitedPage:
    return answers.CitedPage(pdf=pdf, page=page, quote=quote, verdict=Verdict.VERIFIED)


def row(*citations: answers.CitedPage, text: str = "", name: str = "q", seconds: float = 1.0) -> answers.AnswerRow:
    """An answer with these citations; without any, a refusal."""
    return answers.AnswerRow(
        id=name,
        status="ok" if citations else "insufficient_context",
        answer=text,
        citations=list(citations),
        sentences=[],
        likelihood=None,
        seconds=seconds,
    )


def means(asked: evaluation.Question, answered: answers.AnswerRow, *lookups: str) -> dict[str, float]:
    return answers.score([asked], [answered], lookups).scores.means


def test_scores_by_hand() -> None:
    answered = row(cited(2, "It filled 1 250 barrels."), cited(3), text="It filled $1,250 barrels. [S1] [S2]")
    assert means(question(), answered, "q") == {
        "refused_wrong": 0, "citations": 2, "first_page": 1, "any_page": 1, "said": 1, "said_first": 0,
    }  # fmt: skip


def test_a_page_counts_in_the_right_document_only_and_first_if_cited_first() -> None:
    found = means(question(), row(cited(2, pdf="b.pdf"), cited(5)))
    assert (found["first_page"], found["any_page"]) == (0, 1)
    assert "said" not in found  # no look-up


def test_a_refusal_is_right_where_there_is_no_answer_and_wrong_elsewhere() -> None:
    assert means(question(answerable=False), row()) == {"refused_right": 1}
    assert means(question(answerable=False), row(cited(2))) == {"refused_right": 0}
    refused = means(question(), row(text="Not found: 1,250 barrels."), "q")
    assert refused == dict.fromkeys(("citations", "first_page", "any_page", "said", "said_first"), 0) | {
        "refused_wrong": 1
    }


def test_pages_are_not_judged_where_none_is_known() -> None:
    assert means(question(gold_pages=[]), row(cited(2))).keys() == {"refused_wrong", "citations"}


def test_a_question_that_was_not_put_is_not_scored() -> None:
    found = answers.score([question(), question(id="r")], [row(cited(2), seconds=2.0)], ())
    assert (found.scores.questions, found.scores.counts["first_page"]) == (1, 1)
    assert found.seconds == {"p50": 2, "p95": 2}


def test_intervals_are_over_documents_and_refusals_of_both_kinds_have_one() -> None:
    asked = [question(id=f"{pdf}{i}", pdf=pdf, answerable=i > 0) for pdf in ("a.pdf", "b.pdf") for i in range(3)]
    rows = [row(*[cited(2)] * one.id.startswith("a"), name=one.id) for one in asked]
    scores = answers.score(asked, rows, ()).scores
    assert scores.counts == {"refused_right": 2, "refused_wrong": 4, "citations": 4, "first_page": 4, "any_page": 4}
    assert scores.intervals["refused_wrong"] == scores.intervals["first_page"] == (0, 1)
    assert scores.intervals["refused_right"] == (0, 1)


@pytest.mark.parametrize(
    ("text", "gold", "expected"),
    [
        ("Sales were $1,250 in all.", "1250", True),
        ("Sales were 12500 in all.", "1250", False),
        ("Profit (loss) of the “Northern” arm.", "profit loss", True),
        ("It rose by 7.5 %.", "7.5%", True),
        ("It rose by 7.52 %.", "7.5%", False),
        ("Seen in ﬁve\nplaces.", "FIVE places", True),
        ("[S1] says so", "says so", True),
    ],
)
def test_what_says_the_gold_answer(text: str, gold: str, expected: bool) -> None:
    assert answers.says(text, gold) is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1,250 barrels", True),
        ("12", False),
        (".12", False),
        ("a b c d e f g h", True),
        ("a b c d e f g h i", False),
        ("1,251 barrels", False),
        (None, False),
        (1250, True),
    ],
)
def test_which_answers_can_be_read_off(answer: object, expected: bool) -> None:
    pages = {2: "The year 12.", 5: "1,250 barrels of a b c d e f g h i"}
    assert answers.is_lookup(question(answer=answer), pages.__getitem__) is expected
    assert not answers.is_lookup(question(answer=answer, answerable=False), pages.__getitem__)


def test_rows_are_what_was_shown_in_its_order(tmp_path: Path) -> None:
    hit = sources.hit("The cellar holds 63 casks.\nIt was dug in 1904.", name="a.pdf", page_number=5)
    second = hit.passage.lines[1]
    response = AnswerResponse(
        status="ok",
        answer="Dug in 1904. [S1] 63 casks. [S1]",
        sentences=(
            Sentence(text="Dug in 1904.", start=0, end=12, support=Support.SUPPORTED),
            Sentence(text="63 casks.", start=13, end=22, support=Support.PARTLY, missing=("casks",)),
        ),
        citations=(
            Citation(
                citation_id="S1", sentence=0, quote="It was dug in 1904.", lines=(second,), regions=(),
                verdict=Verdict.VERIFIED,
            ),
            Citation(citation_id="S1", sentence=1, quote=None, regions=(), verdict=Verdict.UNVERIFIED),
        ),
        sources={"S1": hit},
        likelihood=0.75,
        model="extractive",
    )  # fmt: skip
    rows = answers.ask([question(), question(id="r")], lambda asked: response if asked.id == "q" else None)
    evaluation.write_rows(tmp_path / "runs" / "run.jsonl", rows)
    (written,) = [json.loads(line) for line in (tmp_path / "runs" / "run.jsonl").read_text("utf-8").splitlines()]
    assert written.pop("seconds") >= 0
    assert written == {
        "id": "q",
        "status": "ok",
        "answer": response.answer,
        "citations": [
            {"pdf": "a.pdf", "page": 5, "quote": "It was dug in 1904.", "verdict": "verified"},
            {"pdf": "a.pdf", "page": 5, "quote": None, "verdict": "unverified"},
        ],
        "sentences": [
            {"text": "Dug in 1904.", "support": "supported", "missing": []},
            {"text": "63 casks.", "support": "partly", "missing": ["casks"]},
        ],
        "likelihood": 0.75,
    }
    found = answers.score([question()], rows, ())
    assert found.sentences == {"supported": 1, "partly": 1}
    assert found.quotes == {"verified": 1, "unverified": 1}

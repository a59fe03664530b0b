"""How well questions are answered: whether the answer is said, where it is cited, and when it is refused."""

import collections
import functools
import re
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import pydantic

from rag.evaluation.questions import Question
from rag.evaluation.runs import Remember, remember_nothing
from rag.evaluation.statistics import Scores, Value
from rag.types import AnswerResponse, AnswerStatus, Citation, Hit, OnProgress, Support, Verdict, ignore_progress

LOOKUP_CHARS = 3
LOOKUP_WORDS = 8
"""A gold answer this long can be read off a page word for word; a shorter one stands there by chance, a longer one is
put in other words."""

MEASURES = {
    "said": "said",
    "said_first": "said in the first quote",
    "first_page": "first citation on a right page",
    "any_page": "any citation on a right page",
    "refused_right": "unanswerable, refused",
    "refused_wrong": "answerable, refused",
    "citations": "citations per answer",
}
"""What a score is called where people read it."""

PERCENTILES = {"p50": 0.50, "p95": 0.95}

_LEFT_OUT = re.compile(r"[,$%€£()'\"’\[\]]")
_GAP = re.compile(r"[^\w.\-]+")


class CitedPage(pydantic.BaseModel):
    """A citation of an answer; `page` is that of the first line of its quote or, without one, of its source."""

    pdf: str
    page: int
    quote: str | None
    verdict: Verdict


class JudgedSentence(pydantic.BaseModel):
    """A sentence of an answer: whether its quotes prove it, and what they lack."""

    text: str
    support: Support | None
    missing: tuple[str, ...]


class AnswerRow(pydantic.BaseModel):
    """What was answered: a line of the run file, the citations in the order in which they are shown."""

    id: str
    status: AnswerStatus
    answer: str
    citations: list[CitedPage]
    sentences: list[JudgedSentence]
    likelihood: float | None
    seconds: float

    @property
    def shown(self) -> list[CitedPage]:
        """The citations; none of a refusal."""
        return self.citations if self.status == "ok" else []


def ask(
    questions: Sequence[Question],
    answer: Callable[[Question], AnswerResponse | None],
    on_progress: OnProgress = ignore_progress,
    remember: Remember = remember_nothing,
) -> list[AnswerRow]:
    """The lines of a run over all questions; of one for which `answer` gives None, its document not being there, none.

    They are asked one after another, so that the seconds are those of an answer that is waited for.
    """
    rows: list[AnswerRow] = []
    for done, question in enumerate(questions, start=1):
        rows += remember(done, AnswerRow, functools.partial(_answered, question, answer))
        on_progress("questions", done, len(questions))
    return rows


def _answered(question: Question, answer: Callable[[Question], AnswerResponse | None]) -> list[AnswerRow]:
    started = time.perf_counter()
    response = answer(question)
    return [] if response is None else [answer_row(question, response, time.perf_counter() - started)]


def answer_row(question: Question, response: AnswerResponse, seconds: float) -> AnswerRow:
    """The line that a question adds to a run file."""
    return AnswerRow(
        id=question.id,
        status=response.status,
        answer=response.answer,
        citations=[_cited_page(citation, hit) for citation, hit in response.cited],
        sentences=[
            JudgedSentence(text=sentence.text, support=sentence.support, missing=sentence.missing)
            for sentence in response.sentences
        ],
        likelihood=response.likelihood,
        seconds=round(seconds, 3),
    )


def _cited_page(citation: Citation, hit: Hit) -> CitedPage:
    page = citation.lines_in(hit)[0].page_number
    return CitedPage(pdf=hit.document_name, page=page, quote=citation.quote, verdict=citation.verdict)


# --- look-up questions ------------------------------------------------------------------------------


def normalize(text: str) -> str:
    """Words as they are compared: lower case, single spaces, no brackets, quotes, signs of currency or thousands."""
    text = _LEFT_OUT.sub("", unicodedata.normalize("NFKC", text).lower())
    return " ".join(word.strip(".") for word in _GAP.sub(" ", text).split())


def says(text: str, gold: str) -> bool:
    """Whether the words of `gold` stand in `text` one after another."""
    return f" {normalize(gold)} " in f" {normalize(text)} "


def is_lookup(question: Question, page_text: Callable[[int], str]) -> bool:
    """Whether the gold answer can be read off a gold page, whose text `page_text` gives by number: word for word."""
    gold = normalize(question.answer or "")
    if not question.answerable or len(gold) < LOOKUP_CHARS or len(gold.split()) > LOOKUP_WORDS:
        return False
    return any(says(page_text(number), gold) for number in question.gold_pages)


# --- scores -----------------------------------------------------------------------------------------


class AnswerScores(NamedTuple):
    """How well questions were answered, how fast, and how many sentences and citations have which verdict.

    `scores` has of look-up questions `said` (the answer has the gold answer's words) and `said_first` (the quote of its
    first citation has); of answerable ones with gold pages `first_page` and `any_page` (the first citation, or any,
    lies on a gold page of the right document); of answerable ones `refused_wrong` and `citations` (per answer, a
    refusal having none: more of them make `said` easier); of the others `refused_right`. Sentences that state nothing
    to be proved are counted under "none".
    """

    scores: Scores
    seconds: dict[str, float]
    sentences: dict[str, int]
    quotes: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """As reports have them."""
        return {
            **self.scores.to_json(),
            "secondsPerAnswer": self.seconds,
            "sentences": self.sentences,
            "quotes": self.quotes,
        }


def score(questions: Sequence[Question], rows: Iterable[AnswerRow], lookups: Collection[str]) -> AnswerScores:
    """How well the lines of a run answer the questions; those without a line are not scored.

    `lookups` are the ids of look-up questions.
    """
    given = {row.id: row for row in rows}
    measures: dict[str, list[Value]] = collections.defaultdict(list)
    asked = [question for question in questions if question.id in given]
    for question in asked:
        for name, value in _score_question(question, given[question.id], is_lookup=question.id in lookups).items():
            measures[name].append((question.file_name, float(value)))
    return AnswerScores(
        scores=Scores.of(len(asked), measures),
        seconds=_percentiles([row.seconds for row in given.values()]),
        sentences=dict(_counted(sentence.support or "none" for row in given.values() for sentence in row.sentences)),
        quotes=dict(_counted(cited.verdict for row in given.values() for cited in row.shown)),
    )


def _score_question(question: Question, row: AnswerRow, *, is_lookup: bool) -> dict[str, float]:
    refused = row.status != "ok"
    if not question.answerable:
        return {"refused_right": refused}
    cited = row.shown
    measures: dict[str, float] = {"refused_wrong": refused, "citations": len(cited)}
    if question.gold_pages:
        right = [is_right(question, citation) for citation in cited]
        measures |= {"first_page": right[:1] == [True], "any_page": any(right)}
    if is_lookup and question.answer is not None:
        measures["said"] = not refused and says(row.answer, question.answer)
        measures["said_first"] = any(says(first.quote or "", question.answer) for first in cited[:1])
    return measures


def is_right(question: Question, citation: CitedPage) -> bool:
    """Whether it lies on a gold page of the question's document."""
    return citation.pdf == question.file_name and citation.page in question.gold_pages


Mistake = Literal["refused", "answered", "other page"]


def mistake(question: Question, row: AnswerRow) -> Mistake | None:
    """What is wrong with an answer, as far as pages tell: refused, given though there is none, or cited elsewhere."""
    refused = row.status != "ok"
    if not question.answerable:
        return None if refused else "answered"
    if refused:
        return "refused"
    is_wrong = question.gold_pages and not any(is_right(question, citation) for citation in row.shown[:1])
    return "other page" if is_wrong else None


def _counted(names: Iterable[str]) -> collections.Counter[str]:
    return collections.Counter(str(name) for name in names)


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    import numpy as np

    if not values:
        return {}
    return {name: round(float(np.quantile(values, share)), 3) for name, share in PERCENTILES.items()}

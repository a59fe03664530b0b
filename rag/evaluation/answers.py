"""Score answers: correctness, cited pages and refusals."""

import collections
import re
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import pydantic

from rag import types
from rag.contract import copy_fields
from rag.evaluation.questions import Question
from rag.evaluation.statistics import Scores, Value
from rag.messages import N_

LOOKUP_CHARS = 3
LOOKUP_WORDS = 8
"""Minimum characters and maximum words of a gold answer that can be matched verbatim: shorter ones match by chance,
longer ones are paraphrased."""

MEASURES = {
    "said": N_("said"),
    "said_first": N_("said in the first quote"),
    "first_page": N_("first citation on a right page"),
    "any_page": N_("any citation on a right page"),
    "refused_right": N_("unanswerable, refused"),
    "refused_wrong": N_("answerable, refused"),
    "citations": N_("citations per answer"),
}
"""Display names of the scores."""

PERCENTILES = {"p50": 0.50, "p95": 0.95}

_LEFT_OUT = re.compile(r"[,$%€£()'\"’\[\]]")
_GAP = re.compile(r"[^\w.\-]+")


class CitedPage(pydantic.BaseModel):
    """A citation; `page` is that of the first line of its quote or, without one, of its source."""

    pdf: str
    page: int
    quote: str | None
    verdict: types.Verdict


class JudgedSentence(pydantic.BaseModel):
    """A sentence of an answer with its verdict, and the words its quotes lack."""

    text: str
    support: types.Support | None
    missing: tuple[str, ...]


class AnswerRow(pydantic.BaseModel):
    """An answer: a line of the run file, with citations in display order."""

    id: str
    status: types.AnswerStatus
    answer: str
    citations: list[CitedPage]
    sentences: list[JudgedSentence]
    likelihood: float | None
    seconds: float

    @property
    def shown(self) -> list[CitedPage]:
        """The citations, empty for a refusal."""
        return self.citations if self.status == "ok" else []


def ask(
    questions: Sequence[Question],
    answer: Callable[[Question], types.AnswerResponse | None],
    on_progress: types.OnProgress = types.ignore_progress,
) -> list[AnswerRow]:
    """Ask all questions and return the rows of the run; without row if `answer` returns None for a missing document.

    Questions are asked sequentially, so that the times are those of single answers.
    """
    rows: list[AnswerRow] = []
    for done, question in enumerate(questions, start=1):
        started = time.perf_counter()
        response = answer(question)
        if response is not None:
            rows.append(answer_row(question, response, time.perf_counter() - started))
        on_progress("questions", done, len(questions))
    return rows


def answer_row(question: Question, response: types.AnswerResponse, seconds: float) -> AnswerRow:
    """Return the row of a question."""
    return copy_fields(
        AnswerRow,
        response,
        id=question.id,
        citations=[
            copy_fields(CitedPage, citation, pdf=hit.document_name, page=citation.lines_in(hit)[0].page_number)
            for citation, hit in response.cited
        ],
        sentences=[copy_fields(JudgedSentence, sentence) for sentence in response.sentences],
        seconds=round(seconds, 3),
    )


# --- look-up questions ------------------------------------------------------------------------------


def normalize(text: str) -> str:
    """Normalize text for comparison: lower case, single spaces, no brackets, quotes, currency or thousands signs."""
    text = _LEFT_OUT.sub("", unicodedata.normalize("NFKC", text).lower())
    return " ".join(word.strip(".") for word in _GAP.sub(" ", text).split())


def says(text: str, gold: str) -> bool:
    """Whether `text` contains the words of `gold` in sequence."""
    return f" {normalize(gold)} " in f" {normalize(text)} "


def is_lookup(question: Question, page_text: Callable[[int], str]) -> bool:
    """Whether the gold answer stands verbatim on a gold page; `page_text` returns the text of a page."""
    gold = normalize(question.answer or "")
    if not question.answerable or len(gold) < LOOKUP_CHARS or len(gold.split()) > LOOKUP_WORDS:
        return False
    return any(says(page_text(number), gold) for number in question.gold_pages)


# --- scores -----------------------------------------------------------------------------------------


class AnswerScores(NamedTuple):
    """Answer scores, seconds per answer, and counts of sentences and quotes by verdict.

    `scores` has for look-up questions `said` (the answer contains the gold answer) and `said_first` (the quote of its
    first citation does); for answerable ones with gold pages `first_page` and `any_page` (the first, or any, citation
    is on a gold page of the right document); for answerable ones `refused_wrong` and `citations` (per answer, since
    more of them make `said` easier); for the others `refused_right`. Sentences without verdict are counted as "none".
    """

    scores: Scores
    seconds: dict[str, float]
    sentences: dict[str, int]
    quotes: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return the scores as in reports."""
        return {
            **self.scores.to_json(),
            "secondsPerAnswer": self.seconds,
            "sentences": self.sentences,
            "quotes": self.quotes,
        }


def score(questions: Sequence[Question], rows: Iterable[AnswerRow], lookups: Collection[str]) -> AnswerScores:
    """Score the rows of a run; questions without a row are skipped. `lookups` are the ids of look-up questions."""
    row_by_question = {row.id: row for row in rows}
    measures: dict[str, list[Value]] = collections.defaultdict(list)
    answered = [question for question in questions if question.id in row_by_question]
    for question in answered:
        values = _score_question(question, row_by_question[question.id], is_lookup=question.id in lookups)
        for name, value in values.items():
            measures[name].append((question.file_name, float(value)))
    given = row_by_question.values()
    return AnswerScores(
        scores=Scores.of(len(answered), measures),
        seconds=_percentiles([row.seconds for row in given]),
        sentences=_counts(sentence.support or "none" for row in given for sentence in row.sentences),
        quotes=_counts(citation.verdict for row in given for citation in row.shown),
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
    """Whether the citation is on a gold page of the question's document."""
    return citation.pdf == question.file_name and citation.page in question.gold_pages


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(collections.Counter(map(str, names)))


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    import numpy as np

    if not values:
        return {}
    return {name: round(float(np.quantile(values, share)), 3) for name, share in PERCENTILES.items()}

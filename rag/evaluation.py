"""Measuring retrieval on one's own questions.

A question file has one JSON object a line: `id`, `question`, `pdf` (the file's name), `gold_pages`, and optionally
`evidence` (texts that hold the answer) and `answerable`. Only answerable questions with gold pages are scored.
"""

import collections
import json
import re
import statistics
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, NamedTuple

import pydantic
from pydantic import alias_generators

from rag import errors
from rag.types import DEFAULT_INDEX, TEXT, Hit, IndexName, Input, OnProgress, RetrievalOptions, ignore_progress
from rag.types.problems import in_words

RESAMPLES = 2000
"""Of the documents, for an interval: its ends then hardly move by another seed."""

_TOKEN = re.compile(r"\w+")


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


QuestionId = Annotated[
    str,
    pydantic.BeforeValidator(_as_text),
    pydantic.WithJsonSchema({"anyOf": [{"type": "string", "minLength": 1, "maxLength": 200}, {"type": "integer"}]}),
]
"""A text or a number."""


class Question(pydantic.BaseModel):
    """A question with the pages that answer it; fields that scoring does not need are ignored."""

    model_config = pydantic.ConfigDict(
        frozen=True,
        extra="ignore",
        populate_by_name=True,
        alias_generator=alias_generators.to_camel,
    )

    id: Annotated[QuestionId, pydantic.Field(min_length=1, max_length=200)]
    question: str = pydantic.Field(min_length=1, max_length=4000, pattern=TEXT)
    pdf: str
    gold_pages: tuple[Annotated[int, pydantic.Field(strict=True)], ...] = ()
    evidence: tuple[str, ...] = ()
    answerable: bool = pydantic.Field(default=True, strict=True)

    @property
    def file_name(self) -> str:
        """The name of the document that holds the answer."""
        return PurePath(self.pdf).name

    @property
    def is_scored(self) -> bool:
        """Whether there is something to find."""
        return self.answerable and bool(self.gold_pages)


class EvaluationRequest(Input):
    """How well an index is searched for `questions`: among all its documents, or only in the question's own."""

    index_name: IndexName = DEFAULT_INDEX
    questions: tuple[Question, ...] = pydantic.Field(min_length=1, max_length=5000)
    scope: Literal["corpus", "document"] = "corpus"
    retrieval: RetrievalOptions = RetrievalOptions(top_k=20, min_score=0.0)


class ResultRow(pydantic.BaseModel):
    """One hit of a run: a line of the run file. Boxes are points of the displayed page, origin top left.

    `page` is the page that was found; `pages` also has those that the text handed on runs over to.
    """

    id: str
    rank: int
    pdf: str
    page: int
    pages: list[int]
    text: str
    bboxes: list[tuple[float, float, float, float]]
    score: float


def load_questions(path: Path) -> list[Question]:
    """Read a question file.

    Raises:
        errors.SourceError: the file cannot be read.
        errors.ValidationError: a line is not a question; the message names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise errors.SourceError(f"Cannot read the questions in {path}: {error}. Check the path.") from error
    questions = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            questions.append(Question.model_validate_json(line))
        except pydantic.ValidationError as error:
            words = in_words(error.errors(), whole="line")
            raise errors.ValidationError(f"{path}, line {number} is not a question. {words}.") from error
    return questions


def ask(
    questions: Sequence[Question],
    find: Callable[[Question], Iterable[Hit] | None],
    on_progress: OnProgress = ignore_progress,
) -> list[ResultRow]:
    """The lines of a run over all questions; `find` gives a question's hits, None if its document is not there."""
    rows: list[ResultRow] = []
    for done, question in enumerate(questions, start=1):
        rows += result_rows(question, find(question) or ())
        on_progress("questions", done, len(questions))
    return rows


def result_rows(question: Question, hits: Iterable[Hit]) -> list[ResultRow]:
    """The lines that a question adds to a run file, best hit first."""
    return [
        ResultRow(
            id=question.id,
            rank=rank,
            pdf=hit.document_name,
            page=hit.chunk.main_page,
            pages=list(hit.passage.pages),
            text=hit.passage.text,
            bboxes=[rect for region in hit.passage.regions[:1] for rect in region.rects],
            score=hit.final_score,
        )
        for rank, hit in enumerate(hits, start=1)
    ]


class Scores(NamedTuple):
    """Means over the scored `questions`, and for each a 95 % interval where the questions are of several documents.

    `mrr` is 1 / rank of the first hit on a gold page. For each k: `hit@k` (any of the first k hits lies on a gold
    page), `recall@k` (share of the gold pages among all pages that the first k hits hand on), `page_recall@k` (share of
    them among the first k distinct pages that were found), `characters@k` (how much the first k hits hand on to be
    read), `evidence_coverage@k` (share of the evidence's words within the first k hits from the
    right document; only over questions with evidence).
    """

    questions: int
    means: dict[str, float]
    intervals: dict[str, tuple[float, float]]

    def to_json(self) -> dict[str, Any]:
        """As reports have them: `measures`, among them the number of questions, and their `intervals`."""
        return {"measures": {"questions": self.questions, **self.means}, "intervals": self.intervals}


def score(questions: Sequence[Question], rows: Iterable[ResultRow], ks: Sequence[int] = (1, 3, 5, 10)) -> Scores:
    """How well the lines of a run answer the questions; a question without hits counts 0."""
    by_question: dict[str, list[ResultRow]] = collections.defaultdict(list)
    for row in rows:
        by_question[row.id].append(row)
    scored = [question for question in questions if question.is_scored]
    measures: dict[str, list[tuple[str, float]]] = collections.defaultdict(list)
    for question in scored:
        ranked = sorted(by_question[question.id], key=lambda row: row.rank)
        for name, value in _score_question(question, ranked, ks).items():
            measures[name].append((question.file_name, value))
    return Scores(
        questions=len(scored),
        means={name: statistics.fmean(value for _, value in values) for name, values in measures.items()},
        intervals={name: found for name, values in measures.items() if (found := _interval(values))},
    )


def _interval(values: Iterable[tuple[str, float]]) -> tuple[float, float] | None:
    """The 95 % interval of the mean of (document, value) by resampling whole documents; None for a single one.

    Questions about one document stand and fall together, so an interval over questions would be too narrow.
    Source: the cluster bootstrap with replacement, Field, Welsh, "Bootstrapping clustered data", JRSS B 69, 2007.
    """
    import numpy as np

    by_document: dict[str, list[float]] = collections.defaultdict(list)
    for document, value in values:
        by_document[document].append(value)
    if len(by_document) < 2:
        return None
    totals = np.array([(sum(found), len(found)) for found in by_document.values()])
    chosen = np.random.default_rng(0).integers(len(totals), size=(RESAMPLES, len(totals)))
    sums, counts = totals[chosen].sum(axis=1).T
    low, high = np.quantile(sums / counts, [0.025, 0.975])
    return float(low), float(high)


def first_rank(question: Question, rows: Iterable[ResultRow]) -> int | None:
    """The rank from 1 of the question's first hit on a gold page of its document."""
    gold = set(question.gold_pages)
    hits = (row for row in rows if row.id == question.id and row.pdf == question.file_name)
    return min((row.rank for row in hits if gold & set(row.pages)), default=None)


def _score_question(question: Question, ranked: Sequence[ResultRow], ks: Sequence[int]) -> dict[str, float]:
    gold = set(question.gold_pages)
    found = [gold & set(row.pages) if row.pdf == question.file_name else set() for row in ranked]
    first = next((rank for rank, pages in enumerate(found, start=1) if pages), None)
    pages = list(dict.fromkeys((row.pdf, row.page) for row in ranked))
    measures = {"mrr": 1.0 / first if first else 0.0}
    for k in ks:
        seen = set().union(*found[:k])
        measures[f"hit@{k}"] = float(bool(seen))
        measures[f"recall@{k}"] = len(seen) / len(gold)
        measures[f"page_recall@{k}"] = len({(question.file_name, page) for page in gold} & {*pages[:k]}) / len(gold)
        measures[f"characters@{k}"] = float(sum(len(row.text) for row in ranked[:k]))
        if question.evidence:
            measures[f"evidence_coverage@{k}"] = _evidence_coverage(question, ranked[:k])
    return measures


def _evidence_coverage(question: Question, rows: Iterable[ResultRow]) -> float:
    wanted = collections.Counter(token for text in question.evidence for token in _tokens(text))
    given = collections.Counter(token for row in rows if row.pdf == question.file_name for token in _tokens(row.text))
    return (wanted & given).total() / wanted.total() if wanted else 0.0


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def write_rows(path: Path, rows: Iterable[ResultRow]) -> None:
    """Write a run file, one JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row.model_dump(), ensure_ascii=False) + "\n")

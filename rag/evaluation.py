"""Measuring retrieval on one's own questions.

A question file has one JSON object a line: `id`, `question`, `pdf` (the file's name), `gold_pages`, and optionally
`evidence` (texts that hold the answer) and `answerable`. Only answerable questions with gold pages are scored.
"""

import collections
import json
import re
import statistics
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

import pydantic
from pydantic import alias_generators

from rag import errors
from rag.types import DEFAULT_INDEX, TEXT, Hit, IndexName, Input, OnProgress, RetrievalOptions, ignore_progress
from rag.types.problems import in_words

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
    """One hit of a run: a line of the run file. Boxes are points of the displayed page, origin top left."""

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
            page=hit.passage.page_number,
            pages=list(hit.passage.pages),
            text=hit.passage.text,
            bboxes=[rect for region in hit.passage.regions[:1] for rect in region.rects],
            score=hit.final_score,
        )
        for rank, hit in enumerate(hits, start=1)
    ]


def score(
    questions: Sequence[Question], rows: Iterable[ResultRow], ks: Sequence[int] = (1, 3, 5, 10)
) -> dict[str, float]:
    """Means over the scored questions; a question without hits counts 0.

    Returns:
        `questions` (how many were scored), `mrr` (1 / rank of the first hit on a gold page), and for each k: `hit@k`
        (any of the first k hits lies on a gold page), `recall@k` (share of the gold pages among the first k hits),
        `evidence_coverage@k` (share of the evidence's words within the first k hits from the right document;
        only over questions with evidence).
    """
    by_question: dict[str, list[ResultRow]] = collections.defaultdict(list)
    for row in rows:
        by_question[row.id].append(row)
    scored = [question for question in questions if question.is_scored]
    measures: dict[str, list[float]] = collections.defaultdict(list)
    for question in scored:
        ranked = sorted(by_question[question.id], key=lambda row: row.rank)
        for name, value in _score_question(question, ranked, ks).items():
            measures[name].append(value)
    return {"questions": float(len(scored))} | {name: statistics.fmean(values) for name, values in measures.items()}


def first_rank(question: Question, rows: Iterable[ResultRow]) -> int | None:
    """The rank from 1 of the question's first hit on a gold page of its document."""
    gold = set(question.gold_pages)
    hits = (row for row in rows if row.id == question.id and row.pdf == question.file_name)
    return min((row.rank for row in hits if gold & set(row.pages)), default=None)


def _score_question(question: Question, ranked: Sequence[ResultRow], ks: Sequence[int]) -> dict[str, float]:
    gold = set(question.gold_pages)
    found = [gold & set(row.pages) if row.pdf == question.file_name else set() for row in ranked]
    first = next((rank for rank, pages in enumerate(found, start=1) if pages), None)
    measures = {"mrr": 1.0 / first if first else 0.0}
    for k in ks:
        seen = set().union(*found[:k])
        measures[f"hit@{k}"] = float(bool(seen))
        measures[f"recall@{k}"] = len(seen) / len(gold)
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


def summary(measures: Mapping[str, float], k: int = 5) -> dict[str, Any]:
    """The three figures to quote: page recall@k, MRR, evidence coverage@k (None without evidence)."""
    return {
        "questions": int(measures["questions"]),
        f"recall@{k}": measures.get(f"recall@{k}"),
        "mrr": measures.get("mrr"),
        f"evidence_coverage@{k}": measures.get(f"evidence_coverage@{k}"),
    }

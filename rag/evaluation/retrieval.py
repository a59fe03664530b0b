"""Score retrieval on answerable questions with gold pages."""

import collections
import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import pydantic

from rag import types
from rag.evaluation.questions import Question
from rag.evaluation.runs import Checkpoint, no_checkpoint
from rag.evaluation.statistics import Scores, Value

_TOKEN = re.compile(r"\w+")


class ResultRow(pydantic.BaseModel):
    """A hit: a line of the run file. Boxes are in points of the displayed page, origin top left.

    `page` is the chunk's main page; `pages` are those of the whole passage.
    """

    id: str
    rank: int
    pdf: str
    page: int
    pages: list[int]
    text: str
    bboxes: list[tuple[float, float, float, float]]
    score: float


def ask(
    questions: Sequence[Question],
    find: Callable[[Question], Iterable[types.Hit] | None],
    on_progress: types.OnProgress = types.ignore_progress,
    remember: Checkpoint = no_checkpoint,
) -> list[ResultRow]:
    """Search for all questions and return the rows; `find` returns None if the question's document is missing."""
    rows: list[ResultRow] = []
    for done, question in enumerate(questions, start=1):
        rows += remember(done, ResultRow, functools.partial(_rows_of, question, find))
        on_progress("questions", done, len(questions))
    return rows


def _rows_of(question: Question, find: Callable[[Question], Iterable[types.Hit] | None]) -> list[ResultRow]:
    return result_rows(question, find(question) or ())


def result_rows(question: Question, hits: Iterable[types.Hit]) -> list[ResultRow]:
    """Return the rows of a question, best hit first."""
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


def score(questions: Sequence[Question], rows: Iterable[ResultRow], ks: Sequence[int] = (1, 3, 5, 10)) -> Scores:
    """Score the rows of a run; a question without hits counts 0.

    `mrr` is 1 / rank of the first hit on a gold page. For each k: `hit@k` (any of the first k hits is on a gold page),
    `recall@k` (share of the gold pages in the passages of the first k hits), `page_recall@k` (share of them among the
    first k distinct main pages), `characters@k` (total passage length of the first k hits), `evidence_coverage@k`
    (share of the evidence's words in the first k hits from the right document; only over questions with evidence).
    """
    by_question: dict[str, list[ResultRow]] = collections.defaultdict(list)
    for row in rows:
        by_question[row.id].append(row)
    scored = [question for question in questions if question.is_scored]
    measures: dict[str, list[Value]] = collections.defaultdict(list)
    for question in scored:
        ranked = sorted(by_question[question.id], key=lambda row: row.rank)
        for name, value in _score_question(question, ranked, ks).items():
            measures[name].append((question.file_name, value))
    return Scores.of(len(scored), measures)


def first_rank(question: Question, rows: Iterable[ResultRow]) -> int | None:
    """Return the rank from 1 of the question's first hit on a gold page of its document."""
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

"""Score retrieval on answerable questions with gold pages."""

import collections
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import pydantic

from rag import types
from rag.evaluation.questions import Question
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
) -> list[ResultRow]:
    """Search for all questions and return the rows; `find` returns None if the question's document is missing."""
    rows: list[ResultRow] = []
    for done, question in enumerate(questions, start=1):
        rows += [
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
            for rank, hit in enumerate(find(question) or (), start=1)
        ]
        on_progress("questions", done, len(questions))
    return rows


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


def _score_question(question: Question, ranked: Sequence[ResultRow], ks: Sequence[int]) -> dict[str, float]:
    gold = set(question.gold_pages)
    gold_by_rank = [gold & set(row.pages) if row.pdf == question.file_name else set() for row in ranked]
    first = next((rank for rank, pages in enumerate(gold_by_rank, start=1) if pages), None)
    pages = list(dict.fromkeys((row.pdf, row.page) for row in ranked))
    measures = {"mrr": 1.0 / first if first else 0.0}
    for k in ks:
        reached = set().union(*gold_by_rank[:k])
        measures[f"hit@{k}"] = float(bool(reached))
        measures[f"recall@{k}"] = len(reached) / len(gold)
        measures[f"page_recall@{k}"] = len({(question.file_name, page) for page in gold} & {*pages[:k]}) / len(gold)
        measures[f"characters@{k}"] = float(sum(len(row.text) for row in ranked[:k]))
        if question.evidence:
            texts = [row.text for row in ranked[:k] if row.pdf == question.file_name]
            evidence, retrieved = _tokens(question.evidence), _tokens(texts)
            measures[f"evidence_coverage@{k}"] = (evidence & retrieved).total() / max(evidence.total(), 1)
    return measures


def _tokens(texts: Iterable[str]) -> collections.Counter[str]:
    return collections.Counter(
        token for text in texts for token in _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())
    )

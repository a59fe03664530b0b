"""`python -m benchmarks.reading FOLDER`: measure reading comprehension on passages and questions.

The folder is in BEIR format (`corpus.jsonl`, `queries.jsonl`, `qrels.tsv`) with an additional `answers.jsonl`, one
`{"qid", "answers": [{"text"}, …]}` per question. Each passage becomes a text file in the index, once. A question is
asked of all passages without a language model, and again without the passage that answers it, where the right reaction
is a refusal.
"""

import argparse
import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.extractive import with_interval
from rag import evaluation
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.engine import RAGEngine
from rag.evaluation.answers import AnswerRow, says
from rag.types import AnswerRequest, Filters, GenerationOptions, RetrievalOptions

WITH, WITHOUT = "with the passage that answers", "without it"


@dataclass(frozen=True)
class Read:
    """A question, its passage and its answers, each normalised to words."""

    id: str
    text: str
    passage: str
    answers: tuple[str, ...]

    @property
    def question(self) -> evaluation.Question:
        """The question as evaluations use it."""
        return evaluation.Question(id=self.id, question=self.text, pdf=self.passage)

    def is_said_first(self, row: AnswerRow) -> bool:
        """Return whether the first sentence is from the passage and contains an answer."""
        first = next(iter(row.shown), None)
        return (
            first is not None
            and first.pdf == self.passage
            and any(says(first.quote or "", one) for one in self.answers)
        )

    def is_said(self, row: AnswerRow) -> bool:
        """Return whether any sentence contains an answer."""
        return row.status == "ok" and any(says(row.answer, one) for one in self.answers)


def main() -> None:
    """Print how often the first sentence answers, the number of quoted sentences, and refusals."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.reading", description="Measure reading comprehension.")
    made.add_argument("folder", type=Path, metavar="FOLDER", help="passages and questions in BEIR format")
    made.add_argument("--index", default="reading", help="the index for the passages")
    made.add_argument("--every", type=int, default=1, metavar="N", help="ask only every Nth question")
    arguments = made.parse_args()
    console = Console()
    questions = list(load(arguments.folder))[:: arguments.every]
    with RAGEngine() as engine:
        ids = take_in(engine, arguments.index, arguments.folder, console)
        rows = {
            way: list(ask(engine, arguments.index, track(questions, way, console=console, transient=True), ids, way))
            for way in (WITH, WITHOUT)
        }
    console.print(table(score(questions, rows[WITH], rows[WITHOUT])))


def load(folder: Path) -> Iterator[Read]:
    """Return the questions that have an answer and a passage."""
    answers = {line["qid"]: tuple(answer["text"] for answer in line["answers"]) for line in _lines(folder, "answers")}
    judged = (line.split("\t") for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:])
    passages = {question: file_name(passage) for question, passage, relevance in judged if int(relevance) > 0}
    for line in _lines(folder, "queries"):
        if line["_id"] in passages and line["_id"] in answers:
            yield Read(line["_id"], line["text"], passages[line["_id"]], answers[line["_id"]])


def file_name(passage: str) -> str:
    """Return the file name of a passage."""
    return f"{passage}.txt"


def take_in(engine: RAGEngine, index_name: str, folder: Path, console: Console) -> dict[str, uuid.UUID]:
    """Return the indexed passages by file name, after adding missing ones."""
    engine.indexes.ensure(index_name)
    ids = {document.name: document.id for document in engine.documents.list(index_name)}
    passages = {file_name(line["_id"]): line["text"] for line in _lines(folder, "corpus")}
    for name in track(sorted(passages.keys() - ids.keys()), "Passages", console=console, transient=True):
        document = engine.documents.add(passages[name].encode(), name, index_name=index_name, enqueue=False)
        engine.documents.process(document.id)
        ids[name] = document.id
    return {name: ids[name] for name in passages}


def ask(
    engine: RAGEngine, index_name: str, questions: Iterable[Read], ids: Mapping[str, uuid.UUID], way: str
) -> Iterator[AnswerRow]:
    """Return the answers to all questions, with or without their passages."""
    for question in questions:
        among = tuple(key for name, key in ids.items() if way == WITH or name != question.passage)
        request = AnswerRequest(
            index_name=index_name,
            question=question.text,
            retrieval=RetrievalOptions(filters=Filters(document_ids=among)),
            generation=GenerationOptions(provider=EXTRACTIVE_MODEL),
        )
        yield evaluation.answers.answer_row(question.question, engine.answer(request), 0.0)


def score(questions: Sequence[Read], given: Iterable[AnswerRow], without: Iterable[AnswerRow]) -> evaluation.Scores:
    """Return the measures, each with an interval over passages."""
    values = defaultdict(list)
    for question, row, other in zip(questions, given, without, strict=True):
        for name, value in {
            "first sentence holds the answer": question.is_said_first(row),
            "any sentence holds the answer": question.is_said(row),
            "sentences quoted": len(row.shown),
            f"refused {WITH}": row.status != "ok",
            f"refused {WITHOUT}": other.status != "ok",
        }.items():
            values[name].append((question.passage, float(value)))
    return evaluation.Scores.of(len(questions), values)


def table(scores: evaluation.Scores) -> Table:
    """Return a printable table."""
    made = Table("", "mean", title=f"{scores.questions} questions", title_justify="left")
    for measure in scores.means:
        made.add_row(measure, with_interval(scores, measure))
    return made


def _lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


if __name__ == "__main__":
    main()

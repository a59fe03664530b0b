"""`pagelight eval`: how well the product finds what an analyst's own questions ask for."""

import hashlib
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from rag import errors, evaluation
from rag.cli import files, output, progress
from rag.cli.door import open_engine, validated
from rag.cli.options import AsJson, takes_retrieval
from rag.types import DocumentStatus, Filters, Hit, RetrievalOptions, SearchRequest

if TYPE_CHECKING:
    from rag.engine import RAGEngine

KS = (1, 3, 5, 10)

Scope = Literal["corpus", "document"]


class Corpus(NamedTuple):
    """The documents that are searched: ids by file name, and whether the index holds nothing else."""

    index_name: str
    ids: dict[str, uuid.UUID]
    is_whole_index: bool

    def filters(self, question: evaluation.Question, scope: Scope) -> Filters | None:
        """What to search for a question; None when its own document is not there."""
        if scope == "document":
            own = self.ids.get(question.file_name)
            return Filters(document_ids=(own,)) if own else None
        if not self.ids:
            return None
        return Filters() if self.is_whole_index else Filters(document_ids=tuple(set(self.ids.values())))


@takes_retrieval(top_k=20, min_score=0.0)
def evaluate(
    questions_file: Annotated[
        Path, typer.Argument(metavar="QA.jsonl", help="Questions, one JSON object a line.", show_default=False)
    ],
    *,
    documents: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder with the documents they are about.", show_default=False)
    ],
    scope: Annotated[
        Scope, typer.Option(help="Search all documents, or only the one the question is about.")
    ] = "corpus",
    retrieval: RetrievalOptions,
    out: Annotated[
        Path | None,
        typer.Option(metavar="RUN.jsonl", help="Write every hit, one JSON object a line.", show_default=False),
    ] = None,
    only_referenced: Annotated[
        bool | None,
        typer.Option(
            "--only-referenced/--all-files",
            help="Take in only files that the questions name, or all; only these, if all of them are there.",
            show_default=False,
        ),
    ] = None,
    index_name: Annotated[
        str | None,
        typer.Option("--index", metavar="NAME", help="The index to use; one for each folder.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask questions whose answers' pages are known, and print recall, MRR and evidence coverage.

    A question is {"id", "question", "pdf", "gold_pages", "evidence", "answerable"}; other fields are ignored. Documents
    are matched by file name and taken in where they are missing. A hit in the run file is {"id", "rank", "pdf", "page",
    "pages", "text", "bboxes", "score"}.

        pagelight eval questions.jsonl --documents filings/
        pagelight eval questions.jsonl --documents filings/ --scope document --mode lexical --out run.jsonl
    """
    from rag.retrieval import as_configured  # with models and drivers, for which no help waits

    questions = evaluation.load_questions(questions_file)
    chosen = _choose(documents, questions, only_referenced)
    index_name = index_name or _index_of(documents)
    started = time.perf_counter()
    with open_engine() as engine:
        corpus, failed = _ingest_missing(engine, index_name, chosen)
        rows = _ask_all(engine, questions, corpus, scope, retrieval)
        mode = as_configured(retrieval, engine.config).mode
    if out:
        evaluation.write_rows(out, rows)
    scores = evaluation.score(questions, rows, KS)
    report = {
        "index": index_name,
        "scope": scope,
        "mode": mode,
        "documents": len(corpus.ids),
        "failed": [outcome.to_json() for outcome in failed],
        "missing": sorted({question.file_name for question in questions} - {file.name for file in chosen}),
        "questions": len(questions),
        **scores.to_json(),
        "seconds": round(time.perf_counter() - started, 3),
    }
    if as_json:
        output.print_json(report)
    else:
        _print_scores(scores, len(questions))


def _choose(folder: Path, questions: Sequence[evaluation.Question], only_referenced: bool | None) -> list[Path]:
    """The files to search, saying which."""
    if not folder.is_dir():
        raise errors.SourceError(f"There is no folder {folder}. Check --documents.")
    present = files.find_files([folder])
    referenced = {question.file_name for question in questions}
    chosen = [file for file in present if file.name in referenced]
    missing = sorted(referenced - {file.name for file in chosen})
    if missing:
        output.print_note(f"Not in {folder}: {', '.join(missing)}.", style="yellow")
    if only_referenced or (only_referenced is None and not missing):
        output.print_note(f"Searching the {output.plural(len(chosen), 'file')} that the questions name.")
        return chosen
    output.print_note(f"Searching all {output.plural(len(present), 'file')} in {folder}.")
    return present


def _index_of(folder: Path) -> str:
    """A name of its own for each folder, so that evaluations do not mix."""
    path = folder.resolve()
    return f"eval-{path.name}-{hashlib.sha256(str(path).encode()).hexdigest()[:6]}"


def _ingest_missing(engine: "RAGEngine", index_name: str, chosen: Sequence[Path]) -> tuple[Corpus, list[files.Outcome]]:
    """The searchable ones of `chosen`, matched by content, and what could not be taken in."""
    engine.indexes.ensure(index_name)
    hashes = {file: _sha256(file) for file in chosen}
    ready = {
        document.sha256 for document in engine.documents.list(index_name) if document.status is DocumentStatus.READY
    }
    missing = [file for file in chosen if hashes[file] not in ready]
    output.print_note(f"Index “{index_name}”: {len(chosen) - len(missing)} ready, {len(missing)} to take in.")
    outcomes = files.ingest_files(engine, missing, index_name) if missing else []
    present = {
        document.sha256: document.id
        for document in engine.documents.list(index_name)
        if document.status is DocumentStatus.READY
    }
    ids = {file.name: present[hashes[file]] for file in chosen if hashes[file] in present}
    corpus = Corpus(index_name, ids, is_whole_index=set(ids.values()) == set(present.values()))
    return corpus, [outcome for outcome in outcomes if outcome.state == "failed"]


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _ask_all(
    engine: "RAGEngine",
    questions: Sequence[evaluation.Question],
    corpus: Corpus,
    scope: Scope,
    options: RetrievalOptions,
) -> list[evaluation.ResultRow]:
    def find(question: evaluation.Question) -> Sequence[Hit] | None:
        filters = corpus.filters(question, scope)
        if filters is None:
            return None
        retrieval = options.model_copy(update={"filters": filters})
        request = validated(SearchRequest, index_name=corpus.index_name, query=question.question, retrieval=retrieval)
        return engine.search(request).results

    with progress.shown(questions="Questions") as on_progress:
        return evaluation.ask(questions, find, on_progress)


def _print_scores(scores: evaluation.Scores, asked: int) -> None:
    rows = [
        (
            k,
            _with_interval(scores, f"page_recall@{k}"),
            _with_interval(scores, f"recall@{k}"),
            output.score(scores.means.get(f"hit@{k}")),
            _with_interval(scores, f"evidence_coverage@{k}"),
            f"{scores.means.get(f'characters@{k}', 0.0):,.0f}",
        )
        for k in KS
    ]
    columns = ["k", "first k pages", "pages of k hits", "hit", "evidence coverage", "characters"]
    output.print_table(columns, rows, right=columns)
    scored = f"{scores.questions} of {output.plural(asked, 'question')}"
    output.print_text(f"\nMRR {_with_interval(scores, 'mrr')} over {scored}.")
    output.print_text("Recall is of the pages that hold the answers. In brackets: 95 % intervals, documents resampled.")


def _with_interval(scores: evaluation.Scores, measure: str) -> str:
    """Such as “0.654 [.59 .71]”."""
    mean, interval = output.score(scores.means.get(measure)), scores.intervals.get(measure)
    return f"{mean} [{' '.join(f'{end:.2f}'.removeprefix('0') for end in interval)}]" if interval else mean

"""`pagelight eval`: measure retrieval or answers on your own questions."""

import hashlib
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pydantic
import typer

from rag import errors, evaluation, types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.library import ingest
from rag.cli.options import AsJson, Open, takes_retrieval
from rag.cli.questions.ask import ModelName, generation

if TYPE_CHECKING:
    from rag.engine import RAGEngine
    from rag.engine.evaluation import Corpus

KS = (1, 3, 5, 10)


@takes_retrieval(top_k=Open("20; 8 with --answers"), min_score=Open("0.0; 0.2 with --answers"))
def evaluate(
    questions_file: Annotated[Path, typer.Argument(metavar="QA.jsonl", help="Questions, one JSON object per line.")],
    *,
    documents: Annotated[Path, typer.Option(metavar="DIR", help="The folder with their documents.")],
    answers: Annotated[bool, typer.Option("--answers", help="Score answers instead of search results.")] = False,
    scope: Annotated[
        evaluation.EvaluationScope, typer.Option(help="Search all documents, or only the one the question is about.")
    ] = "corpus",
    retrieval: types.RetrievalOptions,
    model: ModelName = None,
    out: Annotated[
        Path | None, typer.Option(metavar="RUN.jsonl", help="Write every hit or answer, one JSON object per line.")
    ] = None,
    only_referenced: Annotated[
        bool | None,
        typer.Option(
            "--only-referenced/--all-files",
            help="Add only the files that the questions name, or all. Default: only these, if all of them are there.",
        ),
    ] = None,
    index_name: Annotated[
        str | None, typer.Option("--index", metavar="NAME", help="The index to use; one per folder unless given.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure recall, MRR and evidence coverage on questions whose answers' pages are known.

    With --answers, print how often answers are right, cite the right page, or are rightly refused, and how long they
    take. A question is {"id", "question", "pdf", "gold_pages", "answer", "evidence", "answerable"}; other fields are
    ignored. Documents are matched by file name and added if missing. A line of the run file is a hit, {"id", "rank",
    "pdf", "page", "pages", "text", "bboxes", "score"}, or an answer, {"id", "status", "answer", "citations",
    "sentences", "likelihood", "seconds"}.

        pagelight eval questions.jsonl --documents filings/
        pagelight eval questions.jsonl --documents filings/ --scope document --mode lexical --out run.jsonl
        pagelight eval questions.jsonl --documents filings/ --answers --out answers.jsonl
    """
    from rag.engine.evaluation import Evaluation  # slow: loads models and drivers
    from rag.retrieval import as_configured

    questions = evaluation.load_questions(questions_file)
    chosen = _choose_files(documents, questions, only_referenced)
    if index_name is None:  # one per folder, so that evaluations do not mix
        path = documents.resolve()
        index_name = f"eval-{path.name}-{hashlib.sha256(str(path).encode()).hexdigest()[:6]}"
    options = evaluation.options_for("answers" if answers else "retrieval", retrieval)
    started = time.perf_counter()
    with open_engine() as engine:
        corpus, failed = _ingest_missing(engine, index_name, chosen)
        asking = Evaluation(engine.questions, engine.pages, corpus, scope)
        scores: evaluation.Scores | evaluation.answers.AnswerScores
        rows: Sequence[pydantic.BaseModel]
        if answers:
            engine.installation.warm_up()  # so that the first answer takes no longer than the others
        with output.show_progress(questions="Questions") as on_progress:
            if answers:
                rows = replies = asking.answer(questions, options, generation(model), on_progress)
                scores = evaluation.answers.score(questions, replies, asking.lookups(questions))
            else:
                rows = hits = asking.search(questions, options, on_progress)
                scores = evaluation.retrieval.score(questions, hits, KS)
        if out:
            evaluation.write_rows(out, rows)
        mode = as_configured(options, engine.config).mode
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
    elif isinstance(scores, evaluation.answers.AnswerScores):
        _print_answer_scores(scores, len(questions))
    else:
        _print_scores(scores, len(questions))


def _choose_files(folder: Path, questions: Sequence[evaluation.Question], only_referenced: bool | None) -> list[Path]:
    """Return the files to search, and print which they are."""
    if not folder.is_dir():
        raise errors.SourceError(f"There is no folder {folder}. Check --documents.")
    present = ingest.find_files([folder])
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


def _ingest_missing(
    engine: "RAGEngine", index_name: str, chosen: Sequence[Path]
) -> "tuple[Corpus, list[ingest.Outcome]]":
    """Ingest the files that the index lacks; return the searchable ones, matched by content, and the failures."""
    from rag.engine.evaluation import Corpus

    engine.indexes.ensure(index_name)
    hashes = {}
    for file in chosen:
        with file.open("rb") as stream:
            hashes[file] = hashlib.file_digest(stream, "sha256").hexdigest()
    present = _ready_documents(engine, index_name)
    missing = [file for file in chosen if hashes[file] not in present]
    output.print_note(f"Index “{index_name}”: {len(chosen) - len(missing)} ready, {len(missing)} to add.")
    outcomes = ingest.ingest_files(engine, missing, index_name) if missing else []
    present = _ready_documents(engine, index_name)
    ids = {file.name: present[hashes[file]] for file in chosen if hashes[file] in present}
    is_whole_index = set(ids.values()) == set(present.values())
    narrowed = types.Filters() if is_whole_index else types.Filters(document_ids=tuple(set(ids.values())))
    corpus = Corpus(index_name, ids, everything=narrowed if ids else None)
    return corpus, [outcome for outcome in outcomes if outcome.state == "failed"]


def _ready_documents(engine: "RAGEngine", index_name: str) -> dict[str, uuid.UUID]:
    """Return the ids of the index's searchable documents by their SHA-256."""
    ready = types.DocumentStatus.READY
    return {document.sha256: document.id for document in engine.documents.list(index_name) if document.status is ready}


def _print_scores(scores: evaluation.Scores, total: int) -> None:
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
    scored = f"{scores.questions} of {output.plural(total, 'question')}"
    output.print_text(f"\nMRR {_with_interval(scores, 'mrr')} over {scored}.")
    output.print_text("Recall is of the pages that hold the answers. In brackets: 95 % intervals, documents resampled.")


def _with_interval(scores: evaluation.Scores, measure: str) -> str:
    """Format a mean with its interval, such as “0.654 [.59 .71]”."""
    mean, interval = output.score(scores.means.get(measure)), scores.intervals.get(measure)
    return f"{mean} [{' '.join(f'{end:.2f}'.removeprefix('0') for end in interval)}]" if interval else mean


def _print_answer_scores(report: evaluation.answers.AnswerScores, total: int) -> None:
    scores = report.scores
    rows = [
        (label, _with_interval(scores, measure), scores.counts[measure])
        for measure, label in evaluation.answers.MEASURES.items()
        if measure in scores.means
    ]
    output.print_table(["answers", "mean", "questions"], rows, right=["mean", "questions"])
    output.print_text()
    output.print_text(f"Sentences: {_listed(report.sentences)}. Citations: {_listed(report.quotes)}.")
    seconds = ", ".join(f"{name} {value:.2f} s" for name, value in report.seconds.items())
    output.print_text(
        f"Time per answer: {seconds or '–'}, over {scores.questions} of {output.plural(total, 'question')}."
    )
    output.print_text("“Said” is of answers of a few words that a page has word for word. In brackets: 95 % intervals.")


def _listed(counts: dict[str, int]) -> str:
    """Format counts, such as “12 supported, 3 partly”."""
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items())) or "none"

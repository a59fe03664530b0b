"""`pagelight ingest`: read files one after the other in this process, showing progress."""

import functools
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from rag import errors, types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, IndexName, Password, SameName

if TYPE_CHECKING:
    from rag.engine import RAGEngine

STAGES: dict[str, str] = {
    types.DocumentStatus.PARSING: "reading pages",
    types.DocumentStatus.EMBEDDING: "embedding chunks",
}
MARKS = {"ingested": ("✓", "green"), "skipped": ("–", "yellow"), "failed": ("✗", "red")}

State = Literal["ingested", "skipped", "failed"]


class Outcome(NamedTuple):
    """The result of ingesting a file; `code` and `message` say why it was skipped or failed.

    `seconds_to_words` is the time until its words could be searched, if it was read now and was new.
    """

    path: Path
    state: State
    document: types.Document | None = None
    code: str | None = None
    message: str | None = None
    seconds_to_words: float | None = None

    def to_json(self) -> dict[str, object]:
        """Return the outcome as in JSON output."""
        document = self.document
        return {
            "path": str(self.path),
            "state": self.state,
            "documentId": document.id if document else None,
            "pages": document.page_count if document else 0,
            "chunks": document.chunk_count if document else 0,
            "secondsToWords": self.seconds_to_words,
            "reason": {"code": self.code, "message": self.message} if self.message else None,
        }


def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, and folders to search.")],
    index_name: IndexName = types.DEFAULT_INDEX,
    password: Password = None,
    same_name: SameName = "keep",
    as_json: AsJson = False,
) -> None:
    """Add files and make them searchable.

    Folders are searched for PDF, DOCX, PPTX, EPUB, XLSX, XLS, ODS, CSV, HTML, Markdown and text files, mails (EML, MSG)
    and ZIP archives. Files in mails, archives and PDFs become documents of their own. Files that are already in the
    index are skipped; files that an interrupted run left unread are read. The exit code is 5 if any file failed.

        pagelight ingest report.pdf contracts/
        pagelight ingest --password secret board-minutes.pdf
        pagelight ingest --same-name version report.pdf
    """
    files = find_files(paths)
    if not files:
        raise errors.SourceError(f"There are no files to add in {', '.join(map(str, paths))}. Check the path.")
    with open_engine(index_name) as engine:
        outcomes = ingest_files(engine, files, index_name, password=password, same_name=same_name)
    _report(outcomes, as_json=as_json)


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Return the given files and those in the given folders, each once."""
    from rag import parsing

    files: dict[Path, Path] = {}
    for path in paths:
        for file in parsing.files_in(path) if path.is_dir() else [path]:
            files.setdefault(file.resolve(), file)
    return list(files.values())


def _explain(outcome: Outcome) -> str:
    if outcome.message or outcome.document is None:
        return outcome.message or ""
    document = outcome.document
    parts = [output.plural(document.page_count, "page"), output.plural(document.chunk_count, "chunk")]
    if outcome.seconds_to_words is not None:
        parts.append(f"searchable by words after {outcome.seconds_to_words:.1f} s")
    if document.failed_pages:
        parts.append(f"unreadable pages: {', '.join(map(str, document.failed_pages))}")
    if document.note:
        parts.append(document.note)
    if note := types.parts_summary(document.parts):
        parts.append(note)
    parts += document.completeness.summaries if document.completeness else ()
    return ", ".join(parts)


def ingest_files(
    engine: "RAGEngine",
    files: Sequence[Path],
    index_name: str,
    *,
    password: str | None = None,
    same_name: types.OnSameName = "keep",
) -> list[Outcome]:
    """Add files and read them at once; a file that fails does not stop the others.

    `same_name` says what to do with a file that has the name of a document; with "ask", all questions come first.

    Raises:
        errors.StoreError: the database or the file storage fails.
    """
    choices = {file: _ask_choice(engine, file, index_name) if same_name == "ask" else same_name for file in files}
    outcomes: list[Outcome] = []
    with output.show_progress() as bar:

        def show(name: str, stage: str, done: int, total: int) -> None:
            bar(f"{name}: {STAGES.get(stage, stage)}", done, total)

        for number, file in enumerate(files, start=1):
            on_progress = functools.partial(show, f"{number}/{len(files)} {output.excerpt(file.name, 40)}")
            on_progress(types.DocumentStatus.QUEUED, 0, 0)
            file_outcomes = _ingest_file(
                engine, file, index_name, on_progress, password=password, same_name=choices[file]
            )
            for outcome in file_outcomes:
                outcomes.append(outcome)
                bar.print_line(MARKS[outcome.state], outcome.path, _explain(outcome))
    return outcomes


def _ingest_file(
    engine: "RAGEngine",
    file: Path,
    index_name: str,
    on_progress: types.OnProgress,
    *,
    password: str | None,
    same_name: types.OnSameName,
) -> list[Outcome]:
    """Return the outcomes of a file: its own, and those of the files in a mail or an archive."""
    try:
        document = engine.documents.add(
            file,
            file.name,
            index_name=index_name,
            password=password,
            source=str(file.resolve()),
            enqueue=False,
            on_same_name=same_name,
        )
        return _read_document(engine, document, file, on_progress)
    except errors.DuplicateError as error:
        present = engine.documents.get(uuid.UUID(str(error.details["document_id"])))
        if present.status is types.DocumentStatus.READY or present.deleted_at is not None:
            return [Outcome(file, "skipped", present, error.code, error.message)]
        # An earlier run was interrupted before it was read.
        return _read_again(engine, present, password, file, on_progress)
    except (errors.SourceError, errors.ValidationError) as error:
        return [Outcome(file, "failed", None, error.code, error.message)]


def _ask_choice(engine: "RAGEngine", file: Path, index_name: str) -> types.OnSameName:
    """Ask the user what to do with a file if a document has its name."""
    present = engine.versions.of_same_name(file, file.name, index_name) if file.is_file() else None
    if present is None:
        return "keep"
    question = f"Is {file} a new version of {present.name} (version {present.version})? If not, both are kept."
    return "version" if typer.confirm(question, err=True) else "keep"


def _read_again(
    engine: "RAGEngine", document: types.Document, password: str | None, path: Path, on_progress: types.OnProgress
) -> list[Outcome]:
    """Read a document that is not ready, and the files in it; return the outcome of each."""
    try:
        if document.status is types.DocumentStatus.NEEDS_PASSWORD and password is not None:
            document = engine.documents.unlock(document.id, password)
        elif document.status is types.DocumentStatus.FAILED:
            document = engine.documents.retry(document.id)
        return _read_document(engine, document, path, on_progress)
    except errors.SourceError as error:
        return [Outcome(path, "failed", document, error.code, error.message)]


def _read_document(
    engine: "RAGEngine", document: types.Document, path: Path, on_progress: types.OnProgress
) -> list[Outcome]:
    """Read a queued document and the files in it; return the outcome of each."""
    if document.status is types.DocumentStatus.NEEDS_PASSWORD:
        return _outcomes_of(engine, document, path, on_progress)
    is_new, stopwatch = document.chunk_count == 0, _Stopwatch(on_progress)
    document = _process(engine, document.id, stopwatch)
    if document.pictures_waiting:
        engine.documents.read_pictures(document.id)
    first, *others = _outcomes_of(engine, document, path, on_progress)
    return [first._replace(seconds_to_words=stopwatch.seconds_to_words if is_new else None), *others]


def _process(engine: "RAGEngine", document_id: uuid.UUID, on_progress: types.OnProgress) -> types.Document:
    """Read a queued document; after a temporary failure a worker will try again, too."""
    from rag.engine.ingestion.document_reader import TRANSIENT_CODES

    read = engine.documents.process(document_id, on_progress)
    if read.status is not types.DocumentStatus.FAILED or read.error_code not in TRANSIENT_CODES:
        return read
    engine.documents.retry(document_id)
    return read.model_copy(update={"error": f"{read.error} A worker tries again, or run the same command again."})


class _Stopwatch:
    """Passes progress on, and remembers when embedding began: words are searchable from then on."""

    def __init__(self, on_progress: types.OnProgress) -> None:
        self._on_progress = on_progress
        self._started = time.monotonic()
        self.seconds_to_words: float | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage == types.DocumentStatus.EMBEDDING and self.seconds_to_words is None:
            self.seconds_to_words = time.monotonic() - self._started
        self._on_progress(stage, done, total)


def _outcomes_of(
    engine: "RAGEngine", document: types.Document, path: Path, on_progress: types.OnProgress
) -> list[Outcome]:
    """Return the outcome of a document that was just read, and of the files in it, at any depth, after reading them."""
    outcomes = [_outcome_of(document, path)]
    seen: set[uuid.UUID] = set()
    wanted = types.UNFINISHED | {types.DocumentStatus.NEEDS_PASSWORD}
    while unread := [
        part
        for part in engine.documents.attachments(document.id)
        if part.status in wanted and not part.deleted_at and part.id not in seen
    ]:
        for part in unread:
            seen.add(part.id)
            read = part
            if part.status is not types.DocumentStatus.NEEDS_PASSWORD:
                read = _process(engine, part.id, on_progress)
            if read.pictures_waiting:
                read = engine.documents.read_pictures(read.id)
            outcomes.append(_outcome_of(read, Path(part.shown_source or part.name)))
    return outcomes


def _outcome_of(document: types.Document, path: Path) -> Outcome:
    """Return the outcome of a document that was just read."""
    match document.status:
        case types.DocumentStatus.READY:
            return Outcome(path, "ingested", document)
        case types.DocumentStatus.NEEDS_PASSWORD:
            message = f"{path.name} is encrypted. Give its password with --password."
            return Outcome(path, "failed", document, errors.PasswordError.code, message)
        case types.DocumentStatus.FAILED:
            return Outcome(path, "failed", document, document.error_code, document.error)
        case _:
            return Outcome(path, "skipped", document, "busy", "Another process is reading it.")


def _report(outcomes: Sequence[Outcome], *, as_json: bool) -> None:
    """Print counts of files, pages and chunks by outcome, in JSON also all files; exit with an error if one failed."""
    by_state = {state: [outcome for outcome in outcomes if outcome.state == state] for state in MARKS}
    chunks = {state: sum(of.document.chunk_count for of in group if of.document) for state, group in by_state.items()}
    if as_json:
        counts = {state: len(group) for state, group in by_state.items()}
        files = [outcome.to_json() for outcome in outcomes]
        output.print_json({**counts, "chunks": chunks["ingested"], "files": files})
    else:
        rows = []
        for state, group in by_state.items():
            pages = sum(outcome.document.page_count for outcome in group if outcome.document)
            rows.append((state, len(group), f"{pages:,}", f"{chunks[state]:,}"))
        output.print_table(["", "files", "pages", "chunks"], rows, right=["files", "pages", "chunks"])
    if by_state["failed"]:
        raise typer.Exit(errors.SourceError.exit_code)

"""Taking files in, one after the other, in this process, with progress for people."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from rich import progress
from rich.text import Text

from rag import errors
from rag.cli import output
from rag.types import Document, DocumentStatus

if TYPE_CHECKING:
    from rag.engine import RAGEngine

SUFFIXES = frozenset(
    {".pdf", ".docx", ".pptx", ".epub", ".html", ".htm", ".xhtml", ".md", ".markdown", ".txt", ".text"}
)
"""Endings of the names that are looked for in folders; a file that is named itself is judged by its content."""

STAGES: dict[str, str] = {DocumentStatus.PARSING: "reading page", DocumentStatus.EMBEDDING: "embedding chunk"}
MARKS = {"ingested": ("✓", "green"), "skipped": ("–", "yellow"), "failed": ("✗", "red")}

State = Literal["ingested", "skipped", "failed"]


class Outcome(NamedTuple):
    """What became of a file; `code` and `message` say why it was skipped or failed."""

    path: Path
    state: State
    document: Document | None = None
    code: str | None = None
    message: str | None = None

    def to_json(self) -> dict[str, object]:
        """As it stands in JSON output."""
        document = self.document
        return {
            "path": str(self.path),
            "state": self.state,
            "documentId": document.id if document else None,
            "pages": document.page_count if document else 0,
            "chunks": document.chunk_count if document else 0,
            "reason": {"code": self.code, "message": self.message} if self.message else None,
        }


def find_files(paths: Sequence[Path]) -> list[Path]:
    """The files that `paths` mean, each once: files as they are, folders with all they hold of the supported kinds."""
    found = [file for path in paths for file in (_inside(path) if path.is_dir() else [path])]
    return list({file.resolve(): file for file in reversed(found)}.values())[::-1]


def _inside(folder: Path) -> list[Path]:
    """Files of supported kinds below `folder`, in order; what is hidden is passed over."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


class Progress:
    """A bar for all files and one for the file at hand on a terminal; one line per finished file everywhere."""

    def __init__(self, total: int) -> None:
        self._console = output.console(stderr=True)
        self.bars = progress.Progress(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._all = self.bars.add_task("Files", total=total)
        self._file = self.bars.add_task("", total=None, visible=False)

    def stage(self, name: str, stage: str, done: int, total: int) -> None:
        """How far the file at hand is."""
        description = f"{output.excerpt(name, 40)}: {STAGES.get(stage, stage)}"
        self.bars.update(self._file, description=description, completed=done, total=total or None, visible=True)

    def finish(self, outcome: Outcome) -> None:
        """The file at hand is done."""
        self.bars.update(self._file, visible=False)
        self.bars.advance(self._all)
        mark, style = MARKS[outcome.state]
        line = Text.assemble((f"{mark} ", style), f"{outcome.path}  ", (_explain(outcome), "dim"))
        self._console.print(line, soft_wrap=True)


def _explain(outcome: Outcome) -> str:
    if outcome.message or outcome.document is None:
        return outcome.message or ""
    document = outcome.document
    parts = [output.plural(document.page_count, "page"), output.plural(document.chunk_count, "chunk")]
    if document.failed_pages:
        parts.append(f"unreadable pages: {', '.join(map(str, document.failed_pages))}")
    return ", ".join(parts)


@contextmanager
def shown_progress(total: int) -> Iterator[Progress]:
    """Progress bars for `total` files while the block runs."""
    shown = Progress(total)
    with shown.bars:
        yield shown


def ingest_files(
    engine: "RAGEngine", files: Sequence[Path], index_name: str, *, password: str | None = None
) -> list[Outcome]:
    """Take `files` in and read them here and now; one that fails does not keep the others.

    Raises:
        errors.StoreError: the database or the file storage fails.
    """
    outcomes = []
    with shown_progress(len(files)) as shown:
        for file in files:
            outcomes.append(_ingest(engine, file, index_name, password, shown))
            shown.finish(outcomes[-1])
    return outcomes


def _ingest(engine: "RAGEngine", file: Path, index_name: str, password: str | None, shown: Progress) -> Outcome:
    shown.stage(file.name, DocumentStatus.QUEUED, 0, 0)
    try:
        document = _add(engine, file, index_name, password)
        return read_document(engine, document, file, shown)
    except errors.DuplicateError as error:
        present = engine.documents.get(uuid.UUID(str(error.details["document_id"])))
        return Outcome(file, "skipped", present, error.code, error.message)
    except (errors.SourceError, errors.ValidationError) as error:
        return Outcome(file, "failed", None, error.code, error.message)


def _add(engine: "RAGEngine", file: Path, index_name: str, password: str | None) -> Document:
    """The file as a document to be read: a new one, or the one that an earlier run left unread."""
    try:
        return engine.documents.add(
            file, file.name, index_name=index_name, password=password, source=str(file.resolve()), enqueue=False
        )
    except errors.DuplicateError as error:
        present = engine.documents.get(uuid.UUID(str(error.details["document_id"])))
        if present.status is DocumentStatus.READY or present.deleted_at is not None:
            raise
        return reopen(engine, present, password)


def reopen(engine: "RAGEngine", document: Document, password: str | None) -> Document:
    """A document that is not ready, queued again where it can be.

    Raises:
        errors.PasswordError: the password is wrong.
    """
    if document.status is DocumentStatus.NEEDS_PASSWORD and password is not None:
        return engine.documents.unlock(document.id, password)
    if document.status is DocumentStatus.FAILED:
        return engine.documents.retry(document.id)
    return document


def read_document(engine: "RAGEngine", document: Document, path: Path, shown: Progress) -> Outcome:
    """Read a queued document and say what became of it."""
    if document.status is not DocumentStatus.NEEDS_PASSWORD:
        document = engine.documents.process(
            document.id, lambda status, done, total: shown.stage(path.name, status, done, total)
        )
    return outcome_of(document, path)


def outcome_of(document: Document, path: Path) -> Outcome:
    """What became of a document that has been read just now."""
    match document.status:
        case DocumentStatus.READY:
            return Outcome(path, "ingested", document)
        case DocumentStatus.NEEDS_PASSWORD:
            message = f"{path.name} is encrypted. Give its password with --password."
            return Outcome(path, "failed", document, errors.PasswordError.code, message)
        case DocumentStatus.FAILED:
            return Outcome(path, "failed", document, document.error_code, document.error)
        case _:
            return Outcome(path, "skipped", document, "busy", "Another process is reading it.")


def summary(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """Counts, and every file, for JSON output."""
    return {
        **{state: sum(outcome.state == state for outcome in outcomes) for state in MARKS},
        "chunks": sum(outcome.document.chunk_count for outcome in outcomes if is_new(outcome) and outcome.document),
        "files": [outcome.to_json() for outcome in outcomes],
    }


def print_summary(outcomes: Sequence[Outcome]) -> None:
    """Counts of files, pages and chunks by what became of them, as a table."""
    rows = []
    for state in MARKS:
        of_state = [outcome for outcome in outcomes if outcome.state == state]
        documents = [outcome.document for outcome in of_state if outcome.document]
        pages = sum(document.page_count for document in documents)
        rows.append((state, len(of_state), f"{pages:,}", f"{sum(document.chunk_count for document in documents):,}"))
    output.print_table(["", "files", "pages", "chunks"], rows, right=["files", "pages", "chunks"])


def is_new(outcome: Outcome) -> bool:
    """Whether the file was read just now."""
    return outcome.state == "ingested"

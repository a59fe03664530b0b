"""From a file to its rendition and its parsed document."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from pathlib import Path
from typing import BinaryIO, Self

from rag import errors
from rag.parsing.file_types import PDF, detect_mime_type
from rag.parsing.pdf import structure
from rag.parsing.pdf.pages import PageContent
from rag.parsing.worker import process
from rag.types import ParsedDocument, ParsingConfig, Unpacked

NOT_UNPACKED = Unpacked()
"""Of a file that came by itself."""
PARTIAL_SUFFIX = ".partial"
FIRST_PAGES = 100
"""So many pages of a file of twice as many or more are handed on before the others are read."""
GROWTH = 4
OnBeginning = Callable[[ParsedDocument, Path], None]
CHUNK_BYTES = 1 << 20
_ENCRYPTION_MARK = b"/Encrypt"
"""Stands in the trailer of every encrypted PDF, which itself is never encrypted or compressed (ISO 32000-1, 7.6.1)."""


def read_file(
    source: Path,
    *,
    name: str,
    rendition: Path,
    config: ParsingConfig | None = None,
    password: str | None = None,
    on_progress: process.OnProgress | None = None,
    on_beginning: OnBeginning | None = None,
    is_cancelled: process.IsCancelled | None = None,
    pictures: bool = False,
    parts_folder: Path | None = None,
    unpacked: Unpacked = NOT_UNPACKED,
) -> ParsedDocument:
    """Makes the rendition of the file at `source` and parses it, in one process with limits of time and memory.

    Args:
        source: the file.
        name: what its owner calls it; used in messages, and where the content leaves its kind open.
        rendition: where to put the PDF that is shown and highlighted; it appears only when all went well.
        config: limits and ways of reading.
        password: of an encrypted file.
        on_progress: called here with (pages done, pages in total).
        pictures: recognise also words in pictures of pages that have text; else `picture_pages` tells where they are.
        on_beginning: called, in a thread of its own, with the first pages of a long file and the PDF that shows them.
        is_cancelled: asked now and then, in a thread of its own; when it says so, reading ends.
        parts_folder: an empty folder for the files in a mail or an archive; None: what they are is told, no more.
        unpacked: what was taken out already of the containers that the file is in, for the limits.

    Raises:
        errors.CancelledError: that is what `is_cancelled` said.
        errors.NotFoundError: there is no file at `source`.
        errors.PasswordError: it is encrypted and `password` is None or wrong.
        errors.UnreadableFileError: it is damaged, has no text, or needs more time or memory than it may take.
        errors.UnsupportedFileError: it is of a kind that cannot be taken in.
        errors.ReadingInterruptedError: the system ended the process; the file may be as good as any.
    """
    config = config or ParsingConfig()
    if not source.is_file():
        raise errors.NotFoundError(f"There is no file “{source.name}”. Check its path.")
    _check_size(source, name, config)
    partial = rendition.with_name(rendition.name + PARTIAL_SUFFIX)
    with tempfile.TemporaryDirectory(prefix="pagelight-") as passing:
        request = {
            "task": "parse",
            "source": str(source.resolve()),
            "name": name,
            "mime_type": detect_mime_type(source, name),
            "rendition": str(partial.resolve()),
            "password": password,
            "pictures": pictures,
            "parts_folder": str((parts_folder or Path(passing)).resolve()),
            "unpacked": unpacked.model_dump(),
        }
        try:
            with _Beginnings(on_beginning, partial) as beginnings:
                results = process.run(request, config, on_progress, on_pages=beginnings.take, is_cancelled=is_cancelled)
            parsed = _assembled(results)
            _check_text(parsed, results.recognised > 0, name, config)
            partial.replace(rendition)
        finally:
            partial.unlink(missing_ok=True)
    return parsed if parts_folder else _without_files(parsed)


def _without_files(parsed: ParsedDocument) -> ParsedDocument:
    """The files in it are told of, but not kept."""
    return parsed.model_copy(update={"parts": tuple(part.model_copy(update={"file": None}) for part in parsed.parts)})


def _assembled(results: process.Results) -> ParsedDocument:
    """The document of what the parsing process has sent."""
    said = results.metadata
    return structure.assemble(results.pages, said.title).model_copy(
        update={
            "author": said.author,
            "dated": said.dated,
            "completeness": results.completeness,
            "parts": results.parts,
            "picture_pages": results.picture_pages,
            "note": results.note,
        }
    )


class _Beginnings:
    """Hands on what is read of a long file so far, and then four times as much each time.

    So all of them together take a third of the time that the whole will take, beside which they are made.
    """

    def __init__(self, on_beginning: OnBeginning | None, rendition: Path) -> None:
        self._on_beginning = on_beginning
        self._rendition = rendition
        self._next = FIRST_PAGES
        self._thread = futures.ThreadPoolExecutor(1, thread_name_prefix="beginning")
        self._running: futures.Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._thread.shutdown()  # waits: the whole must come last
        if kind is None and self._running:
            self._running.result()

    def take(self, pages: Sequence[PageContent], total: int) -> None:
        """The pages so far, of `total`."""
        if self._on_beginning is None or len(pages) < self._next or total < 2 * self._next:
            return
        if self._running is None or self._running.done():
            self._next = len(pages) * GROWTH
            self._running = self._thread.submit(self._hand_on, [*pages], self._on_beginning)

    def _hand_on(self, pages: Sequence[PageContent], on_beginning: OnBeginning) -> None:
        on_beginning(structure.assemble(pages, None), self._rendition)


def _check_size(source: Path, name: str, config: ParsingConfig) -> None:
    size = source.stat().st_size
    if size > config.max_file_bytes:
        megabytes = size / 1024 / 1024
        raise errors.UnreadableFileError(
            f"“{name}” has {megabytes:.0f} MB; the limit is {config.max_file_mb} MB. Split it into smaller files."
        )


def _check_text(parsed: ParsedDocument, recognised: bool, name: str, config: ParsingConfig) -> None:
    if parsed.blocks:
        return
    failed = [page for page in parsed.pages if page.error]
    if failed:
        raise errors.UnreadableFileError(
            f"“{name}” has no page that can be read ({failed[0].error}). Open it in another program and save it again."
        )
    if recognised:
        advice = f"None was recognised in its pictures either (language: {config.ocr_language}). Add a clearer copy."
    elif parsed.note:
        advice = parsed.note
    elif config.ocr:
        advice = "Its pages show none, either. Check that it was saved and copied completely."
    else:
        advice = "If its pages are pictures, switch text recognition on and add the file again."
    raise errors.UnreadableFileError(f"“{name}” has no text. {advice}")


def needs_password(source: Path) -> bool:
    """Whether the file at `source` is a PDF that does not open without a password."""
    with source.open("rb") as file:
        if not any(_ENCRYPTION_MARK in chunk for chunk in _overlapping_chunks(file)):
            return False
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        try:
            decrypt(source, Path(folder) / "decrypted.pdf", None)
        except errors.PasswordError:
            return True
        except errors.UnreadableFileError:
            return False
    return False


def _overlapping_chunks(file: BinaryIO) -> Iterator[bytes]:
    """The file's content in chunks that overlap by the length of the mark."""
    tail = b""
    while chunk := file.read(CHUNK_BYTES):
        yield tail + chunk
        tail = chunk[-len(_ENCRYPTION_MARK) :]


def decrypt(source: Path, target: Path, password: str | None, *, name: str | None = None) -> None:
    """Writes the PDF at `source` to `target` without encryption; `target` appears only when all went well.

    Errors call the file by `name`, which is that of `source` unless given.

    Raises:
        errors.PasswordError: `password` is None or wrong.
        errors.UnreadableFileError: the file is damaged or no PDF.
        errors.ReadingInterruptedError: the system ended it, or there is no room for it.
    """
    partial = target.with_name(target.name + PARTIAL_SUFFIX)
    request = {
        "task": "decrypt",
        "source": str(source.resolve()),
        "name": name or source.name,
        "mime_type": PDF,
        "rendition": str(partial.resolve()),
        "password": password,
    }
    try:
        process.run(request, ParsingConfig())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)

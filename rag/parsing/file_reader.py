"""Read a file in a separate process: make its rendition and parse it."""

import mmap
import tempfile
from collections.abc import Callable, Sequence
from concurrent import futures
from pathlib import Path
from typing import Self

from rag import errors, types
from rag.messages import N_
from rag.parsing import metadata
from rag.parsing.file_types import PDF, detect_mime_type
from rag.parsing.pdf import document
from rag.parsing.pdf.pages import PageContent
from rag.parsing.worker import process

NOT_UNPACKED = types.Unpacked()
"""Of a file that was in no container."""
PARTIAL_SUFFIX = ".partial"
FIRST_PAGES = 100
"""Pages of the first preview, made only of files of at least twice as many."""
GROWTH = 4
"""Each preview has this many times the pages of the one before."""
_ENCRYPTION_MARK = b"/Encrypt"
"""In the trailer of every encrypted PDF, which is never encrypted or compressed itself (ISO 32000-1, 7.6.1)."""

OnBeginning = Callable[[types.ParsedDocument, Path], None]
"""Called with the first pages of a long file and the PDF that shows them."""


def read_file(
    source: Path,
    *,
    name: str,
    rendition: Path,
    config: types.ParsingConfig | None = None,
    password: str | None = None,
    on_progress: process.OnProgress = lambda _done, _total: None,
    on_beginning: OnBeginning | None = None,
    is_cancelled: process.IsCancelled | None = None,
    pictures: bool = False,
    parts_folder: Path | None = None,
    unpacked: types.Unpacked = NOT_UNPACKED,
) -> types.ParsedDocument:
    """Make the rendition of a file and parse it, in one process with limited time and memory.

    Args:
        source: the file.
        name: the file's name for messages, and for its type where the content does not tell it.
        rendition: where to write the PDF to show and highlight; it appears only on success.
        config: limits and options.
        password: of an encrypted file.
        on_progress: called with (pages done, pages in total).
        on_beginning: called in a thread with the first pages of a long file, and again with more of them.
        is_cancelled: polled in a thread; reading ends when it returns True.
        pictures: also recognise text in pictures of pages that have text; else `picture_pages` lists these pages.
        parts_folder: an empty folder for the files in a mail, an archive or a PDF; None only lists them.
        unpacked: what was unpacked already from the containers of the file, for the limits.

    Raises:
        errors.CancelledError: `is_cancelled` returned True.
        errors.NotFoundError: `source` is missing.
        errors.PasswordError: the file is encrypted and `password` is None or wrong.
        errors.UnreadableFileError: the file is damaged, has no text, or exceeds the limits of time or memory.
        errors.UnsupportedFileError: the file's type is not supported.
        errors.ReadingInterruptedError: the system ended the process; the file may be fine.
    """
    config = config or types.ParsingConfig()
    if not source.is_file():
        raise errors.NotFoundError(N_("There is no file “{name}”. Check its path."), name=source.name)
    size = source.stat().st_size
    if size > config.max_file_bytes:
        raise errors.UnreadableFileError(
            N_("“{name}” has {size} MB; the limit is {limit} MB. Split it into smaller files."),
            name=name,
            size=f"{size / 1024 / 1024:.0f}",
            limit=config.max_file_mb,
        )
    partial = rendition.with_name(rendition.name + PARTIAL_SUFFIX)
    with tempfile.TemporaryDirectory(prefix="pagelight-") as scratch:
        request = {
            "task": "parse",
            "source": str(source.resolve()),
            "name": name,
            "mime_type": detect_mime_type(source, name),
            "rendition": str(partial.resolve()),
            "password": password,
            "pictures": pictures,
            "parts_folder": str((parts_folder or Path(scratch)).resolve()),
            "unpacked": unpacked.model_dump(),
        }
        try:
            with _Previews(on_beginning, partial) as previews:
                results = process.run(
                    request, config, on_progress, on_pages=previews.add_pages, is_cancelled=is_cancelled
                )
            file_metadata = results.metadata or metadata.Metadata()
            parsed = document.assemble(results.pages, file_metadata.title).model_copy(
                update={
                    "author": file_metadata.author,
                    "dated": file_metadata.dated,
                    "completeness": results.completeness,
                    "parts": results.parts,
                    "picture_pages": results.picture_pages,
                    "note": results.note,
                }
            )
            _check_text(parsed, results.recognised > 0, name, config)
            partial.replace(rendition)
        finally:
            partial.unlink(missing_ok=True)
    if parts_folder:
        return parsed
    return parsed.model_copy(update={"parts": tuple(part.model_copy(update={"file": None}) for part in parsed.parts)})


class _Previews:
    """Passes the first pages of a long file to a callback, each time four times as many.

    Together the previews cost a third of the time of the whole document, beside which they are made.
    """

    def __init__(self, on_beginning: OnBeginning | None, rendition: Path) -> None:
        self._on_beginning = on_beginning
        self._rendition = rendition
        self._next = FIRST_PAGES
        self._thread = futures.ThreadPoolExecutor(1, thread_name_prefix="preview")
        self._running: futures.Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._thread.shutdown()  # waits, as the whole document must come last
        if kind is None and self._running:
            self._running.result()

    def add_pages(self, pages: Sequence[PageContent], total: int) -> None:
        """Start a preview of the pages so far, of `total`, if it is due."""
        if self._on_beginning is None or len(pages) < self._next or total < 2 * self._next:
            return
        if self._running is None or self._running.done():
            self._next = len(pages) * GROWTH
            on_beginning, first = self._on_beginning, [*pages]
            self._running = self._thread.submit(lambda: on_beginning(document.assemble(first, None), self._rendition))


def _check_text(parsed: types.ParsedDocument, recognised: bool, name: str, config: types.ParsingConfig) -> None:
    if parsed.blocks:
        return
    failed = [page for page in parsed.pages if page.error]
    if failed:
        raise errors.UnreadableFileError(
            N_("“{name}” has no page that can be read ({_reason}). Open it in another program and save it again."),
            name=name,
            _reason=failed[0].error,
        )
    if recognised:
        advice = N_("None was recognised in its pictures either (language: {language}). Add a clearer copy.").format(
            language=config.ocr_language
        )
    elif parsed.note:
        advice = parsed.note
    elif config.ocr:
        advice = N_("Its pages show none, either. Check that it was saved and copied completely.")
    else:
        advice = N_("If its pages are pictures, switch text recognition on and add the file again.")
    raise errors.UnreadableFileError(N_("“{name}” has no text. {_advice}"), name=name, _advice=advice)


def needs_password(source: Path) -> bool:
    """Whether the file at `source` is a PDF that does not open without a password."""
    if not source.stat().st_size:
        return False
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.find(_ENCRYPTION_MARK) < 0:
            return False
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        try:
            decrypt(source, Path(folder) / "decrypted.pdf", None)
        except errors.PasswordError:
            return True
        except errors.UnreadableFileError:
            return False
    return False


def decrypt(source: Path, target: Path, password: str | None, *, name: str | None = None) -> None:
    """Write the PDF at `source` to `target` without encryption; `target` appears only on success.

    Messages use `name`, by default that of `source`.

    Raises:
        errors.PasswordError: `password` is None or wrong.
        errors.UnreadableFileError: the file is damaged or no PDF.
        errors.ReadingInterruptedError: the system ended the process, or the disk is full.
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
        process.run(request, types.ParsingConfig())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)

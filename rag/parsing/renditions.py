"""Everything becomes a PDF with a text layer, so there is one parser, one viewer and one highlighter."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag import errors
from rag.parsing import filetype, ocr
from rag.parsing.mupdf import pymupdf, readable
from rag.types import ParsingConfig

PAGE_WIDTH_PT, PAGE_HEIGHT_PT = 595, 842
"""A4, for what has no pages of its own."""
FONT_SIZE_PT = 11
_FLOWING = {filetype.TEXT: "txt", filetype.MARKDOWN: "md", filetype.HTML: "html"}
_PACKED = {filetype.DOCX: "docx", filetype.EPUB: "epub"}

OnCount = Callable[[int], None]


def make_rendition(
    source: Path,
    mime_type: str,
    rendition: Path,
    *,
    name: str,
    password: str | None,
    config: ParsingConfig,
    on_open: OnCount,
    on_recognised: OnCount,
) -> frozenset[int]:
    """Writes the PDF that is parsed, shown and highlighted; returns the numbers of pages whose text was recognised.

    `on_open` is told the number of pages, `on_recognised` that of pages recognised so far.

    Raises:
        errors.PasswordError: the file is encrypted and `password` is None or wrong.
        errors.UnreadableFileError: it is damaged, or has no page or too many.
    """
    with readable(name):
        if mime_type == filetype.PDF:
            with pymupdf.open(source, filetype="pdf") as document:
                was_encrypted = _unlock(document, name, password)
                _check_pages(document, name, config)
                on_open(document.page_count)
                recognised = ocr.add_text_layers(document, config, on_recognised) if config.ocr else frozenset[int]()
                if was_encrypted or recognised or document.is_repaired:
                    document.save(rendition, garbage=1, encryption=pymupdf.PDF_ENCRYPT_NONE)
                else:
                    shutil.copyfile(source, rendition)
            return recognised
        with _convert(source, mime_type) as document:
            _check_pages(document, name, config)
            on_open(document.page_count)
            document.save(rendition, garbage=3, deflate=True)
    return frozenset()


def decrypt(source: Path, target: Path, *, name: str, password: str | None) -> None:
    """Writes the PDF at `source` to `target` without encryption.

    Raises:
        errors.PasswordError: `password` is None or wrong.
        errors.UnreadableFileError: the file is damaged.
    """
    with readable(name), pymupdf.open(source, filetype="pdf") as document:
        _unlock(document, name, password)
        document.save(target, garbage=1, encryption=pymupdf.PDF_ENCRYPT_NONE)


def _unlock(document: Any, name: str, password: str | None) -> bool:
    """Whether the file was encrypted; many are only against changes and open without a password."""
    if document.needs_pass and not document.authenticate(password or ""):
        if password is None:
            raise errors.PasswordError(f"“{name}” is encrypted. Give its password.")
        raise errors.PasswordError(f"The password does not open “{name}”. Check it and try again.")
    return bool(document.metadata and document.metadata.get("encryption")) or bool(document.needs_pass)


def _check_pages(document: Any, name: str, config: ParsingConfig) -> None:
    if document.page_count == 0:
        raise errors.UnreadableFileError(f"“{name}” has no pages. Open it in another program and save it again.")
    if document.page_count > config.max_pages:
        raise errors.UnreadableFileError(
            f"“{name}” has {document.page_count} pages; the limit is {config.max_pages}. Split it into smaller files."
        )


def _convert(source: Path, mime_type: str) -> Any:
    if mime_type == filetype.PPTX:
        from rag.parsing import slides  # python-pptx costs each parsing process a quarter of a second

        return slides.to_pdf(source)
    if mime_type in _FLOWING:
        # Given as bytes, without a path: so nothing beside the file can be pulled into the rendition.
        # The last line gets an end: MuPDF's Markdown loses the last character of one that has none.
        content = f"{decode(source.read_bytes())}\n"
        if mime_type == filetype.TEXT:
            # A byte order mark keeps MuPDF from taking text that begins with a # for Markdown, whose marks it drops.
            content = f"\ufeff{content}"
        document = pymupdf.open(stream=content.encode(), filetype=_FLOWING[mime_type])
    else:
        document = pymupdf.open(source, filetype=_PACKED[mime_type])
    with document:
        if document.is_reflowable:
            document.layout(width=PAGE_WIDTH_PT, height=PAGE_HEIGHT_PT, fontsize=FONT_SIZE_PT)
        metadata = document.metadata or {}
        converted = pymupdf.open(stream=document.convert_to_pdf(), filetype="pdf")
    converted.set_metadata({"title": metadata.get("title") or "", "author": metadata.get("author") or ""})
    return converted


def decode(content: bytes) -> str:
    """Text of unknown encoding: UTF-16 with a byte order mark, else UTF-8, else Windows-1252."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")

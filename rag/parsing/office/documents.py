"""Convert DOCX, ODT, RTF and EPUB to PDF: Pandoc makes HTML, and text that it leaves out is added."""

import html
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from rag.parsing import file_types
from rag.parsing.conversion import Conversion
from rag.parsing.html import markup
from rag.parsing.html.layout import lay_out
from rag.parsing.office import charts, docx, epub, metadata, odf, pandoc, paragraphs, rtf
from rag.parsing.office.metadata import Metadata
from rag.parsing.office.package import Package
from rag.parsing.office.paragraphs import Paragraph
from rag.types import ParsingConfig

_FORMATS = {file_types.DOCX: "docx", file_types.ODT: "odt", file_types.EPUB: "epub", file_types.RTF: "rtf"}
_READERS: dict[str, Callable[[Package], Iterator[Paragraph]]] = {
    file_types.DOCX: docx.read,
    file_types.ODT: odf.read,
    file_types.EPUB: epub.read,
}
_TITLES = {
    paragraphs.HEADER: "Headers",
    paragraphs.BODY: "Other text",
    paragraphs.BOX: "Text boxes",
    paragraphs.NOTE: "Notes",
    paragraphs.COMMENT: "Comments",
    paragraphs.FOOTER: "Footers",
}
"""Headings above text that is added after a document."""


def to_pdf(source: Path, mime_type: str, config: ParsingConfig) -> Conversion:
    """Convert the document at `source` to PDF.

    Raises:
        errors.UnreadableFileError: the file is damaged, or exceeds the limits of time or memory.
    """
    about, found = read(source, mime_type)
    document = lay_out(*completed(_body(source, mime_type, config), found))
    about.set_on(document)
    return Conversion(document, tuple(paragraphs.located(found)))


def read(source: Path, mime_type: str) -> tuple[Metadata, list[Paragraph]]:
    """Read the metadata and every paragraph of a file without Pandoc.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    if mime_type == file_types.RTF:
        return Metadata(), _read_rtf(rtf.to_unicode(source.read_bytes()).decode("latin-1"))
    with Package(source) as package:
        return metadata.read(package), paragraphs.once(_READERS[mime_type](package))


def _read_rtf(content: str) -> list[Paragraph]:
    try:
        text = rtf_to_text(content, errors="replace")  # type: ignore[no-untyped-call]
    except (LookupError, ValueError):
        return []  # Pandoc may still understand the file
    cells = (cell for line in text.splitlines() for cell in line.split("|"))  # striprtf separates table cells by bars
    return [Paragraph(paragraphs.BODY, cell) for cell in cells if cell.strip()]


def _body(source: Path, mime_type: str, config: ParsingConfig) -> str:
    """Return the document as HTML, "" if Pandoc does not understand it."""
    try:
        if mime_type == file_types.RTF:
            with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
                prepared = Path(folder) / "prepared.rtf"
                prepared.write_bytes(rtf.to_unicode(source.read_bytes()))
                return pandoc.to_html(prepared, "rtf", config)
        if mime_type != file_types.DOCX:
            return pandoc.to_html(source, _FORMATS[mime_type], config)
        with Package(source) as package, tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            prepared = Path(folder) / "prepared.docx"
            package.rewritten(prepared, docx.unwrapped(package))
            body = pandoc.to_html(prepared, "docx", config)
            return body + "".join(charts.to_html(package.xml(name)) for name in package.matching(docx.CHARTS))
    except pandoc.NotUnderstood:
        return ""


def completed(body: str, found: Iterable[Paragraph]) -> tuple[str, str, str]:
    """Return headers, `body`, and all other paragraphs of `found` that `body` lacks, as HTML."""
    if not body:
        return "", "".join(_lines(found)), ""
    missing = paragraphs.left_out(found, str(markup.read(body).text_content()))
    headers = [paragraph for paragraph in missing if paragraph.part == paragraphs.HEADER]
    return "".join(_lines(headers)), body, added(one for one in missing if one.part != paragraphs.HEADER)


def added(missing: Iterable[Paragraph]) -> str:
    """Return paragraphs that a converter left out as HTML, grouped under headings."""
    order = list(_TITLES)
    groups = groupby(sorted(missing, key=lambda one: order.index(one.part)), key=lambda one: one.part)
    return "".join(f"<h2>{_TITLES[part]}</h2>{''.join(_lines(group))}" for part, group in groups)


def _lines(added: Iterable[Paragraph]) -> Iterator[str]:
    for paragraph in added:
        yield "<p>" + html.escape(paragraph.text.strip()).replace("\n", "<br>") + "</p>"

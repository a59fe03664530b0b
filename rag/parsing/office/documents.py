"""Convert DOCX, ODT and RTF to PDF: Pandoc makes HTML, and text that it leaves out is added. EPUB is HTML itself."""

import html
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from rag import types
from rag.parsing import file_types
from rag.parsing.archive import file_list
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion
from rag.parsing.html import markup
from rag.parsing.html.layout import lay_out
from rag.parsing.office import docx, embedded, epub, odf, pandoc, paragraphs, rtf
from rag.parsing.office.package import Package
from rag.parsing.office.paragraphs import Contents, Paragraph

_FORMATS = {file_types.DOCX: "docx", file_types.ODT: "odt", file_types.RTF: "rtf"}
_TITLES = {
    paragraphs.HEADER: "Headers",
    paragraphs.BODY: "Other text",
    paragraphs.BOX: "Text boxes",
    paragraphs.NOTE: "Notes",
    paragraphs.COMMENT: "Comments",
    paragraphs.FOOTER: "Footers",
    paragraphs.HIDDEN: markup.HIDDEN_HEADING,
}
"""Headings above text that is added after a document."""


def to_pdf(source: Path, mime_type: str, config: types.ParsingConfig, unpacking: Unpacking) -> Conversion:
    """Convert the document at `source` to PDF; store the files embedded in it with `unpacking`.

    Raises:
        errors.UnreadableFileError: the file is damaged, or exceeds the limits of time or memory.
    """
    contents = read(source, mime_type)
    if mime_type == file_types.EPUB:
        with Package(source) as package:
            chapters, pictures = epub.html(package)
        document = lay_out(*chapters, images=pictures)
        contents.about.set_on(document)
        return Conversion(document, tuple(paragraphs.located(contents.paragraphs)))
    before, body, after = completed(_body(contents, mime_type, config), contents.paragraphs)
    embedded.store(contents.files, unpacking)
    files = file_list.section("Embedded files", unpacking.parts)
    document = lay_out(before, body, after, files.html)
    contents.about.set_on(document)
    return Conversion(document, (*paragraphs.located(contents.paragraphs), *files.texts), contents.note)


def read(source: Path, mime_type: str) -> Contents:
    """Read the metadata, every paragraph and embedded files without Pandoc.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    if mime_type == file_types.RTF:
        return rtf.read(source.read_bytes())
    with Package(source) as package:
        about = package.metadata()
        if mime_type == file_types.DOCX:
            return docx.read(package)._replace(about=about)
        if mime_type == file_types.ODT:
            return odf.read(package)._replace(about=about)
        return Contents(list(epub.read(package)), about=about)


def _body(contents: Contents, mime_type: str, config: types.ParsingConfig) -> str:
    """Return the document as HTML, "" if Pandoc does not understand it."""
    try:
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            prepared = Path(folder) / "prepared"
            prepared.write_bytes(contents.prepared)
            body = pandoc.to_html(prepared, _FORMATS[mime_type], config)
    except pandoc.NotUnderstood:
        return ""
    return body + "".join(chart.html() for chart in contents.charts)


def completed(body: str, source: Iterable[Paragraph]) -> tuple[str, str, str]:
    """Return headers, `body`, and all other paragraphs of `source` that `body` lacks, as HTML."""
    source = list(source)
    if not body:
        hidden = [paragraph for paragraph in source if paragraph.part == paragraphs.HIDDEN]
        return "", "".join(_lines(text for text in source if text.part != paragraphs.HIDDEN)), added(hidden)
    page = markup.read(body)
    converted = str(page.text_content())
    for struck in list(page.iter("del")):
        struck.drop_tree()
    missing = paragraphs.left_out(source, converted + str(page.text_content()))
    headers = [paragraph for paragraph in missing if paragraph.part == paragraphs.HEADER]
    return "".join(_lines(headers)), body, added(text for text in missing if text.part != paragraphs.HEADER)


def added(missing: Iterable[Paragraph]) -> str:
    """Return paragraphs that a converter left out as HTML, grouped under headings."""
    order = list(_TITLES)
    sections = []
    for part, group in groupby(sorted(missing, key=lambda one: order.index(one.part)), key=lambda one: one.part):
        attributes = f' class="{markup.HIDDEN_CLASS}"' if part == paragraphs.HIDDEN else ""
        sections.append(f"<div{attributes}><h2>{_TITLES[part]}</h2>{''.join(_lines(group))}</div>")
    return "".join(sections)


def _lines(added: Iterable[Paragraph]) -> Iterator[str]:
    for paragraph in added:
        yield "<p>" + html.escape(paragraph.text.strip()).replace("\n", "<br>") + "</p>"

"""DOCX, ODT, RTF and EPUB: read by Pandoc, completed by what it leaves out, laid out on pages."""

import html
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from lxml import etree
from lxml import html as lxml_html

from rag.parsing import file_types
from rag.parsing.conversion import charts, contents, flowing, pandoc, paragraphs, word
from rag.parsing.conversion.packages import Package
from rag.parsing.conversion.paragraphs import Paragraph
from rag.parsing.conversion.source import Conversion
from rag.types import ParsingConfig

_FORMATS = {file_types.DOCX: "docx", file_types.ODT: "odt", file_types.EPUB: "epub", file_types.RTF: "rtf"}
_TITLES = {
    paragraphs.HEADER: "Headers",
    paragraphs.BODY: "Other text",
    paragraphs.BOX: "Text boxes",
    paragraphs.NOTE: "Notes",
    paragraphs.COMMENT: "Comments",
    paragraphs.FOOTER: "Footers",
}
"""Over what is added behind a document."""


def to_pdf(source: Path, mime_type: str, config: ParsingConfig) -> Conversion:
    """The document at `source` on pages.

    Raises:
        errors.UnreadableFileError: it is damaged, or takes more time or memory than it may.
    """
    about, said = contents.read(source, mime_type)
    document = flowing.lay_out(
        completed(_body(source, mime_type, config), said),
    )
    about.set_on(document)
    return Conversion(document, tuple(paragraphs.located(said)))


def _body(source: Path, mime_type: str, config: ParsingConfig) -> str:
    """The document as HTML; nothing where Pandoc does not understand it, so that its plain text is all there is."""
    try:
        if mime_type != file_types.DOCX:
            return pandoc.to_html(source, _FORMATS[mime_type], config)
        with Package(source) as package:
            return _word_to_html(package, config)
    except pandoc.NotUnderstood:
        return ""


def _word_to_html(package: Package, config: ParsingConfig) -> str:
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        prepared = Path(folder) / "prepared.docx"
        package.rewritten(prepared, word.unwrapped(package))
        body = pandoc.to_html(prepared, "docx", config)
    return body + "".join(charts.to_html(package.xml(name)) for name in package.matching(word.CHARTS))


def completed(body: str, said: Iterable[Paragraph]) -> str:
    """`body` with what it lacks of the paragraphs `said`: headers before it, everything else behind it."""
    if not body:
        return "".join(_lines(said))
    missing = paragraphs.left_out(said, _text(body))
    headers = [paragraph for paragraph in missing if paragraph.part == paragraphs.HEADER]
    return "".join(_lines(headers)) + body + added([one for one in missing if one.part != paragraphs.HEADER])


def added(missing: Iterable[Paragraph]) -> str:
    """Paragraphs that a converter left out, part by part below their titles."""
    return "".join(_parts(missing))


def _text(body: str) -> str:
    try:
        return str(lxml_html.document_fromstring(body).text_content())
    except etree.ParserError:
        return ""  # there is nothing in it


def _parts(missing: Iterable[Paragraph]) -> Iterator[str]:
    order = list(_TITLES)
    for part, group in groupby(sorted(missing, key=lambda one: order.index(one.part)), key=lambda one: one.part):
        yield f"<h2>{_TITLES[part]}</h2>"
        yield from _lines(group)


def _lines(added: Iterable[Paragraph]) -> Iterator[str]:
    for paragraph in added:
        yield "<p>" + html.escape(paragraph.text.strip()).replace("\n", "<br>") + "</p>"

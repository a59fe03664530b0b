"""Read the text of DOCX files, and rewrite what Pandoc does not understand."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from lxml import etree

from rag.parsing.office import charts, paragraphs
from rag.parsing.office.package import Package, local
from rag.parsing.office.paragraphs import Changes, Paragraph
from rag.parsing.office.word import rewriting
from rag.parsing.office.word.numbering import Numbering
from rag.parsing.office.word.styles import Styles, W, is_on

CHARTS = r"word/charts/chart(Ex)?\d*\.xml"
_NOTES = r"word/(footnotes|endnotes)\d*\.xml"
_UNSEEN = frozenset({"Fallback", "instrText", "delInstrText", "sdtPr", "sdtEndPr", "customXmlPr"})
"""Alternatives of other content, and elements without text."""
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011"}
_OTHER_PARTS = (
    (paragraphs.HEADER, r"word/header\d*\.xml"),
    (paragraphs.NOTE, _NOTES),
    (paragraphs.COMMENT, r"word/comments\d*\.xml"),
    (paragraphs.FOOTER, r"word/footer\d*\.xml"),
)
_DIAGRAMS = r"word/diagrams/data\d*\.xml"


class WordFile:
    """A DOCX with its paragraphs numbered, hidden text taken out, and changes and form fields made visible."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._main = package.main_part("word/document.xml")
        self._styles = Styles(package.xml(next(iter(package.related(self._main, "/styles")), "")))
        self._lists = package.xml(next(iter(package.related(self._main, "/numbering")), ""))
        self.changes = Changes()
        self._hidden: list[str] = []
        self._roots: dict[str, Any] = {}

    def read(self) -> Iterator[Paragraph]:
        """Yield every paragraph: body, then headers, notes, comments, footers, drawings, and what is hidden."""
        yield from _of_part(self._root(self._main), paragraphs.BODY)
        for part, pattern in _OTHER_PARTS:
            for name in self._package.matching(pattern):
                yield from _of_part(self._root(name), part)
        for name in self._package.matching(_DIAGRAMS):
            yield from _of_part(self._package.xml(name), paragraphs.BOX)
        for name in self._package.matching(CHARTS):
            yield from (Paragraph(paragraphs.BOX, text) for text in charts.read(self._package.xml(name)).texts())
        yield from (Paragraph(paragraphs.HIDDEN, text) for text in self._hidden)

    def rewritten(self) -> bytes:
        """Return a DOCX that Pandoc understands."""
        names = (self._main, *self._package.matching(_NOTES))
        roots = {name: self._root(name) for name in names}
        return self._package.rewritten(
            {
                name: etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
                for name, root in roots.items()
                if root is not None
            }
        )

    def imports(self) -> dict[str, bytes]:
        """Return the documents that are imported into the body (w:altChunk) by the names of their parts."""
        return {name: self._package.read(name) for name in self._package.related(self._main, "/aFChunk")}

    def _root(self, name: str) -> Any:
        """Return the root of a part, rewritten."""
        if name not in self._roots:
            root = self._roots[name] = self._package.xml(name)
            if root is not None:
                numbering = Numbering(self._lists, self._styles)
                imported = {key: relation.target for key, relation in self._package.relations(name).items()}
                rewritten = rewriting.Rewriting(root, self._styles, numbering, imported)
                self.changes = Changes(*map(sum, zip(self.changes, rewritten.changes, strict=True)))
                self._hidden += rewritten.hidden
        return self._roots[name]


def _of_part(root: Any, part: str) -> Iterator[Paragraph]:
    for element in _seen(root):
        if local(element) == "p":
            text = "".join(_texts(element, is_struck=False))
            imported = rewriting.imported_part(text)
            if imported is not None:
                yield Paragraph(paragraphs.IMPORTED, imported)
            elif text.strip():
                yield Paragraph(part, text, heading=_is_heading(element))
            yield from (Paragraph(part, struck) for struck in _struck(element) if struck.strip())


def _struck(paragraph: Any) -> Iterator[str]:
    """Yield each stretch of struck out text of a paragraph; what stands between them is valid."""
    runs = (run for run in paragraph.iter(f"{W}r") if next(run.iterancestors(f"{W}p"), None) is paragraph)
    for is_struck, group in groupby(runs, key=_is_struck):
        if is_struck:
            yield "".join(text for run in group for text in _texts(run, is_struck=True))


def _is_struck(run: Any) -> bool:
    return is_on(run.find(f"{W}rPr"), "strike") is True


def _seen(element: Any) -> Iterator[Any]:
    """Yield the element and its visible descendants in document order."""
    if element is None or local(element) in _UNSEEN:
        return
    yield element
    for child in element:
        yield from _seen(child)


def _texts(element: Any, *, is_struck: bool) -> Iterator[str]:
    """Yield the text of a paragraph, either what is struck out or the rest, without paragraphs of text boxes in it."""
    for child in element:
        name = local(child)
        if name in _UNSEEN or name in {"p", "pPr", "rPr"}:
            continue
        if name == "r" and _is_struck(child) != is_struck:
            continue
        if name == "t":
            yield child.text or ""
        elif name in {"footnoteReference", "endnoteReference"}:
            yield child.get(rewriting.NOTE_NUMBER, "")
        yield _SPACES.get(name, "")
        yield from _texts(child, is_struck=is_struck)


def _is_heading(paragraph: Any) -> bool:
    style = paragraph.find("{*}pPr/{*}pStyle")
    return style is not None and any("heading" in value.lower() for value in style.attrib.values())

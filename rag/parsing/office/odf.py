"""Read the text of OpenDocument files (ODT, ODP)."""

from collections.abc import Iterator
from typing import Any

from lxml import etree

from rag.parsing.office import odf_rewriting, paragraphs
from rag.parsing.office.changes import Changes
from rag.parsing.office.package import Package, local
from rag.parsing.office.paragraphs import Paragraph

CONTENT = "content.xml"
STYLES = "styles.xml"
_OBJECTS = r"Object \d+/content\.xml"
_APART = {"note-body": paragraphs.NOTE, "annotation": paragraphs.COMMENT, "text-box": paragraphs.BOX}
_UNSEEN = frozenset({"tracked-changes", "sequence-decls", "forms", "automatic-styles", "font-face-decls"})
_MARGINS = {
    "header": paragraphs.HEADER,
    "header-left": paragraphs.HEADER,
    "header-first": paragraphs.HEADER,
    "footer": paragraphs.FOOTER,
    "footer-left": paragraphs.FOOTER,
    "footer-first": paragraphs.FOOTER,
}


class TextFile:
    """An ODT with its paragraphs numbered, hidden text taken out, and deletions struck out."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._content = package.xml(CONTENT)
        self._styles = package.xml(STYLES)
        self._hidden: list[str] = []
        self.changes = Changes()
        if self._content is not None:
            rewriting = odf_rewriting.Rewriting(self._content, self._styles)
            self.changes = rewriting.show_changes()
            self._hidden = rewriting.take_out_hidden()
            rewriting.number()

    def read(self) -> Iterator[Paragraph]:
        """Yield every paragraph: body, then headers and footers, the data of charts, and what is hidden."""
        if self._content is not None:
            yield from of_element(self._content)
        for element in self._styles.iter() if self._styles is not None else ():
            if local(element) in _MARGINS:
                yield from of_element(element, _MARGINS[local(element)])
        for name in self._package.matching(_OBJECTS):
            yield from (Paragraph(paragraphs.BOX, text) for text in _chart_texts(self._package.xml(name)))
        yield from (Paragraph(paragraphs.HIDDEN, text) for text in self._hidden)

    def rewritten(self) -> bytes:
        """Return an ODT that Pandoc understands."""
        content = self._content
        return self._package.rewritten(
            {CONTENT: etree.tostring(content, encoding="UTF-8")} if content is not None else {}
        )


def _chart_texts(root: Any) -> Iterator[str]:
    """Yield the titles of a chart, and its data row by row."""
    for chart in root.iter("{*}chart"):
        for title in chart.iter("{*}title", "{*}subtitle"):
            yield " ".join(paragraph.text for paragraph in of_element(title))
        for row in chart.iter("{*}table-row"):
            cells = (" ".join(one.text for one in of_element(cell)) for cell in row.findall("{*}table-cell"))
            yield " ".join(filter(None, cells))


def of_element(element: Any, part: str = paragraphs.BODY) -> Iterator[Paragraph]:
    """Yield the paragraphs in `element` in document order."""
    name = local(element)
    if not name or name in _UNSEEN:
        return
    part = _APART.get(name, part)
    if name in {"p", "h"}:
        text = "".join(words(element))
        if text.strip():
            yield Paragraph(part, text, heading=name == "h")
    for child in element:
        yield from of_element(child, part)


def words(element: Any) -> Iterator[str]:
    """Yield the text of a paragraph without the paragraphs nested in it."""
    yield element.text or ""
    for child in element:
        name = local(child)
        if name == "s":
            yield " " * min(int(child.get(f"{{{child.nsmap[child.prefix]}}}c", "1")), 1000)
        elif name in {"tab", "line-break"}:
            yield "\t" if name == "tab" else "\n"
        elif name and name not in _APART and name not in {"p", "h", "ruby-text", "object", "object-ole"}:
            yield from words(child)
        yield child.tail or ""

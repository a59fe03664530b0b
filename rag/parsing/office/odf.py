"""Read the text of OpenDocument files (ODT, ODP)."""

from collections.abc import Iterator
from typing import Any

from lxml import etree

from rag.parsing.office import odf_rewriting, paragraphs
from rag.parsing.office.charts import Chart
from rag.parsing.office.package import Package, local
from rag.parsing.office.paragraphs import Changes, Paragraph

MAX_SPACES = 1_000
"""Maximum number of spaces that one <text:s> element may stand for."""
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
            chart = read_chart(self._package.xml(name))
            yield from (Paragraph(paragraphs.BOX, text) for text in chart.texts()) if chart else ()
        yield from (Paragraph(paragraphs.HIDDEN, text) for text in self._hidden)

    def rewritten(self) -> bytes:
        """Return an ODT that Pandoc understands."""
        content = self._content
        return self._package.rewritten(
            {CONTENT: etree.tostring(content, encoding="UTF-8")} if content is not None else {}
        )


def read_chart(root: Any) -> Chart | None:
    """Read the titles and the data of a chart in the content of an embedded object, None if it is another one."""
    if next(root.iter("{*}chart"), None) is None:
        return None
    titles = [_joined(title) for title in root.iter("{*}title", "{*}subtitle")]
    rows = [tuple(map(_joined, row.findall("{*}table-cell"))) for row in root.iter("{*}table-row")]
    return Chart(tuple(filter(None, titles)), tuple(row for row in rows if any(row)))


def _joined(element: Any) -> str:
    return " ".join(" ".join(paragraph.text for paragraph in of_element(element)).split())


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
        yield blank(child)
        if name and name not in _APART and name not in {"p", "h", "ruby-text", "object", "object-ole"}:
            yield from words(child)
        yield child.tail or ""


def blank(element: Any) -> str:
    """Return the white space for which an element stands, "" if it is another one."""
    match local(element):
        case "s":
            return " " * min(int(element.get(f"{odf_rewriting.TEXT}c", "1")), MAX_SPACES)
        case "tab":
            return "\t"
        case "line-break":
            return "\n"
    return ""

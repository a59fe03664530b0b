"""Read the text of OpenDocument files (ODT, ODP)."""

from collections.abc import Iterator
from typing import Any

from lxml import etree

from rag.parsing.office import embedded, odf_rewriting, paragraphs
from rag.parsing.office.charts import Chart
from rag.parsing.office.contents import Contents
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


def read(package: Package) -> Contents:
    """Read an ODT: every paragraph of its body, headers, footers and charts, and what is hidden.

    The paragraphs are numbered, hidden text is taken out, and deletions are struck out.
    """
    content, styles = package.xml(CONTENT), package.xml(STYLES)
    texts: list[Paragraph] = []
    hidden: list[str] = []
    changes, rewritten = Changes(), dict[str, bytes]()
    if content is not None:
        rewriting = odf_rewriting.Rewriting(content, styles)
        changes = rewriting.show_changes()
        hidden = rewriting.take_out_hidden()
        rewriting.number()
        texts += of_element(content)
        rewritten[CONTENT] = etree.tostring(content, encoding="UTF-8")
    for element in styles.iter() if styles is not None else ():
        if local(element) in _MARGINS:
            texts += of_element(element, _MARGINS[local(element)])
    for chart in (read_chart(package.xml(name)) for name in package.matching(_OBJECTS)):
        texts += (Paragraph(paragraphs.BOX, text) for text in chart.texts()) if chart else ()
    texts += (Paragraph(paragraphs.HIDDEN, text) for text in hidden)
    files = tuple(embedded.of_open_document(package))
    return Contents(paragraphs.once(texts), changes.note, files, package.rewritten(rewritten))


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

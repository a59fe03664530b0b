"""Read the text of OpenDocument files (ODT, ODP)."""

from collections.abc import Iterator
from typing import Any

from rag.parsing.office import paragraphs
from rag.parsing.office.package import Package, local
from rag.parsing.office.paragraphs import Paragraph

CONTENT = "content.xml"
STYLES = "styles.xml"
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


def read(package: Package) -> Iterator[Paragraph]:
    """Yield every visible paragraph: body, then headers and footers."""
    content = package.xml(CONTENT)
    if content is not None:
        yield from of_element(content)
    styles = package.xml(STYLES)
    for element in styles.iter() if styles is not None else ():
        if local(element) in _MARGINS:
            yield from of_element(element, _MARGINS[local(element)])


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
        elif (
            name and name not in _APART and name not in {"p", "h", "ruby-text", "object", "object-ole", "note-citation"}
        ):
            yield from words(child)
        yield child.tail or ""

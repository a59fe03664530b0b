"""Read the text of DOCX files, and rewrite what Pandoc does not understand."""

import copy
from collections.abc import Iterator
from typing import Any

from lxml import etree

from rag.parsing.office import charts, paragraphs
from rag.parsing.office.package import Package, local
from rag.parsing.office.paragraphs import Paragraph

_RELATIONS = "_rels/.rels"
_MAIN = "word/document.xml"
CHARTS = r"word/charts/chart\d*\.xml"
_UNSEEN = frozenset({"Fallback", "del", "moveFrom", "delText", "instrText", "sdtPr", "sdtEndPr", "customXmlPr"})
"""Alternatives of other content, deleted or moved text, and elements without text."""
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011"}
_OTHER_PARTS = (
    (paragraphs.HEADER, r"word/header\d*\.xml"),
    (paragraphs.NOTE, r"word/(footnotes|endnotes)\d*\.xml"),
    (paragraphs.COMMENT, r"word/comments\d*\.xml"),
    (paragraphs.FOOTER, r"word/footer\d*\.xml"),
    (paragraphs.BOX, r"word/diagrams/data\d*\.xml"),
)


def main_part(package: Package) -> str:
    """Return the name of the part with the document's body."""
    relations = package.xml(_RELATIONS)
    for relation in relations if relations is not None else ():
        target = relation.get("Target", "").lstrip("/")
        if relation.get("Type", "").endswith("/officeDocument") and target in package.names:
            return str(target)
    return _MAIN


def read(package: Package) -> Iterator[Paragraph]:
    """Yield every visible paragraph: body, then headers, notes, comments, footers and drawings."""
    yield from _of_part(package.xml(main_part(package)), paragraphs.BODY)
    for part, pattern in _OTHER_PARTS:
        for name in package.matching(pattern):
            yield from _of_part(package.xml(name), part)
    for name in package.matching(CHARTS):
        yield from (Paragraph(paragraphs.BOX, text) for text in charts.texts(package.xml(name)))


def _of_part(root: Any, part: str) -> Iterator[Paragraph]:
    for element in _seen(root):
        if local(element) == "p":
            text = "".join(_texts(element))
            if text.strip():
                yield Paragraph(part, text, heading=_is_heading(element))


def _seen(element: Any) -> Iterator[Any]:
    """Yield the element and its visible descendants in document order."""
    if element is None or local(element) in _UNSEEN:
        return
    yield element
    for child in element:
        yield from _seen(child)


def _texts(paragraph: Any) -> Iterator[str]:
    """Yield the text of a paragraph without the paragraphs of text boxes in it."""
    for child in paragraph:
        name = local(child)
        if name in _UNSEEN or name in {"p", "pPr", "rPr"}:
            continue
        if name == "t":
            yield child.text or ""
        yield _SPACES.get(name, "")
        yield from _texts(child)


def _is_heading(paragraph: Any) -> bool:
    style = paragraph.find("{*}pPr/{*}pStyle")
    return style is not None and any("heading" in value.lower() for value in style.attrib.values())


def unwrapped(package: Package) -> dict[str, bytes]:
    """Return the body and the notes with text boxes moved after their paragraph, and content controls dissolved."""
    changed = {}
    for name in (main_part(package), *package.matching(r"word/(footnotes|endnotes)\d*\.xml")):
        root = package.xml(name)
        if root is not None:
            _unwrap(root)
            changed[name] = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    return changed


def _unwrap(root: Any) -> None:
    for fallback in list(root.iter("{*}Fallback")):
        choices = fallback.getparent().findall("{*}Choice")
        if choices and next(choices[0].iter("{*}txbxContent"), None) is not None:
            fallback.getparent().remove(fallback)
    for box in reversed(list(root.iter("{*}txbxContent"))):
        _move_behind_paragraph(box)
    for element in reversed(list(root.iter("{*}fldSimple", "{*}smartTag", "{*}customXml", "{*}sdtContent", "{*}sdt"))):
        _replace_by_children(element)


def _move_behind_paragraph(box: Any) -> None:
    holder = next(box.iterancestors("{*}p"), None)
    if holder is None:
        return
    place = holder
    for child in box:
        moved = copy.deepcopy(child)
        place.addnext(moved)
        place = moved
    box.getparent().remove(box)


def _replace_by_children(element: Any) -> None:
    parent = element.getparent()
    if parent is None:
        return
    position = parent.index(element)
    kept = [child for child in element if local(child) not in _UNSEEN and not local(child).endswith("Pr")]
    parent[position : position + 1] = kept

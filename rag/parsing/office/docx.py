"""Read the text of DOCX files, and rewrite what Pandoc does not understand."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from lxml import etree

from rag.parsing.office import charts, embedded, paragraphs
from rag.parsing.office.docx_rewriting import NOTE_NUMBER, Rewriting
from rag.parsing.office.docx_styles import Numbering, Styles, W, is_on
from rag.parsing.office.package import Package, local
from rag.parsing.office.paragraphs import Changes, Contents, Paragraph

_CHARTS = r"word/charts/chart(Ex)?\d*\.xml"
_UNSEEN = frozenset({"Fallback", "instrText", "delInstrText", "sdtPr", "sdtEndPr", "customXmlPr"})
"""Alternatives of other content, and elements without text."""
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011"}
_OTHER_PARTS = (
    (paragraphs.HEADER, r"word/header\d*\.xml"),
    (paragraphs.NOTE, r"word/(footnotes|endnotes)\d*\.xml"),
    (paragraphs.COMMENT, r"word/comments\d*\.xml"),
    (paragraphs.FOOTER, r"word/footer\d*\.xml"),
)
_DIAGRAMS = r"word/diagrams/data\d*\.xml"


def read(package: Package) -> Contents:
    """Read a DOCX: every paragraph of its body, headers, notes, comments, footers and drawings, and what is hidden.

    The paragraphs are numbered, hidden text is taken out, and changes and form fields are made visible.
    """
    main = package.main_part("word/document.xml")
    styles = Styles(package.xml(next(iter(package.related(main, "/styles")), "")))
    lists = package.xml(next(iter(package.related(main, "/numbering")), ""))
    names = [(paragraphs.BODY, main)]
    names += [(part, name) for part, pattern in _OTHER_PARTS for name in package.matching(pattern)]
    texts: list[Paragraph] = []
    hidden: list[str] = []
    changes, rewritten, imports = Changes(), dict[str, bytes](), dict[str, bytes]()
    for part, name in names:
        root = package.xml(name)
        if root is None:
            continue
        targets = {key: relation.target for key, relation in package.relations(name).items()}
        rewriting = Rewriting(root, styles, Numbering(lists, styles), targets)
        imports |= {chunk: package.read(chunk) for chunk in package.related(name, "/aFChunk")}
        changes = Changes(*map(sum, zip(changes, rewriting.changes, strict=True)))
        hidden += rewriting.hidden
        texts += _of_part(root, part)
        if part in {paragraphs.BODY, paragraphs.NOTE}:  # Pandoc leaves out the others
            rewritten[name] = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    for name in package.matching(_DIAGRAMS):
        texts += _of_part(package.xml(name), paragraphs.BOX)
    drawings = tuple(charts.read(package.xml(name)) for name in package.matching(_CHARTS))
    texts += (Paragraph(paragraphs.BOX, text) for chart in drawings for text in chart.texts())
    texts += (Paragraph(paragraphs.HIDDEN, text) for text in hidden)
    return Contents(
        texts,
        changes.note,
        tuple(embedded.of_office_open_xml(package)),
        package.rewritten(rewritten),
        tuple(imports.items()),
        drawings,
    )


def _of_part(root: Any, part: str) -> Iterator[Paragraph]:
    for element in _seen(root):
        if local(element) == "p":
            text = "".join(_texts(element, is_struck=False))
            if text.strip():
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
            yield child.get(NOTE_NUMBER, "")
        yield _SPACES.get(name, "")
        yield from _texts(child, is_struck=is_struck)


def _is_heading(paragraph: Any) -> bool:
    style = paragraph.find("{*}pPr/{*}pStyle")
    return style is not None and any("heading" in value.lower() for value in style.attrib.values())

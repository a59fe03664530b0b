"""Read ODP presentations."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag.parsing.office import embedded, odf
from rag.parsing.office.package import Package, local
from rag.parsing.slides import deck
from rag.parsing.slides.deck import Cell, Deck, Slide

_POINTS = {"cm": 72 / 2.54, "mm": 72 / 25.4, "in": 72.0, "pt": 1.0, "pc": 12.0, "px": 0.75}
_LENGTH = re.compile(r"(-?[\d.]+)(cm|mm|in|pt|pc|px)")
_DEFAULT_SIZE_PT = (720.0, 405.0)
_SHAPES = frozenset({"frame", "custom-shape", "rect", "ellipse", "line", "connector", "caption", "polygon", "path"})


def read(source: Path) -> Deck:
    """Read the presentation at `source`.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    with Package(source) as package:
        content, pictures = package.xml(odf.CONTENT), dict[str, bytes]()
        if content is not None:
            odf.Rewriting(content, package.xml(odf.STYLES)).number()
        pages = content.iter("{*}page") if content is not None else ()
        slides = [_slide(page, package, pictures) for page in pages]
        files = tuple(embedded.of_open_document(package))
        return Deck(package.metadata(), _size(package), slides, pictures, files)


def _slide(page: Any, package: Package, pictures: dict[str, bytes]) -> Slide:
    apart = [*page.findall("{*}notes"), *page.findall("{*}annotation")]
    notes = [paragraph.text for element in apart for paragraph in odf.of_element(element)]
    shapes = [
        shape
        for shape in page.iter()
        if local(shape) in _SHAPES and not any(local(above) in {"notes", *_SHAPES} for above in shape.iterancestors())
    ]
    shapes.sort(key=lambda shape: _attribute(shape, "class") != "title")
    html = [part for shape in shapes for part in _shape(shape, package, pictures)]
    return Slide(html, [("Notes", notes)], [paragraph.text for paragraph in odf.of_element(page)])


def _shape(shape: Any, package: Package, pictures: dict[str, bytes]) -> Iterator[str]:
    table = shape.find("{*}table")
    if table is not None:
        yield deck.table(_row(row) for row in table.iter("{*}table-row"))
        return
    for image in shape.findall("{*}image"):
        name = _attribute(image, "href").removeprefix("./")
        if name in package.names:
            size = _length(shape, "width"), _length(shape, "height")
            yield deck.picture(pictures, package.read(name), size)
            break
    for paragraph, text in _paragraphs(shape):
        depth = sum(local(above) == "list" for above in paragraph.iterancestors())
        if _attribute(shape, "class") == "title":
            yield f"<h1>{deck.lines(text)}</h1>"
        else:
            yield deck.paragraph(deck.lines(text), mark="•" if depth else "", level=max(depth - 1, 0))


def _row(row: Any) -> Iterator[Cell]:
    for cell in row.findall("{*}table-cell"):
        spans = (_attribute(cell, f"number-{axis}-spanned") for axis in ("columns", "rows"))
        columns, rows = (int(span) if span.isdigit() else 1 for span in spans)
        yield Cell([deck.lines(text) for _, text in _paragraphs(cell)], columns, rows)


def _paragraphs(element: Any) -> Iterator[tuple[Any, str]]:
    for paragraph in element.iter("{*}p", "{*}h"):
        text = "".join(odf.words(paragraph))
        if text.strip():
            yield paragraph, text


def _size(package: Package) -> tuple[float, float]:
    styles = package.xml(odf.STYLES)
    for layout in styles.iter("{*}page-layout-properties") if styles is not None else ():
        width, height = _length(layout, "page-width"), _length(layout, "page-height")
        if width > height > 0:  # pages of notes are upright
            return width, height
    return _DEFAULT_SIZE_PT


def _length(element: Any, name: str) -> float:
    """Return a length in points, 0 if there is none."""
    length = _LENGTH.fullmatch(_attribute(element, name))
    return float(length[1]) * _POINTS[length[2]] if length else 0.0


def _attribute(element: Any, name: str) -> str:
    return next((value for key, value in element.attrib.items() if key.endswith("}" + name)), "")

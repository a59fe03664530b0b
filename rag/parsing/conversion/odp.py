"""ODP: a page for each slide with its texts, tables and pictures at their places, and the notes below."""

import functools
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag.parsing.conversion import metadata, odf, slide_pages
from rag.parsing.conversion.packages import Package, local
from rag.parsing.conversion.slide_canvas import Canvas, Words
from rag.parsing.conversion.source import Conversion, SourceText
from rag.parsing.pdf.mupdf import pymupdf

_POINTS = {"cm": 72 / 2.54, "mm": 72 / 25.4, "in": 72.0, "pt": 1.0, "pc": 12.0, "px": 0.75}
_LENGTH = re.compile(r"(-?[\d.]+)(cm|mm|in|pt|pc|px)")
_USUAL_SIZE_PT = (720.0, 405.0)
_TITLE_PT, _TEXT_PT, _CELL_PT = 28, 16, 12
_SHAPES = frozenset({"frame", "custom-shape", "rect", "ellipse", "line", "connector", "caption", "polygon", "path"})


def to_pdf(source: Path) -> Conversion:
    """The presentation at `source`.

    Raises:
        errors.UnreadableFileError: it is damaged.
    """
    with Package(source) as package:
        slides = read(package)
        size = _size(package)
        document = slide_pages.write(size, [functools.partial(_draw, package=package, slide=one) for one in slides])
        metadata.read(package).set_on(document)
        return Conversion(document, texts(slides))


def read(package: Package) -> list[Any]:
    """The elements of the slides."""
    content = package.xml(odf.CONTENT)
    return list(content.iter("{*}page")) if content is not None else []


def texts(slides: list[Any]) -> tuple[SourceText, ...]:
    """What each slide says, its notes too."""
    return tuple(
        SourceText(f"slide {number}", paragraph.text)
        for number, slide in enumerate(slides, start=1)
        for paragraph in odf.of_element(slide)
    )


def notes(slide: Any) -> list[str]:
    """The paragraphs of its notes, and of the comments on it."""
    apart = [*slide.findall("{*}notes"), *slide.findall("{*}annotation")]
    return [paragraph.text for element in apart for paragraph in odf.of_element(element)]


def _size(package: Package) -> tuple[float, float]:
    styles = package.xml(odf.STYLES)
    for layout in styles.iter("{*}page-layout-properties") if styles is not None else ():
        width, height = _length(layout, "page-width"), _length(layout, "page-height")
        if width > height > 0:  # the other way round, it is the page of the notes
            return width, height
    return _USUAL_SIZE_PT


def _length(element: Any, name: str) -> float:
    value = next((value for key, value in element.attrib.items() if key.endswith("}" + name)), "")
    found = _LENGTH.fullmatch(value)
    return float(found[1]) * _POINTS[found[2]] if found else 0.0


def _draw(canvas: Canvas, package: Package, slide: Any) -> None:
    for shape in slide.iter():
        if local(shape) in _SHAPES and not any(local(above) in {"notes", *_SHAPES} for above in shape.iterancestors()):
            _draw_shape(canvas, package, shape)
    canvas.notes("Notes", notes(slide))


def _draw_shape(canvas: Canvas, package: Package, shape: Any) -> None:
    x, y = _length(shape, "x"), _length(shape, "y")
    box = pymupdf.Rect(x, y, x + _length(shape, "width"), y + _length(shape, "height"))
    table = shape.find("{*}table")
    if table is not None:
        canvas.words(Words(_table(table), box))
        return
    for image in shape.findall("{*}image"):
        name = next((value for key, value in image.attrib.items() if key.endswith("}href")), "")
        if name in package.names:
            canvas.picture(box, package.read(name))
            break
    kind = next((value for key, value in shape.attrib.items() if key.endswith("}class")), "")
    content = "".join(_lines(shape, _TITLE_PT if kind == "title" else _TEXT_PT))
    if content:
        canvas.words(Words(content, box))


def _lines(element: Any, size: int) -> Iterator[str]:
    for paragraph in element.iter("{*}p", "{*}h"):
        text = "".join(odf.words(paragraph))
        depth = sum(local(above) == "list" for above in paragraph.iterancestors())
        mark = "•&ensp;" if depth else ""
        margin = 14 * max(depth - 1, 0)
        if text.strip():
            style = f"margin:2pt 0 0 {margin}pt;font-family:sans-serif;font-size:{size}pt"
            yield f'<p style="{style}">{mark}{html.escape(text)}</p>'.replace("\n", "<br>")


def _table(table: Any) -> str:
    rows = []
    for row in table.iter("{*}table-row"):
        cells = ("".join(_lines(cell, _CELL_PT)) for cell in row.findall("{*}table-cell"))
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f"<table>{''.join(rows)}</table>"

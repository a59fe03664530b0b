"""Pages of slides: drawn by us, or by another program and completed by us."""

import io
from collections.abc import Callable, Sequence
from typing import Any

from rag.parsing.conversion.slide_canvas import Canvas
from rag.parsing.pdf.mupdf import pymupdf


def write(size: tuple[float, float], draw: Sequence[Callable[[Canvas], None]]) -> Any:
    """A PDF with a page for each of `draw`, which draws a slide. Text, and what lies under it, are put together."""
    canvases = [Canvas(*size) for _ in draw]
    for canvas, drawing in zip(canvases, draw, strict=True):
        drawing(canvas)
    return _put_together(canvases, [(canvas.drawn, 0) for canvas in canvases])


def complete(pages: Any, below: Sequence[Sequence[tuple[str, Sequence[str]]]]) -> Any:
    """The PDF `pages` with texts below its pages: for each page, titles with paragraphs."""
    canvases = []
    for page, parts in zip(pages, below, strict=True):
        canvas = Canvas(page.rect.width, page.rect.height)
        for title, paragraphs in parts:
            canvas.notes(title, paragraphs)
        canvases.append(canvas)
    return _put_together(canvases, [(pages, number) for number in range(len(canvases))])


def _put_together(canvases: Sequence[Canvas], under: Sequence[tuple[Any, int]]) -> Any:
    if not canvases:
        return pymupdf.open()
    written = io.BytesIO()
    writer = pymupdf.DocumentWriter(written)
    for canvas in canvases:
        canvas.finish(writer)
    writer.close()
    document = pymupdf.open(stream=written.getvalue(), filetype="pdf")
    for page, canvas, (drawn, number) in zip(document, canvases, under, strict=True):
        page.show_pdf_page(canvas.box, drawn, number, overlay=False)
    return document

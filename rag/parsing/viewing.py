"""What is shown of a rendition: a page as a picture, a few pages as a PDF of their own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag import errors
from rag.parsing.mupdf import display_matrix, from_display, open_pdf, pymupdf, readable, to_rect
from rag.types import Highlight, Rect, Region

QUOTE_COLOR = (1.0, 0.82, 0.1)
ACTIVE_COLOR = (1.0, 0.6, 0.1)
PASSAGE_COLOR = (1.0, 0.96, 0.7)
OUTLINE_COLOR = (0.85, 0.35, 0.0)
ROUND_END = 0.15
"""MuPDF draws the ends of a highlight as arcs this deep, in heights of the line."""
MAX_PIXELS = 40_000_000


def page_size(rendition: Path, page_number: int) -> tuple[float, float]:
    """Width and height of the page as displayed, in points.

    Raises:
        errors.NotFoundError: there is no such file or page.
    """
    with open_pdf(rendition) as document:
        _, _, width, height = to_rect(_page(document, page_number).rect)
    return width, height


def page_image(rendition: Path, page_number: int, *, zoom: float = 1.0, regions: Sequence[Region] = ()) -> bytes:
    """The page as PNG, `zoom` pixels to the point, with the boxes of `regions` on that page outlined.

    Raises:
        errors.NotFoundError: there is no such file or page.
        errors.UnreadableFileError: the page cannot be drawn.
    """
    with open_pdf(rendition) as document, readable(rendition.name):
        page = _page(document, page_number)
        area = max(1.0, page.rect.width * page.rect.height)
        zoom = min(zoom, (MAX_PIXELS / area) ** 0.5)
        for region in regions:
            if region.page_number == page_number:
                _outline(page, region.rects)
        image: bytes = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False).tobytes("png")
    return image


def page_window(rendition: Path, *, first: int, last: int, highlights: Sequence[Highlight] = ()) -> bytes:
    """A PDF of the pages `first` to `last` (from 1, `last` clipped) with `highlights` as its annotations.

    Highlights name pages of the rendition; those outside the window are left out. Pages keep size and rotation.

    Raises:
        errors.NotFoundError: there is no such file or page.
        errors.UnreadableFileError: a page cannot be copied.
    """
    with open_pdf(rendition) as document, readable(rendition.name), pymupdf.open() as window:
        last = min(last, document.page_count)
        if not 1 <= first <= last:
            raise errors.NotFoundError(f"There is no page {first}: the document has {document.page_count} pages.")
        window.insert_pdf(document, from_page=first - 1, to_page=last - 1, links=False, final=True)
        for highlight in sorted(highlights, key=_layer):
            if first <= highlight.page_number <= last:
                _light(window[highlight.page_number - first], highlight)
        content: bytes = window.tobytes(deflate=False, garbage=0)
    return content


def _page(document: Any, number: int) -> Any:
    if not 1 <= number <= document.page_count:
        raise errors.NotFoundError(f"There is no page {number}: the document has {document.page_count} pages.")
    return document[number - 1]


def _layer(highlight: Highlight) -> tuple[bool, bool]:
    """Passages lie under quotes, and the active quote on top."""
    return highlight.kind == "quote", highlight.active


def _light(page: Any, highlight: Highlight) -> None:
    color = PASSAGE_COLOR
    if highlight.kind == "quote":
        color = ACTIVE_COLOR if highlight.active else QUOTE_COLOR
    quads = [_quad(page, rect) for rect in highlight.rects if rect.x1 > rect.x0 and rect.y1 > rect.y0]
    if quads:
        annotation = page.add_highlight_annot(quads)
        annotation.set_colors(stroke=color)
        annotation.set_info(title="Pagelight")
        annotation.update()


def _outline(page: Any, rects: Sequence[Rect]) -> None:
    for rect in rects:
        page.draw_rect(from_display(rect, page), color=OUTLINE_COLOR, width=0.8)


def _quad(page: Any, rect: Rect) -> Any:
    """A displayed box as the four corners of text on the unrotated page; drawn, its ends bulge by the inset."""
    x0, y0, x1, y1 = rect
    if y1 - y0 > x1 - x0:  # text that runs upwards: its ends are at the top and bottom
        inset = ROUND_END * (x1 - x0)
        quad = pymupdf.Quad((x0, y1 - inset), (x0, y0 + inset), (x1, y1 - inset), (x1, y0 + inset))
    else:
        inset = ROUND_END * (y1 - y0)
        quad = pymupdf.Rect(x0 + inset, y0, x1 - inset, y1).quad
    matrix = display_matrix(page)
    return quad if matrix is None else quad * ~matrix

"""What is shown of a rendition: a page as a picture, marked pages as a PDF of their own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag import errors
from rag.parsing.mupdf import display_matrix, from_display, open_pdf, pymupdf, readable, to_rect
from rag.types import Highlight, Rect, Region

QUOTE_COLOR = (1.0, 0.85, 0.3)
OUTLINE_COLOR = (0.85, 0.35, 0.0)
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


def marked_copy(rendition: Path, highlights: Sequence[Highlight]) -> bytes:
    """A PDF of the pages that `highlights` stand on, with these as annotations and a bookmark for each page.

    Pages keep their order, size and rotation. Links are left out, since they lead to pages that are.

    Raises:
        errors.NotFoundError: there is no such file or page, or nothing is to be marked.
        errors.UnreadableFileError: a page cannot be copied.
    """
    numbers = sorted({highlight.region.page_number for highlight in highlights})
    if not numbers:
        raise errors.NotFoundError("Nothing of this document is to be marked.")
    with open_pdf(rendition) as document, readable(rendition.name), pymupdf.open() as copy:
        for number in numbers:
            index = _page(document, number).number
            copy.insert_pdf(document, from_page=index, to_page=index, links=False, final=number == numbers[-1])
        for highlight in highlights:
            _mark(copy[numbers.index(highlight.region.page_number)], highlight)
        total = document.page_count
        copy.set_toc([[1, f"Page {number} of {total}", place] for place, number in enumerate(numbers, start=1)])
        content: bytes = copy.tobytes(garbage=1, deflate=True)
    return content


def _page(document: Any, number: int) -> Any:
    if not 1 <= number <= document.page_count:
        raise errors.NotFoundError(f"There is no page {number}: the document has {document.page_count} pages.")
    return document[number - 1]


def _mark(page: Any, highlight: Highlight) -> None:
    quads = [_quad(page, rect) for rect in highlight.region.rects if rect.x1 > rect.x0 and rect.y1 > rect.y0]
    if quads:
        annotation = page.add_highlight_annot(quads)
        annotation.set_colors(stroke=QUOTE_COLOR)
        annotation.set_info(title="Pagelight", content=highlight.note)
        annotation.update()


def _outline(page: Any, rects: Sequence[Rect]) -> None:
    for rect in rects:
        page.draw_rect(from_display(rect, page), color=OUTLINE_COLOR, width=0.8)


def _quad(page: Any, rect: Rect) -> Any:
    """A displayed box as the four corners of text on the unrotated page; higher than wide, its text runs upwards."""
    x0, y0, x1, y1 = rect
    upwards = y1 - y0 > x1 - x0
    quad = pymupdf.Quad((x0, y1), (x0, y0), (x1, y1), (x1, y0)) if upwards else pymupdf.Rect(rect).quad
    matrix = display_matrix(page)
    return quad if matrix is None else quad * ~matrix

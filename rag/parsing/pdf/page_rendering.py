"""What is shown of a rendition: a page as a picture, its bookmarks, marked pages as a PDF of their own."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag import errors
from rag.parsing.pdf.mupdf import FAILURES, display_matrix, from_display, open_pdf, pymupdf, readable, to_rect
from rag.types import Highlight, OutlineEntry, Rect, Region

QUOTE_COLOR = (1.0, 0.85, 0.3)
OUTLINE_COLOR = (0.85, 0.35, 0.0)
MAX_PIXELS = 40_000_000
KEPT_PICTURES = 64
"""Pages without marks of which the last picture is kept (about 0.3 MB each): readers come back to them."""
MAX_BOOKMARKS = 5000
MAX_TITLE_CHARS = 300
AROUND_PT = 40.0
"""So much of the page is shown above and below the place in question."""
MOST_HIGH_PT = 420.0
"""Of a place that is higher the beginning is shown: half an A4 page."""


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
    if not regions and rendition.is_file():
        return _picture(rendition, rendition.stat().st_mtime_ns, page_number, zoom)
    return _draw(rendition, page_number, zoom, regions)


@functools.lru_cache(maxsize=KEPT_PICTURES)
def _picture(rendition: Path, modified: int, page_number: int, zoom: float) -> bytes:  # noqa: ARG001  # part of the key
    return _draw(rendition, page_number, zoom, ())


def _draw(rendition: Path, page_number: int, zoom: float, regions: Sequence[Region]) -> bytes:
    with open_pdf(rendition) as document, readable(rendition.name):
        page = _page(document, page_number)
        area = max(1.0, page.rect.width * page.rect.height)
        zoom = min(zoom, (MAX_PIXELS / area) ** 0.5)
        for region in regions:
            if region.page_number == page_number:
                _outline(page, region.rects)
        image: bytes = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False).tobytes("png")
    return image


def bookmarks(rendition: Path) -> tuple[OutlineEntry, ...]:
    """The outline that the file brings along, as far as it leads to pages.

    Raises:
        errors.NotFoundError: there is no such file.
    """
    with open_pdf(rendition) as document:
        try:
            found = document.get_toc(simple=False)
        except FAILURES:
            return ()
        count = document.page_count
        entries = ((level, " ".join(title.split()), page, place) for level, title, page, place in found)
        return tuple(
            OutlineEntry(level=level, title=title[:MAX_TITLE_CHARS], page_number=page, y=_height(document, page, place))
            for level, title, page, place in list(entries)[:MAX_BOOKMARKS]
            if title and 1 <= page <= count
        )


def _height(document: Any, page_number: int, place: Any) -> float:
    """How far down the displayed page a bookmark leads, in points; 0 where it does not say, or the page is turned."""
    to = place.get("to") if isinstance(place, dict) else None
    page = document[page_number - 1]
    y = float(to.y) if to is not None and not page.rotation else 0.0
    return y if 0 < y < page.rect.height else 0.0


def place_image(rendition: Path, region: Region, *, zoom: float = 2.0) -> bytes:
    """The part of a page where the boxes of `region` are, as PNG, `zoom` pixels to the point, with these lit.

    It is as wide as the page.

    Raises:
        errors.NotFoundError: there is no such file or page, or the region has no boxes.
        errors.UnreadableFileError: the page cannot be drawn.
    """
    if not region.rects:
        raise errors.NotFoundError("There is no place to be shown.")
    with open_pdf(rendition) as document, readable(rendition.name):
        page = _page(document, region.page_number)
        _mark(page, Highlight(region=region, note=""))
        whole = page.rect
        top = max(whole.y0, min(rect.y0 for rect in region.rects) - AROUND_PT)
        bottom = min(whole.y1, max(rect.y1 for rect in region.rects) + AROUND_PT, top + MOST_HIGH_PT)
        clip = pymupdf.Rect(whole.x0, top, whole.x1, max(bottom, top + 1))
        zoom = min(zoom, (MAX_PIXELS / max(1.0, clip.width * clip.height)) ** 0.5)
        image: bytes = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), clip=clip, alpha=False).tobytes("png")
    return image


def marked_whole(rendition: Path, highlights: Sequence[Highlight]) -> bytes:
    """The whole PDF with `highlights` as annotations; its bookmarks, links and forms stay as they are.

    Raises: as `marked_copy`.
    """
    if not highlights:
        raise errors.NotFoundError("Nothing of this document is to be marked.")
    with open_pdf(rendition) as document, readable(rendition.name):
        for highlight in highlights:
            _mark(_page(document, highlight.region.page_number), highlight)
        content: bytes = document.tobytes(garbage=1, deflate=True)
    return content


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

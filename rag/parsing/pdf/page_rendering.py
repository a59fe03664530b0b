"""Render pages as PNG, read bookmarks, and export PDFs with highlights."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag import errors, types
from rag.messages import N_
from rag.parsing.pdf.mupdf import (
    MUPDF_ERRORS,
    display_matrix,
    map_mupdf_errors,
    open_pdf,
    pymupdf,
    to_rect,
)

QUOTE_COLOR = (1.0, 0.85, 0.3)
OUTLINE_COLOR = (217, 89, 0)
OUTLINE_PT = 0.8
MAX_PIXELS = 40_000_000
CACHED_IMAGES = 64
"""Pages without outlines whose image is cached (about 0.3 MB each)."""
MAX_BOOKMARKS = 5000
MAX_TITLE_CHARS = 300
MARGIN_PT = 40.0
"""Height shown above and below a region."""
MAX_HEIGHT_PT = 420.0
"""Taller regions are cut off: half an A4 page."""


def page_size(rendition: Path, page_number: int) -> tuple[float, float]:
    """Return width and height of the displayed page in points.

    Raises:
        errors.NotFoundError: the file or the page is missing.
    """
    with open_pdf(rendition) as document:
        _, _, width, height = to_rect(_page(document, page_number).rect)
    return width, height


def page_image(rendition: Path, page_number: int, *, zoom: float = 1.0, regions: Sequence[types.Region] = ()) -> bytes:
    """Render a page as PNG, `zoom` pixels per point, with the boxes of `regions` outlined.

    Raises:
        errors.NotFoundError: the file or the page is missing.
        errors.UnreadableFileError: the page cannot be rendered.
    """
    if not regions and rendition.is_file():
        return _cached_image(rendition, rendition.stat().st_mtime_ns, page_number, zoom)
    return _outlined_image(rendition, page_number, zoom, regions)


@functools.lru_cache(maxsize=CACHED_IMAGES)
def _cached_image(rendition: Path, modified: int, page_number: int, zoom: float) -> bytes:  # noqa: ARG001  # part of the key
    return _outlined_image(rendition, page_number, zoom, ())


def _outlined_image(rendition: Path, page_number: int, zoom: float, regions: Sequence[types.Region]) -> bytes:
    with open_pdf(rendition) as document, map_mupdf_errors(rendition.name):
        page = _page(document, page_number)
        boxes = [rect for region in regions if region.page_number == page_number for rect in region.rects]
        return _render(page, page.rect, zoom, outlined=boxes)


def _render(page: Any, clip: Any, zoom: float, *, outlined: Sequence[types.Rect] = ()) -> bytes:
    zoom = min(zoom, (MAX_PIXELS / max(1.0, clip.width * clip.height)) ** 0.5)
    picture = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), clip=clip, alpha=False)
    width = max(1, round(OUTLINE_PT * zoom))
    for box in outlined:  # in the picture, as PyMuPDF draws on turned pages and with a UserUnit in other places
        left, top, right, bottom = (pymupdf.Rect(box) * zoom).irect
        for side in (
            (left - width, top - width, right + width, top),
            (left - width, bottom, right + width, bottom + width),
            (left - width, top, left, bottom),
            (right, top, right + width, bottom),
        ):
            picture.set_rect(side, OUTLINE_COLOR)
    image: bytes = picture.tobytes("png")
    return image


def bookmarks(rendition: Path) -> tuple[types.OutlineEntry, ...]:
    """Read the bookmarks that lead to pages.

    Raises:
        errors.NotFoundError: the file is missing.
    """
    with open_pdf(rendition) as document:
        try:
            found = document.get_toc(simple=False)
        except MUPDF_ERRORS:
            return ()
        count = document.page_count
        entries = ((level, " ".join(title.split()), page, place) for level, title, page, place in found)
        return tuple(
            types.OutlineEntry(
                level=level, title=title[:MAX_TITLE_CHARS], page_number=page, y=_height(document, page, place)
            )
            for level, title, page, place in list(entries)[:MAX_BOOKMARKS]
            if title and 1 <= page <= count
        )


def _height(document: Any, page_number: int, place: Any) -> float:
    """Return a bookmark's distance from the page's top in points; 0 if unknown or the page is rotated."""
    to = place.get("to") if isinstance(place, dict) else None
    page = document[page_number - 1]
    y = float(to.y) if to is not None and not page.rotation else 0.0
    return y if 0 < y < page.rect.height else 0.0


def region_image(rendition: Path, region: types.Region, *, zoom: float = 2.0) -> bytes:
    """Render the strip of a page with the boxes of `region`, highlighted, as PNG with `zoom` pixels per point.

    Raises:
        errors.NotFoundError: the file or the page is missing, or the region has no boxes.
        errors.UnreadableFileError: the page cannot be rendered.
    """
    if not region.rects:
        raise errors.NotFoundError(N_("There is no place to be shown."))
    with open_pdf(rendition) as document, map_mupdf_errors(rendition.name):
        page = _page(document, region.page_number)
        _mark(page, types.Highlight(region=region, note=""))
        whole = page.rect
        top = max(whole.y0, min(rect.y0 for rect in region.rects) - MARGIN_PT)
        bottom = min(whole.y1, max(rect.y1 for rect in region.rects) + MARGIN_PT, top + MAX_HEIGHT_PT)
        clip = pymupdf.Rect(whole.x0, top, whole.x1, max(bottom, top + 1))
        return _render(page, clip, zoom)


def annotated_pdf(rendition: Path, highlights: Sequence[types.Highlight]) -> bytes:
    """Return the whole PDF with `highlights` as annotations; bookmarks, links and forms stay.

    Raises the errors of `annotated_excerpt`.
    """
    if not highlights:
        raise errors.NotFoundError(N_("Nothing of this document is to be marked."))
    with open_pdf(rendition) as document, map_mupdf_errors(rendition.name):
        for highlight in highlights:
            _mark(_page(document, highlight.region.page_number), highlight)
        content: bytes = document.tobytes(garbage=1, deflate=True)
    return content


def annotated_excerpt(rendition: Path, highlights: Sequence[types.Highlight]) -> bytes:
    """Return a PDF of the pages with `highlights`, as annotations, and a bookmark for each page.

    Pages keep their order, size and rotation. Links are removed, as their targets may be missing.

    Raises:
        errors.NotFoundError: the file or a page is missing, or there are no highlights.
        errors.UnreadableFileError: a page cannot be copied.
    """
    numbers = sorted({highlight.region.page_number for highlight in highlights})
    if not numbers:
        raise errors.NotFoundError(N_("Nothing of this document is to be marked."))
    with open_pdf(rendition) as document, map_mupdf_errors(rendition.name), pymupdf.open() as copy:
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
        raise errors.NotFoundError(
            N_("There is no page {number}: the document has {count} pages."), number=number, count=document.page_count
        )
    return document[number - 1]


def _mark(page: Any, highlight: types.Highlight) -> None:
    quads = [_quad(page, rect) for rect in highlight.region.rects if rect.x1 > rect.x0 and rect.y1 > rect.y0]
    if quads:
        annotation = page.add_highlight_annot(quads)
        annotation.set_colors(stroke=QUOTE_COLOR)
        annotation.set_info(title="Pagelight", content=highlight.note)
        annotation.update()


def _quad(page: Any, rect: types.Rect) -> Any:
    """Return the corners of a displayed box on the unrotated page; text in a box taller than wide runs upwards."""
    x0, y0, x1, y1 = rect
    upwards = y1 - y0 > x1 - x0
    quad = pymupdf.Quad((x0, y1), (x0, y0), (x1, y1), (x1, y0)) if upwards else pymupdf.Rect(rect).quad
    matrix = display_matrix(page)
    return quad if matrix is None else quad * ~matrix

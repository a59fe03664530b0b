"""HTML on pages: on A4, and on wider pages where a table needs them."""

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rag.parsing.conversion import glyphs, markup, tables
from rag.parsing.pdf.mupdf import pymupdf

FONT_SIZE_PT = 11
SMALL_PT, SMALLEST_PT = 9, 7.5
"""Type in tables that are too wide otherwise; what is smaller is not read any more."""
MARGIN_PT = 40
_STYLE = """
@page {{ margin: {margin}pt }}
body {{ margin: 0; font-size: {size}pt }}
h1 {{ font-size: {size_1}pt }} h2 {{ font-size: {size_2}pt }} h3 {{ font-size: {size_3}pt }}
h4, h5, h6 {{ font-size: {size}pt }}
pre {{ white-space: pre-wrap; font-size: {size_pre}pt }}
table {{ border-collapse: collapse }}
td, th {{ border: 0.5pt solid #888; padding: 2pt 3pt }}
"""
_HEADINGS = (2.0, 1.5, 1.2)
_TYPEWRITER = 0.9
"""80 characters fit between the margins of A4."""
_TOLERANCE_PT = 0.5
_CONTENT = re.compile(r"<img|(?:^|>)\s*[^<\s]")
"""Markup without it is tags around a table; it needs no page."""
MAX_WIDTH_PT = 14_400
"""No page of a PDF may be wider (ISO 32000-1, annex C)."""
_ENDLESS_PT = 1_000_000
"""Higher than any table: how wide it is shall be known from all of its rows."""


class Sheet(NamedTuple):
    """A page and the type on it, in points."""

    width: float = 595
    height: float = 842
    font_size: float = FONT_SIZE_PT


A4 = Sheet()
_LADDER = (
    A4,
    A4._replace(font_size=SMALL_PT),
    A4._replace(font_size=SMALLEST_PT),
    Sheet(A4.height, A4.width, SMALLEST_PT),
    Sheet(2 * A4.width, A4.height, SMALLEST_PT),
)
"""What is tried for a table, until it fits: smaller type, then A4 across, then A3 across; after that it is parted."""


class _Flow(NamedTuple):
    """Markup for pages of one kind."""

    html: str
    sheet: Sheet


def lay_out(html: str, *, title: str = "", author: str = "", images: Mapping[str, bytes] | None = None) -> Any:
    """A PDF (a `pymupdf.Document`) with all text of `html`, on A4, and on wider pages where a table needs them.

    Styles and scripts of the file have no effect. Pictures are shown if `images` has them, by the addresses that the
    file gives them, or if they stand in the file itself; nothing else is loaded.
    """
    parts, pictures = markup.clean(html, images or {})
    archive = pymupdf.Archive()
    for name, content in pictures.items():
        archive.add((content, name))
    target = io.BytesIO()
    meanings: glyphs.Glyphs = {}
    writer = pymupdf.DocumentWriter(target)
    for flow in _flows(parts, archive) or [_Flow("<p></p>", A4)]:
        with _laid_out(flow, archive) as pages:
            for page in pages:
                device = writer.begin_page(page.rect)
                pymupdf.mupdf.fz_run_page(page.this, device.this, pymupdf.mupdf.FzMatrix(), pymupdf.mupdf.FzCookie())
                writer.end_page()
            glyphs.collect(pages, flow.html, meanings)
    writer.close()
    document = pymupdf.open(stream=target.getvalue(), filetype="pdf")
    glyphs.write_tables(document, meanings)
    document.subset_fonts()
    document.set_metadata({"title": title, "author": author})
    return document


def _laid_out(flow: _Flow, archive: Any) -> Any:
    content = f"<html><head><style>{_style(flow.sheet)}</style></head><body>{flow.html}</body></html>"
    width, height, font_size = flow.sheet
    # Given at once, for opening a file lays it out already.
    return pymupdf.open(
        stream=content.encode(), filetype="html", archive=archive, width=width, height=height, fontsize=font_size
    )


def _style(sheet: Sheet) -> str:
    size_1, size_2, size_3 = (factor * sheet.font_size for factor in _HEADINGS)
    return _STYLE.format(
        margin=MARGIN_PT,
        size=sheet.font_size,
        size_1=size_1,
        size_2=size_2,
        size_3=size_3,
        size_pre=_TYPEWRITER * sheet.font_size,
    )


def _flows(parts: list[markup.Part], archive: Any) -> list[_Flow]:
    """The parts on their pages: what fits on A4 together, and each wide table by itself."""
    flows: list[_Flow] = []
    for part in parts:
        if part.is_table and not _fits(part.reopened + tables.sample(part.html), A4, archive):
            flows.extend(_wide(part.html, archive))
        elif flows and flows[-1].sheet == A4:
            flows[-1] = _Flow(flows[-1].html + part.html, A4)
        elif _CONTENT.search(part.html):
            flows.append(_Flow(part.reopened + part.html, A4))
    return flows


def _wide(table: str, archive: Any) -> Iterator[_Flow]:
    """A table that is too wide for A4, on the first kind of page where it fits, or in parts on the largest.

    A column that is too wide even so, such as a table in a table, gets a page as wide as it needs.
    """
    measured = tables.sample(table)
    for sheet in _LADDER:
        if _fits(measured, sheet, archive):
            yield _Flow(table, sheet)
            return
    largest = _LADDER[-1]
    for part in tables.in_parts(table, lambda some: _fits(some, largest, archive)):
        width = min(_needed_width(tables.sample(part), largest, archive), MAX_WIDTH_PT)
        yield _Flow(part, largest._replace(width=max(width, largest.width)))


def _fits(html: str, sheet: Sheet, archive: Any) -> bool:
    return _needed_width(html, sheet, archive) <= sheet.width + _TOLERANCE_PT


def _needed_width(html: str, sheet: Sheet, archive: Any) -> float:
    """How wide the page must be for `html`, in points, if it is to be no narrower than `sheet`."""
    story = pymupdf.Story(html, user_css=_style(sheet), em=sheet.font_size, archive=archive)
    _, filled = story.place(pymupdf.Rect(0, 0, sheet.width - 2 * MARGIN_PT, _ENDLESS_PT))
    return float(filled[2]) + 2 * MARGIN_PT

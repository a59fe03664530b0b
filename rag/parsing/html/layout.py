"""Lay out HTML on PDF pages with MuPDF, which has fonts for all scripts."""

import io
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from rag import types
from rag.parsing.html import characters, markup
from rag.parsing.pdf.mupdf import HIDDEN_COLOR, LOCK, map_mupdf_errors, pymupdf

FONT_SIZE_PT = 11
SMALLEST_PT = 7.5
"""Font size for tables that are too wide otherwise."""
MARGIN_PT = 40
_STYLE = """
@page {{ margin: {margin}pt }}
body {{ margin: 0; font-size: {size}pt }}
h1 {{ font-size: {size_1}pt }} h2 {{ font-size: {size_2}pt }} h3 {{ font-size: {size_3}pt }}
h4, h5, h6 {{ font-size: {size}pt }}
pre {{ white-space: pre-wrap; font-size: {size_pre}pt }}
table {{ border-collapse: collapse; margin: 6pt 0 }}
td, th {{ border: 0.5pt solid #888; padding: 2pt 3pt }}
.{hidden_class} {{ color: #{hidden_color:06x} }}
"""
_HEADINGS = (2.0, 1.5, 1.2)
_MONOSPACE = 0.9
"""Relative size at which 80 monospaced characters fit between the margins of A4."""
_TOLERANCE_PT = 0.5
_CONTENT = re.compile(r"<img|(?:^|>)\s*[^<\s]")
"""Matches markup with visible content; the tags around a table alone need no page."""
MAX_SIDE_PT = 14_400
"""Maximum side of a PDF page (ISO 32000-1, annex C)."""
_ENDLESS_PT = 1_000_000
"""Height that no content reaches, for measuring."""


class Paper(NamedTuple):
    """Page size and font size, in points."""

    width: float = 595
    height: float = 842
    font_size: float = FONT_SIZE_PT


A4 = Paper()
_SMALL_TYPE = A4._replace(font_size=SMALLEST_PT)
_LANDSCAPE = Paper(A4.height, A4.width, SMALLEST_PT)


class _Flow(NamedTuple):
    """Markup and the paper it is laid out on."""

    html: str
    paper: Paper


def lay_out(*fragments: str, title: str = "", author: str = "", images: Mapping[str, bytes] | None = None) -> Any:
    """Make a PDF (a `pymupdf.Document`) with all text of HTML fragments, on A4 and, for wide tables, on wider pages.

    Styles and scripts have no effect. Pictures are shown if `images` has their `src`, or if they are data URIs. Nothing
    else is loaded.
    """
    cleaned = markup.clean(fragments, images or {})
    with PageWriter(cleaned.pictures) as writer:
        for flow in _flows(cleaned.parts, writer.archive) or [_Flow("<p></p>", A4)]:
            writer.add_flow(flow.html, _style(flow.paper), flow.paper)
    document = writer.document()
    document.set_metadata({"title": title, "author": author})
    return document


class PageWriter:
    """Write laid out HTML to the pages of a new PDF.

    `pictures` maps the `src` values of pictures to their content. Markup must be clean (`markup.clean` or
    `markup.escaped`).
    """

    def __init__(self, pictures: Mapping[str, bytes] | None = None) -> None:
        self.archive = pymupdf.Archive()
        for name, content in (pictures or {}).items():
            self.archive.add((content, name))
        self._target = io.BytesIO()
        self._writer = pymupdf.DocumentWriter(self._target)
        self._glyphs: characters.Glyphs = {}
        self._fonts = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def add_flow(self, html: str, style: str, paper: Paper) -> None:
        """Lay out `html` on as many pages as it needs, scaled down if the paper is wider than PDF allows."""
        mupdf, scale = pymupdf.mupdf, min(1.0, MAX_SIDE_PT / paper.width)
        style += self._boxes_style(html)
        with self._opened(html, style, paper) as pages:
            for page in pages:
                device = self._writer.begin_page(page.rect * scale)
                mupdf.fz_run_page(page.this, device.this, mupdf.fz_scale(scale, scale), mupdf.FzCookie())
                self._writer.end_page()
            characters.collect_glyphs(pages, html, self._glyphs)

    def add_page(self, html: str, style: str, paper: Paper, *, top: float = MARGIN_PT) -> dict[str, types.Rect]:
        """Lay out `html` on one page that grows as needed, `top` points below its upper edge.

        Returns:
            The content boxes of elements with an id. On a page that would exceed the maximum of PDF, everything is
            scaled down.
        """
        style += self._boxes_style(html)
        story = pymupdf.Story(html, user_css=style, em=paper.font_size, archive=self.archive)
        right = paper.width - MARGIN_PT
        _, filled = story.place(pymupdf.Rect(MARGIN_PT, top, right, _ENDLESS_PT))
        if filled[2] > right:  # what stands out would be clipped
            right = filled[2]
            story.reset()
            _, filled = story.place(pymupdf.Rect(MARGIN_PT, top, right, _ENDLESS_PT))
        width = right + MARGIN_PT
        height = max(paper.height, filled[3] + MARGIN_PT / 2 if html else 0)
        scale = min(1.0, MAX_SIDE_PT / max(width, height))
        boxes: dict[str, types.Rect] = {}

        def note(element: Any) -> None:
            if element.id and element.open_close & 1:
                boxes[element.id] = types.Rect(*(scale * side for side in element.rect))

        story.element_positions(note)
        device = self._writer.begin_page(pymupdf.Rect(0, 0, scale * width, scale * height))
        story.draw(device, pymupdf.Matrix(scale, scale))
        self._writer.end_page()
        if characters.needs_table(html):  # opening lays it out again
            with self._opened(html, style, Paper(width, height, paper.font_size)) as pages:
                characters.collect_glyphs(pages, html, self._glyphs)
        return boxes

    def _boxes_style(self, html: str) -> str:
        """Provide a font for the characters in `html` that no other has; return the style that uses it."""
        missing = characters.marked_characters(html)
        if not missing:
            return ""
        self._fonts += 1
        name = f"{characters.FAMILY}-{self._fonts}"
        file = f"{name}.ttf"
        self.archive.add((characters.font(name, missing), file))
        return characters.STYLE.format(family=characters.FAMILY, file=file)

    def document(self) -> Any:
        """Return the finished PDF (a `pymupdf.Document`)."""
        document = pymupdf.open(stream=self._target.getvalue(), filetype="pdf")
        characters.write_tables(document, self._glyphs)
        document.subset_fonts()
        return document

    def _opened(self, html: str, style: str, paper: Paper) -> Any:
        content = f"<html><head><style>{style}</style></head><body>{html}</body></html>"
        width, height, size = paper
        # The page size is given here because opening a file already lays it out.
        return pymupdf.open(
            stream=content.encode(), filetype="html", archive=self.archive, width=width, height=height, fontsize=size
        )


def _style(paper: Paper) -> str:
    size_1, size_2, size_3 = (factor * paper.font_size for factor in _HEADINGS)
    return _STYLE.format(
        margin=MARGIN_PT,
        hidden_class=markup.HIDDEN_CLASS,
        hidden_color=HIDDEN_COLOR,
        size=paper.font_size,
        size_1=size_1,
        size_2=size_2,
        size_3=size_3,
        size_pre=_MONOSPACE * paper.font_size,
    )


def _flows(parts: list[markup.Part], archive: Any) -> list[_Flow]:
    """Group the parts by paper: everything that fits on A4 together, each wide table by itself in small type."""
    flows: list[_Flow] = []
    for part in parts:
        if part.is_table and _needed_width(part.reopened + part.html, A4, archive) > A4.width + _TOLERANCE_PT:
            width = _needed_width(part.html, _SMALL_TYPE, archive)
            wide = _LANDSCAPE._replace(width=max(width, A4.height))
            flows.append(_Flow(part.html, _SMALL_TYPE if width <= A4.width + _TOLERANCE_PT else wide))
        elif flows and flows[-1].paper == A4:
            flows[-1] = _Flow(flows[-1].html + part.html, A4)
        elif _CONTENT.search(part.html):
            flows.append(_Flow(part.reopened + part.html, A4))
    return flows


def _needed_width(html: str, paper: Paper, archive: Any) -> float:
    """Return the page width in points that `html` needs even if all its lines are wrapped."""
    story = pymupdf.Story(html, user_css=_style(paper), em=paper.font_size, archive=archive)
    _, filled = story.place(pymupdf.Rect(0, 0, paper.width - 2 * MARGIN_PT, _ENDLESS_PT))
    return float(filled[2]) + 2 * MARGIN_PT


def html_to_pdf(html: str, *, title: str) -> bytes:
    """Convert HTML to an A4 PDF with searchable text and the pictures embedded as data URLs.

    Raises:
        errors.UnreadableFileError: the layout fails.
    """
    with LOCK, map_mupdf_errors(title), lay_out(html, title=title) as document:
        content: bytes = document.tobytes(garbage=3, deflate=True)
    return content

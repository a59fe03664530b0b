"""Extract runs of text and ruling lines from a page, in display space."""

import enum
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rag.parsing.ocr.tesseract import FONT
from rag.parsing.pdf import character_cleaning
from rag.parsing.pdf.mupdf import display_matrix, pymupdf, to_rect
from rag.types import Rect

TEXT_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
"""Flags of every text extraction: ligatures are split for search, hyphens stay."""

MAIN_SHARE = 0.15
_BOLD_FONT = 16
_BOLD_CHARS = 8


class Direction(enum.Enum):
    """The writing direction on the displayed page."""

    RIGHT = enum.auto()
    DOWN = enum.auto()
    LEFT = enum.auto()
    UP = enum.auto()


class Piece(NamedTuple):
    """A run of text on one baseline. `order` is its index in the page's content, `size` is in points.

    `text` is stripped, but `bbox` includes white space at the ends, which `space_left` and `space_right` tell.
    Pieces that are `is_recognised` belong to the invisible layer over a picture.
    """

    bbox: Rect
    text: str
    size: float
    bold: bool
    direction: Direction
    order: int
    is_recognised: bool = False
    space_left: bool = False
    space_right: bool = False


class Rule(NamedTuple):
    """A drawn line or shape: its box, and whether it is a rectangle."""

    bbox: Rect
    is_rectangle: bool


def page_content(page: Any) -> tuple[list[Piece], list[Rule]]:
    """Extract the page's runs of text in content order, and its rules."""
    blocks = page.get_text("dict", flags=TEXT_FLAGS | pymupdf.TEXT_COLLECT_VECTORS)["blocks"]
    visible = to_rect(page.rect)
    matrix = display_matrix(page)
    pieces = [
        piece for piece in _pieces(blocks, matrix) if visible.contains_center(piece.bbox)
    ]  # text beyond the crop box is never shown
    rules = [Rule(to_display(block["bbox"], matrix), block["isrect"]) for block in blocks if block["type"] == 3]
    return pieces, rules


def to_display(box: tuple[float, float, float, float], matrix: Any | None) -> Rect:
    """Convert a box of PyMuPDF's unrotated page to display space; `matrix` comes from `display_matrix`."""
    return to_rect(box if matrix is None else tuple(pymupdf.Rect(box) * matrix))


def _pieces(blocks: list[Mapping[str, Any]], matrix: Any | None) -> Iterator[Piece]:
    order = 0
    for block in blocks:
        for line in block.get("lines", ()):
            spans = line["spans"]
            alone = len(spans) == 1
            raw = spans[0]["text"] if alone else "".join(span["text"] for span in spans)
            content = character_cleaning.clean(raw)
            if not character_cleaning.is_readable(content):
                continue
            main = spans[0] if alone else _main_span(spans)
            bold = bool(main["flags"] & _BOLD_FONT or main["char_flags"] & _BOLD_CHARS)
            box = to_display(line["bbox"], matrix)
            space_left, space_right = _outer_spaces(raw)
            yield Piece(
                box,
                content,
                round(main["size"], 1),
                bold,
                _direction(line["dir"], matrix),
                order,
                main["font"] == FONT,
                space_left,
                space_right,
            )
            order += 1


def _outer_spaces(raw: str) -> tuple[bool, bool]:
    """Whether there is white space left and right of the text.

    Files store right-to-left text in either order, so white space at one end counts for both sides.
    """
    first, last = raw[0].isspace(), raw[-1].isspace()
    if first != last and character_cleaning.is_right_to_left(raw):
        return True, True
    return first, last


def _main_span(spans: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the span with the largest type of a relevant share: small capitals have large ones among them."""
    enough = MAIN_SHARE * sum(len(span["text"]) for span in spans)
    lengths: Counter[float] = Counter()
    for span in spans:
        lengths[span["size"]] += len(span["text"])
    size = max((size for size, length in lengths.items() if length >= enough), default=spans[0]["size"])
    return max((span for span in spans if span["size"] == size), key=lambda span: len(span["text"]))


def _direction(vector: tuple[float, float], matrix: Any | None) -> Direction:
    x, y = vector
    if matrix is not None:
        x, y = x * matrix.a + y * matrix.c, x * matrix.b + y * matrix.d
    if abs(x) >= abs(y):
        return Direction.RIGHT if x >= 0 else Direction.LEFT
    return Direction.DOWN if y > 0 else Direction.UP

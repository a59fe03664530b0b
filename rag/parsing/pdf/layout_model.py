"""PyMuPDF's layout model: slower (0.2 to 0.6 seconds a page) and better at tables without rules and at headings."""

import importlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from rag.parsing.pdf import text_lines
from rag.parsing.pdf.mupdf import display_matrix
from rag.parsing.pdf.ruled_tables import Grid
from rag.parsing.pdf.text_runs import Piece, to_display
from rag.types import BlockKind, Rect

_HEADINGS = frozenset({"title", "section-header"})


class Layout(NamedTuple):
    """Where the model sees tables and headings, in display space."""

    tables: tuple[Rect, ...] = ()
    headings: tuple[Rect, ...] = ()


def page_layout(page: Any) -> Layout:
    """What the model sees on `page`. The first call loads the model (about 2 seconds and 150 MB)."""
    from rag.config import silence_telemetry  # the settings cost every parsing process, the model only some

    silence_telemetry()
    importlib.import_module("pymupdf.layout")  # it adds itself to PyMuPDF
    page.get_layout()
    matrix = display_matrix(page)
    boxes = [(to_display(tuple(box[:4]), matrix), box[4]) for box in page.layout_information or ()]
    return Layout(
        tuple(box for box, kind in boxes if kind == "table"),
        tuple(box for box, kind in boxes if kind in _HEADINGS),
    )


def find_tables(pieces: Sequence[Piece], boxes: Sequence[Rect]) -> tuple[list[Grid], list[Piece]]:
    """The tables in `boxes`, a line for each row of print, and the pieces outside them."""
    grids: list[Grid] = []
    rest = list(pieces)
    for box in boxes:
        inside = [piece for piece in rest if _contains(box, piece.bbox)]
        lines = text_lines.make_rows(inside)
        if len(lines) > 1:
            block = text_lines.table(lines)
            grids.append(Grid(text_lines.bounds(row.bbox for row in lines), "", inside[0].order, block))
            rest = [piece for piece in rest if piece not in inside]
    return grids, rest


def mark_heading(block: text_lines.RawBlock, boxes: Sequence[Rect]) -> text_lines.RawBlock:
    """`block`, as a heading if it is text that the model sees as one."""
    box = text_lines.bounds(line.bbox for line in block.lines)
    if block.kind is BlockKind.TEXT and any(_contains(heading, box) for heading in boxes):
        return block._replace(kind=BlockKind.HEADING)
    return block


def _contains(box: Rect, other: Rect) -> bool:
    x, y = (other.x0 + other.x1) / 2, (other.y0 + other.y1) / 2
    return box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1

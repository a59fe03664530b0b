"""Detect tables without rules and headings with PyMuPDF's layout model, which takes 0.2 to 0.6 seconds a page."""

import importlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from rag import types
from rag.parsing.pdf import text_lines
from rag.parsing.pdf.mupdf import display_matrix
from rag.parsing.pdf.text_runs import Piece, to_display
from rag.parsing.tables.ruled_tables import Table

_HEADINGS = frozenset({"title", "section-header"})


class Layout(NamedTuple):
    """The displayed boxes of detected tables and headings."""

    tables: tuple[types.Rect, ...] = ()
    headings: tuple[types.Rect, ...] = ()


def detect_layout(page: Any) -> Layout:
    """Detect tables and headings on `page`; the first call loads the model (about 2 seconds and 150 MB)."""
    from rag.config import silence_telemetry  # not loaded where no model is used

    silence_telemetry()
    importlib.import_module("pymupdf.layout")  # registers itself with PyMuPDF
    page.get_layout()
    matrix = display_matrix(page)
    boxes = [(to_display(tuple(box[:4]), matrix), box[4]) for box in page.layout_information or ()]
    return Layout(
        tuple(box for box, kind in boxes if kind == "table"),
        tuple(box for box, kind in boxes if kind in _HEADINGS),
    )


def extract_tables(pieces: Sequence[Piece], boxes: Sequence[types.Rect]) -> tuple[list[Table], list[Piece]]:
    """Return the tables in `boxes`, a line per row of print, and the pieces outside them."""
    grids: list[Table] = []
    rest = list(pieces)
    for box in boxes:
        inside = [piece for piece in rest if box.contains_center(piece.bbox)]
        lines = text_lines.make_rows(inside)
        if len(lines) > 1:
            block = text_lines.table(lines)
            grids.append(Table(text_lines.bounds(row.bbox for row in lines), "", inside[0].order, block))
            rest = [piece for piece in rest if piece not in inside]
    return grids, rest


def mark_heading(block: text_lines.RawBlock, boxes: Sequence[types.Rect]) -> text_lines.RawBlock:
    """Make a text block in one of the heading `boxes` a heading."""
    box = text_lines.bounds(line.bbox for line in block.lines)
    if block.kind is types.BlockKind.TEXT and any(heading.contains_center(box) for heading in boxes):
        return block._replace(kind=types.BlockKind.HEADING)
    return block

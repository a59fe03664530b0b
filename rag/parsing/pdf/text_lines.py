"""Join pieces on one baseline to lines, and lines to blocks and tables."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rag.parsing.pdf import character_cleaning
from rag.parsing.pdf.text_runs import MAX_RAISED_SIZE, MIN_RISE_EM, Piece
from rag.types import BlockKind, Rect

WORD_GAP_EM = 0.12
"""Pieces with a wider gap are separated by a space."""
OVERLAP_EM = 1.0
"""Pieces with a larger overlap do not continue each other."""
CELL_GAP_EM = 1.0
"""A wider gap may separate table cells."""
ALIGNED_PT = 4.0
"""Tolerance for aligned edges."""
MIN_TABLE_ROWS = 3
MAX_ROWS_BETWEEN = 3
"""Rows with one cell, such as sub-headings and wrapped labels, that may separate two table rows."""
MIN_ALIGNED_ROWS = 0.6
MAX_HEADER_LINES = 5
DESCENT_EM = 0.25
"""Usual depth of type below its baseline: the box of a piece does not tell its own."""
MAX_MARK_GAP_EM = 0.6
"""A raised mark stands no farther from the type that it belongs to."""
PARAGRAPH_GAP_EM = 0.65
"""A larger gap between lines begins a block."""
_ENDS = (".", ":", "?", "!", "”", "。", "؟")
_LEADS = re.compile(r"[$€£¥(–—-]+|[•●○▪■◦‣⁃*o§·]|\(?(\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]")
"""Prefixes of the following text at any gap: currency signs, bullets, list numbers."""


class RawLine(NamedTuple):
    """A line without a number."""

    bbox: Rect
    text: str


class RawBlock(NamedTuple):
    """A block of a page; `size` is in points."""

    kind: BlockKind
    lines: list[RawLine]
    size: float
    bold: bool


class Row(NamedTuple):
    """Cells on one baseline from left to right, each of one or more pieces."""

    cells: list[list[Piece]]
    pieces: list[Piece]
    bbox: Rect
    size: float
    """The size of its longest piece."""
    bold: bool
    """Whether all its text is bold."""


def make_rows(pieces: Sequence[Piece]) -> list[Row]:
    """Group the pieces of one column by baseline, from top to bottom, with raised ones in superscripts."""
    grouped: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: piece.bbox.y0 + piece.bbox.y1):
        if grouped and grouped[-1][0].bbox.is_level_with(piece.bbox):
            grouped[-1].append(piece)
        else:
            grouped.append([piece])
    return [_make_row(group) for group in grouped]


def _make_row(pieces: list[Piece]) -> Row:
    pieces.sort(key=lambda piece: piece.bbox.x0)
    pieces = [_with_superscript(*near) for near in zip([None, *pieces], pieces, [*pieces[1:], None], strict=False)]
    cells = [[pieces[0]]]
    right = pieces[0].bbox.x1  # of all pieces so far: a mark set over a line ends within it
    for before, piece in pairwise(pieces):
        gap = piece.bbox.x0 - right
        if gap > CELL_GAP_EM * max(before.size, piece.size) and not _LEADS.fullmatch(before.text):
            cells.append([piece])
        else:
            cells[-1].append(piece)
        right = max(right, piece.bbox.x1)
    kept = [piece for cell in cells for piece in cell]
    size = max(kept, key=lambda piece: len(piece.text)).size
    return Row(cells, kept, bounds(piece.bbox for piece in pieces), size, all(piece.bold for piece in kept))


def _with_superscript(before: Piece | None, piece: Piece, after: Piece | None) -> Piece:
    """Write a piece in superscripts if it is small and above the baseline of the type right beside it."""
    for other in (before, after):
        if other is None or piece.size > MAX_RAISED_SIZE * other.size:
            continue
        gap = max(piece.bbox.x0, other.bbox.x0) - min(piece.bbox.x1, other.bbox.x1)
        lowest = DESCENT_EM * (other.size - piece.size) + MIN_RISE_EM * other.size
        if gap < MAX_MARK_GAP_EM * other.size and other.bbox.y1 - piece.bbox.y1 > lowest:
            return piece._replace(text=character_cleaning.superscript(piece.text, after.text if after else "").strip())
    return piece


def bounds(boxes: Iterable[Rect]) -> Rect:
    """Return the box around all `boxes`, at least one."""
    box, *others = boxes
    if not others:
        return box
    x0, y0, x1, y1 = zip(box, *others, strict=True)
    return Rect(min(x0), min(y0), max(x1), max(y1))


def join(pieces: Sequence[Piece]) -> str:
    """Join the text of pieces on one baseline in logical order."""
    if len(pieces) == 1:
        return character_cleaning.correct_brackets(pieces[0].text)
    backwards = character_cleaning.is_right_to_left("".join(piece.text for piece in pieces))
    ordered = list(reversed(pieces)) if backwards else list(pieces)
    parts = [ordered[0].text]
    for before, piece in pairwise(ordered):
        near, far = (before, piece) if before.bbox <= piece.bbox else (piece, before)
        if near.space_right or far.space_left or _is_apart(near, far):
            parts.append(" ")
        parts.append(piece.text)
    return character_cleaning.correct_brackets("".join(parts))


def _is_apart(near: Piece, far: Piece) -> bool:
    """Whether there is a gap between `near` and `far`, or an overlap so wide that they are above each other."""
    gap = far.bbox.x0 - near.bbox.x1
    return gap > WORD_GAP_EM * far.size or gap < -OVERLAP_EM * max(near.size, far.size)


def make_blocks(rows: Sequence[Row]) -> list[RawBlock]:
    """Make blocks of text and tables from the rows of one column."""
    blocks: list[RawBlock] = []
    start = 0
    for first, last in _tables(rows):
        blocks.extend(_text_blocks(rows[start:first]))
        blocks.append(table(rows[first : last + 1]))
        start = last + 1
    return [*blocks, *_text_blocks(rows[start:])]


def _tables(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Yield the first and last row of each run with aligned cells."""
    run: list[int] = []
    for index, row in enumerate(rows):
        if len(row.cells) < 2:
            continue
        if run and (index - run[-1] > MAX_ROWS_BETWEEN + 1 or not _follows(rows[run[-1]], row)):
            if _is_table(rows, run):
                yield run[0], run[-1]
            run = []
        run.append(index)
    if _is_table(rows, run):
        yield run[0], run[-1]


def _follows(above: Row, row: Row) -> bool:
    return row.bbox.y0 - above.bbox.y1 < 6 * (row.bbox.y1 - row.bbox.y0)


def _is_table(rows: Sequence[Row], run: Sequence[int]) -> bool:
    if len(run) < MIN_TABLE_ROWS:
        return False
    aligned = sum(_is_aligned(rows[above], rows[below]) for above, below in pairwise(run))
    return aligned >= MIN_ALIGNED_ROWS * (len(run) - 1)


def _is_aligned(above: Row, below: Row) -> bool:
    """Whether a cell after the first is aligned with one above, left or right."""
    upper = [(cell[0].bbox.x0, cell[-1].bbox.x1) for cell in above.cells[1:]]
    lower = [(cell[0].bbox.x0, cell[-1].bbox.x1) for cell in below.cells[1:]]
    return any(abs(a0 - b0) < ALIGNED_PT or abs(a1 - b1) < ALIGNED_PT for a0, a1 in upper for b0, b1 in lower)


def table(rows: Sequence[Row]) -> RawBlock:
    """Make a table with a line per row."""
    lines = [RawLine(row.bbox, "\t".join(join(cell) for cell in row.cells)) for row in rows]
    return RawBlock(BlockKind.TABLE, lines, rows[0].size, False)


def with_headers(blocks: Iterable[RawBlock]) -> Iterator[RawBlock]:
    """Join tables to the column headers above them, which are often outside the rules."""
    above: RawBlock | None = None
    for block in blocks:
        if above is not None and _is_header(above, block):
            above = RawBlock(BlockKind.TABLE, above.lines + block.lines, block.size, False)
            continue
        if above is not None:
            yield above
        above = block
    if above is not None:
        yield above


def _is_header(above: RawBlock, table: RawBlock) -> bool:
    """Whether `above` is close above the columns of `table`, to the right of the first."""
    if table.kind is not BlockKind.TABLE or len(above.lines) > MAX_HEADER_LINES:
        return False
    head, body = bounds(line.bbox for line in above.lines), bounds(line.bbox for line in table.lines)
    return (
        -table.size < body.y0 - head.y1 < table.size
        and head.x0 > body.x0 + 0.15 * (body.x1 - body.x0)
        and head.x1 < body.x1 + ALIGNED_PT
    )


def _text_blocks(rows: Sequence[Row]) -> list[RawBlock]:
    blocks: list[RawBlock] = []
    right = max((row.bbox.x1 for row in rows), default=0.0)
    before: Row | None = None
    for row in rows:
        line = RawLine(row.bbox, join(row.pieces))
        if before is None or _begins_block(before, row, right):
            blocks.append(RawBlock(BlockKind.TEXT, [line], row.size, row.bold))
        else:
            blocks[-1].lines.append(line)
        before = row
    return blocks


def _begins_block(before: Row, row: Row, right: float) -> bool:
    if abs(before.size - row.size) > 0.08 * max(before.size, row.size) or before.bold != row.bold:
        return True
    em = row.size
    gap = row.bbox.y0 - before.bbox.y1
    if gap > PARAGRAPH_GAP_EM * em or gap < -2 * em:
        return True
    ended_early = before.bbox.x1 < right - 4 * em
    indented = row.bbox.x0 > before.bbox.x0 + 0.8 * em
    if indented:
        return ended_early or before.pieces[-1].text.endswith(_ENDS)
    return ended_early and gap > 0.3 * em

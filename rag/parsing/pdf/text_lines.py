"""From pieces to lines: what stands on one baseline is one line, and lines that hang together are one block."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rag.parsing.pdf import character_cleaning
from rag.parsing.pdf.text_runs import Piece
from rag.types import BlockKind, Rect

WORD_GAP_EM = 0.12
"""A gap wider than this between pieces is a space."""
OVERLAP_EM = 1.0
"""Pieces that overlap by more than this do not continue one another."""
CELL_GAP_EM = 1.0
"""A gap wider than this may part the cells of a table."""
COPY_PT = 1.0
"""Equal texts this close together are one, drawn twice."""
ALIGNED_PT = 4.0
"""Edges this close together are aligned."""
MIN_TABLE_ROWS = 3
MAX_ROWS_BETWEEN = 3
"""So many rows with a single cell may stand between two rows of a table: sub-headings, wrapped labels."""
MIN_ALIGNED_ROWS = 0.6
MAX_HEADER_LINES = 5
PARAGRAPH_GAP_EM = 0.65
"""More white than this between two lines begins a block."""
_ENDS = (".", ":", "?", "!", "”", "。", "؟")
_LEADS = re.compile(r"[$€£¥(–—-]+|[•●○▪■◦‣⁃*o§·]|\(?(\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]")
"""What belongs to the text after it, however wide the gap: signs of currencies, bullets and numbers of lists."""


class RawLine(NamedTuple):
    """A line before it is numbered."""

    bbox: Rect
    text: str


class RawBlock(NamedTuple):
    """A block before the document is known: `size` in points and `bold` are those of its text."""

    kind: BlockKind
    lines: list[RawLine]
    size: float
    bold: bool


class Row(NamedTuple):
    """Cells on one baseline, each of one or more pieces, left to right; and all its pieces."""

    cells: list[list[Piece]]
    pieces: list[Piece]
    bbox: Rect
    size: float
    """That of most of its text."""
    bold: bool
    """Whether all of it is."""


def make_rows(pieces: Sequence[Piece]) -> list[Row]:
    """`pieces` of one column put together by baseline, from top to bottom."""
    grouped: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: piece.bbox.y0 + piece.bbox.y1):
        if grouped and _is_level(grouped[-1][0].bbox, piece.bbox):
            grouped[-1].append(piece)
        else:
            grouped.append([piece])
    return [_make_row(group) for group in grouped]


def _is_level(first: Rect, other: Rect) -> bool:
    shared = min(first.y1, other.y1) - max(first.y0, other.y0)
    return 2 * shared >= min(first.y1 - first.y0, other.y1 - other.y0)


def _make_row(pieces: list[Piece]) -> Row:
    pieces.sort(key=lambda piece: piece.bbox.x0)
    cells = [[pieces[0]]]
    right = pieces[0].bbox.x1  # not the last piece's: a mark set over a line begins and ends within it
    for before, piece in pairwise(pieces):
        if _is_copy(before, piece):
            continue
        gap = piece.bbox.x0 - right
        if gap > CELL_GAP_EM * max(before.size, piece.size) and not _LEADS.fullmatch(before.text):
            cells.append([piece])
        else:
            cells[-1].append(piece)
        right = max(right, piece.bbox.x1)
    kept = [piece for cell in cells for piece in cell]
    size = max(kept, key=lambda piece: len(piece.text)).size
    return Row(cells, kept, bounds(piece.bbox for piece in pieces), size, all(piece.bold for piece in kept))


def _is_copy(before: Piece, piece: Piece) -> bool:
    """Whether the same text stands in the same place, as it does where bold type is made by drawing twice."""
    return (
        piece.text == before.text
        and abs(piece.bbox.x0 - before.bbox.x0) < COPY_PT
        and abs(piece.bbox.y0 - before.bbox.y0) < COPY_PT
    )


def bounds(boxes: Iterable[Rect]) -> Rect:
    """The box around all `boxes`, of which there is at least one."""
    box, *others = boxes
    if not others:
        return box
    x0, y0, x1, y1 = zip(box, *others, strict=True)
    return Rect(min(x0), min(y0), max(x1), max(y1))


def join(pieces: Sequence[Piece]) -> str:
    """The text of pieces on one baseline, in logical order."""
    if len(pieces) == 1:
        return character_cleaning.upright(pieces[0].text)
    backwards = character_cleaning.is_right_to_left("".join(piece.text for piece in pieces))
    ordered = list(reversed(pieces)) if backwards else list(pieces)
    parts = [ordered[0].text]
    for before, piece in pairwise(ordered):
        near, far = (before, piece) if before.bbox <= piece.bbox else (piece, before)
        if near.space_right or far.space_left or _is_apart(near, far):
            parts.append(" ")
        parts.append(piece.text)
    return character_cleaning.upright("".join(parts))


def _is_apart(near: Piece, far: Piece) -> bool:
    """Whether `far` does not begin where `near` ends: behind a gap, or so far before that it stands above or below."""
    gap = far.bbox.x0 - near.bbox.x1
    return gap > WORD_GAP_EM * far.size or gap < -OVERLAP_EM * max(near.size, far.size)


def make_blocks(rows: Sequence[Row]) -> list[RawBlock]:
    """The rows of one column as blocks of text and tables."""
    blocks: list[RawBlock] = []
    start = 0
    for first, last in _tables(rows):
        blocks.extend(_text_blocks(rows[start:first]))
        blocks.append(table(rows[first : last + 1]))
        start = last + 1
    return [*blocks, *_text_blocks(rows[start:])]


def _tables(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """First and last row of each stretch whose cells stand below one another."""
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
    """Whether a cell after the first one stands under another one, flush left or right."""
    upper = [(cell[0].bbox.x0, cell[-1].bbox.x1) for cell in above.cells[1:]]
    lower = [(cell[0].bbox.x0, cell[-1].bbox.x1) for cell in below.cells[1:]]
    return any(abs(a0 - b0) < ALIGNED_PT or abs(a1 - b1) < ALIGNED_PT for a0, a1 in upper for b0, b1 in lower)


def table(rows: Sequence[Row]) -> RawBlock:
    """A table with a line for each row."""
    lines = [RawLine(row.bbox, "\t".join(join(cell) for cell in row.cells)) for row in rows]
    return RawBlock(BlockKind.TABLE, lines, rows[0].size, False)


def with_headers(blocks: Iterable[RawBlock]) -> Iterator[RawBlock]:
    """`blocks`, each table joined to the column heads above it, which often stand outside its rules."""
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
    """Whether `above` stands close over the columns of `table`, to the right of its first one."""
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

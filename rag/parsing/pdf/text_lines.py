"""Join pieces on one baseline to lines, and lines to blocks and tables."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rag import tables, types
from rag.parsing.pdf import character_cleaning
from rag.parsing.pdf.text_runs import MAX_RAISED_SIZE, MIN_RISE_EM, Piece

WORD_GAP_EM = 0.12
"""Pieces with a wider gap are separated by a space."""
OVERLAP_EM = 1.0
"""Pieces with a larger overlap do not continue each other."""
CELL_GAP_EM = 1.0
"""A wider gap may separate table cells."""
FIGURE_GAP_EM = 0.45
"""A wider gap separates two figures."""
MIN_COLUMN_GAP_EM = 0.25
"""Pieces of different columns have at least this gap."""
ALIGNED_PT = 4.0
"""Tolerance for aligned edges."""
MIN_TABLE_ROWS = 3
MAX_ROWS_BETWEEN = 3
"""Rows with one cell, such as sub-headings and wrapped labels, that may separate two table rows."""
MAX_LABELS_BETWEEN = 8
"""The same for rows that do not reach the figures."""
MIN_ALIGNED_ROWS = 0.6
MAX_HEADER_LINES = 5
DESCENT_EM = 0.25
"""Usual depth of type below its baseline: the box of a piece does not tell its own."""
MAX_MARK_GAP_EM = 0.6
"""A raised mark stands no farther from the type that it belongs to."""
PARAGRAPH_GAP_EM = 0.65
"""A larger gap between lines begins a block."""
_ENDS = (".", ":", "?", "!", "”", "。", "؟")
SIGN = re.compile(r"(US|A|C|HK)?[$€£¥]|[(\[]+|(US|A|C|HK)?[$€£¥]\s?[(\[]")
"""Currency signs and opening brackets, which belong to the figure after them at any gap."""
CLOSING = re.compile(r"%|[)\]]+%?|%[)\]]+")
"""Percent signs and closing brackets, which belong to the figure before them."""
MAX_CLOSING_GAP_EM = 2.5
_LEAD = re.compile(r"[–—−-]+|[•●○▪■◦‣⁃*o§·☐☑☒]|\(?(\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]")
"""Bullets and list numbers, which belong to the text after them at any gap."""
_DASHES = frozenset("—–-")
_WORD = re.compile(r"[^\W\d_]{2}")


class RawLine(NamedTuple):
    """A line without a number. A row of a table has columns for its cells.

    `boxes` and `fields` are the boxes and texts of its cells, until it is known whether it belongs to a table.
    """

    bbox: types.Rect
    text: str
    boxes: tuple[types.Rect, ...] = ()
    fields: tuple[str, ...] = ()
    cells: tuple[types.TableCell, ...] = ()
    is_head: bool = False
    label: str = ""
    """The label of rows above that also spans this one."""


class RawBlock(NamedTuple):
    """A block of a page; `size` is in points. `columns` are the left and right ends of those of a table."""

    kind: types.BlockKind
    lines: list[RawLine]
    size: float
    bold: bool
    columns: tuple[tuple[float, float], ...] = ()


class Row(NamedTuple):
    """Cells on one baseline from left to right, each of one or more pieces."""

    cells: list[list[Piece]]
    pieces: list[Piece]
    bbox: types.Rect
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
    if len(pieces) == 1:  # the common case
        (piece,) = pieces
        return Row([pieces], pieces, piece.bbox, piece.size, piece.bold)
    pieces.sort(key=lambda piece: piece.bbox.x0)
    pieces = [_with_superscript(*near) for near in zip([None, *pieces], pieces, [*pieces[1:], None], strict=False)]
    cells = [[pieces[0]]]
    right = pieces[0].bbox.x1  # of all pieces so far: a mark set over a line ends within it
    for before, piece in pairwise(pieces):
        gap = piece.bbox.x0 - right
        size = max(before.size, piece.size)
        are_figures = gap > FIGURE_GAP_EM * size and _ends_in_digit(before) and _begins_with_digit(piece)
        if (are_figures or gap > CELL_GAP_EM * size) and not _belong_together(cells[-1], piece, len(cells), gap):
            cells.append([piece])
        else:
            cells[-1].append(piece)
        right = max(right, piece.bbox.x1)
    kept = [piece for cell in cells for piece in cell]
    size = max(kept, key=lambda piece: len(piece.text)).size
    return Row(cells, kept, bounds(piece.bbox for piece in pieces), size, all(piece.bold for piece in kept))


def _ends_in_digit(piece: Piece) -> bool:
    return piece.text.rstrip(")% ")[-1:].isdigit() or piece.text in _DASHES or CLOSING.fullmatch(piece.text) is not None


def _begins_with_digit(piece: Piece) -> bool:
    text = piece.text.lstrip("$€£¥([-–−")
    return text[:1].isdigit() or piece.text.strip("—–-") == "" or SIGN.fullmatch(piece.text) is not None


def _belong_together(cell: Sequence[Piece], piece: Piece, count: int, gap: float) -> bool:
    """Whether a piece belongs to the last cell before it, of `count` ones, in spite of the gap between them.

    A list number begins a row and stands before words: "(118)  (96)" are two figures, and "A.  B." two marks.
    """
    before = cell[-1].text
    if SIGN.fullmatch(before):
        return _begins_with_digit(piece)
    if CLOSING.fullmatch(piece.text):
        return gap < MAX_CLOSING_GAP_EM * piece.size and any(map(str.isdigit, before))
    is_first = count == 1 and len(cell) == 1
    return is_first and _LEAD.fullmatch(before) is not None and _WORD.search(piece.text) is not None


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


def bounds(boxes: Iterable[types.Rect]) -> types.Rect:
    """Return the box around all `boxes`, at least one."""
    box, *others = boxes
    if not others:
        return box
    x0, y0, x1, y1 = zip(box, *others, strict=True)
    return types.Rect(min(x0), min(y0), max(x1), max(y1))


def join(pieces: Sequence[Piece]) -> str:
    """Join the text of pieces on one baseline in logical order."""
    if len(pieces) == 1:
        return character_cleaning.correct_brackets(pieces[0].text)
    backwards = character_cleaning.is_right_to_left("".join(piece.text for piece in pieces))
    ordered = list(reversed(pieces)) if backwards else list(pieces)
    parts = [ordered[0].text]
    for before, piece in pairwise(ordered):
        near, far = (before, piece) if before.bbox <= piece.bbox else (piece, before)
        gap = far.bbox.x0 - near.bbox.x1
        is_apart = gap > WORD_GAP_EM * far.size or gap < -OVERLAP_EM * max(near.size, far.size)
        if near.space_right or far.space_left or is_apart:
            parts.append(" ")
        parts.append(piece.text)
    return character_cleaning.correct_brackets("".join(parts))


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
        is_near = row.bbox.y0 - rows[index - 1].bbox.y1 < 6 * (row.bbox.y1 - row.bbox.y0)
        if run and (not is_near or _are_apart(rows, run[-1], index)):
            yield from _table(rows, run)
            run = []
        run.append(index)
    yield from _table(rows, run)


def _are_apart(rows: Sequence[Row], last: int, index: int) -> bool:
    """Whether the rows between two rows with cells are text, and no sub-headings or wrapped labels."""
    between = rows[last + 1 : index]
    figures = min(rows[last].cells[1][0].bbox.x0, rows[index].cells[1][0].bbox.x0)
    wide = sum(row.bbox.x1 > figures for row in between)
    return wide > MAX_ROWS_BETWEEN or len(between) > MAX_LABELS_BETWEEN


def _table(rows: Sequence[Row], run: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last row of a table, with the lines of labels that continue it at its ends."""
    if len(run) < MIN_TABLE_ROWS:
        return
    found = [rows[index] for index in run]
    aligned = sum(any(_is_aligned(upper, row) for upper in found[max(0, i - 3) : i]) for i, row in enumerate(found))
    if aligned < MIN_ALIGNED_ROWS * (len(run) - 1):
        return
    first, last = run[0], run[-1]
    gaps = sorted(rows[index + 1].bbox.y0 - rows[index].bbox.y1 for index in range(first, last))
    gap = gaps[3 * len(gaps) // 4] + 0.15 * rows[first].size
    left = min(rows[index].bbox.x0 for index in run) - ALIGNED_PT
    right = min(rows[index].cells[1][0].bbox.x0 for index in run)

    def goes_on(outer: int, inner: int) -> bool:
        row, upper, lower = rows[outer], rows[min(outer, inner)], rows[max(outer, inner)]
        is_label = len(row.cells) == 1 and left < row.bbox.x0 and row.bbox.x1 < right
        return is_label and abs(row.size - rows[inner].size) < 0.5 and lower.bbox.y0 - upper.bbox.y1 <= gap

    begin, end = first, last
    while begin > 0 and goes_on(begin - 1, begin) and not rows[begin - 1].bold:
        begin -= 1
    while end + 1 < len(rows) and goes_on(end + 1, end):
        end += 1
    is_list = first - begin > MAX_LABELS_BETWEEN or end - last > MAX_ROWS_BETWEEN
    yield (first, last) if is_list else (begin, end)


def _is_aligned(upper: Row, lower: Row) -> bool:
    """Whether a text of a cell after the first is aligned with one above, or each cell is below another."""
    if any(abs(a - b) < ALIGNED_PT for a in _edges(upper) for b in _edges(lower)):
        return True
    is_alike = len(upper.cells) == len(lower.cells) > 2
    return is_alike and all(
        a[0].bbox.x0 < b[-1].bbox.x1 and b[0].bbox.x0 < a[-1].bbox.x1
        for a, b in zip(upper.cells[1:], lower.cells[1:], strict=True)
    )


def _edges(row: Row) -> list[float]:
    return [edge for cell in row.cells[1:] for piece in cell for edge in (piece.bbox.x0, piece.bbox.x1)]


def table(rows: Sequence[Row]) -> RawBlock:
    """Make a table with a line per row."""
    rows = _split_at_columns(rows)
    lines = [_as_row(_line(row)) for row in rows]
    return RawBlock(types.BlockKind.TABLE, lines, rows[0].size, False)


def _line(row: Row) -> RawLine:
    if len(row.cells) == 1:
        return RawLine(row.bbox, join(row.pieces), (row.bbox,))
    boxes = tuple(bounds(piece.bbox for piece in cell) for cell in row.cells)
    return RawLine(row.bbox, join(row.pieces), boxes, tuple(join(cell) for cell in row.cells))


def _as_row(line: RawLine) -> RawLine:
    text = "\t".join(line.fields) if line.fields else line.text
    return line._replace(text=text, cells=())  # columns of another grid


def _split_at_columns(rows: Sequence[Row]) -> list[Row]:
    """Split cells where their pieces are in different columns of the other rows, however near they are."""
    others = [[(cell[0].bbox.x0, cell[-1].bbox.x1) for cell in row.cells] for row in rows if len(row.cells) > 1]
    return [
        row._replace(cells=[part for cell in row.cells for part in _split_cell(cell, others)])
        if any(len(cell) > 1 for cell in row.cells)
        else row
        for row in rows
    ]


def _split_cell(cell: list[Piece], others: Sequence[Sequence[tuple[float, float]]]) -> list[list[Piece]]:
    parts = [[cell[0]]]
    for before, piece in pairwise(cell):
        if _parts_columns(before, piece, others):
            parts.append([])
        parts[-1].append(piece)
    return parts


def _parts_columns(before: Piece, piece: Piece, others: Sequence[Sequence[tuple[float, float]]]) -> bool:
    """Whether most rows with cells on both sides of the gap between two pieces have none across it."""
    gap = piece.bbox.x0 - before.bbox.x1
    if gap < MIN_COLUMN_GAP_EM * piece.size or SIGN.fullmatch(before.text) or CLOSING.fullmatch(piece.text):
        return False
    left, right = before.bbox.x1 - ALIGNED_PT, piece.bbox.x0 + ALIGNED_PT
    parted = across = 0
    for cells in others:
        if any(x0 < left and x1 > right for x0, x1 in cells):
            across += 1
        elif any(x0 < before.bbox.x1 and x1 > before.bbox.x0 for x0, x1 in cells) and any(
            x0 < piece.bbox.x1 and x1 > piece.bbox.x0 for x0, x1 in cells[1:]
        ):
            parted += 1
    return parted > 1 and parted > 2 * across


def with_headers(blocks: Iterable[RawBlock]) -> Iterator[RawBlock]:
    """Join tables to the rows and the column headers above them, which are often outside the rules."""
    joined: list[RawBlock] = []
    for block in reversed([*blocks]):
        below = joined[-1] if joined else None
        if below is not None and (_is_header(block, below) or _is_row_of(block, below)):
            joined[-1] = below._replace(lines=[*map(_as_row, block.lines), *below.lines])
        else:
            joined.append(block)
    yield from reversed(joined)


def _is_row_of(above: RawBlock, table: RawBlock) -> bool:
    """Whether lines right above a table are its first rows: they end in one with figures above those of the table."""
    if (
        table.kind is not types.BlockKind.TABLE
        or above.kind is not types.BlockKind.TEXT
        or len(above.lines) > MAX_HEADER_LINES
    ):
        return False
    last, first = above.lines[-1], table.lines[0]
    return (
        -0.2 * table.size < first.bbox.y0 - last.bbox.y1 < 0.6 * table.size
        and tables.is_data("\t".join(last.fields))
        and all(
            len(line.boxes) > 1
            and all(any(box.x0 < other.x1 and other.x0 < box.x1 for other in first.boxes[1:]) for box in line.boxes[1:])
            for line in above.lines
        )
    )


def _is_header(above: RawBlock, table: RawBlock) -> bool:
    """Whether `above` is close above the columns of `table`, to the right of the first."""
    if table.kind is not types.BlockKind.TABLE or len(above.lines) > MAX_HEADER_LINES:
        return False
    head, body = bounds(line.bbox for line in above.lines), bounds(line.bbox for line in table.lines)
    if above.columns and table.columns:
        left, right = above.columns[0][0] - table.columns[0][0], above.columns[-1][1] - table.columns[-1][1]
        if max(abs(left), abs(right)) >= ALIGNED_PT:
            return False  # two tables with rules of their own
    is_table = above.kind is types.BlockKind.TABLE and not any(tables.is_data(line.text) for line in above.lines)
    return (
        -table.size < body.y0 - head.y1 < (1.5 if is_table else 1) * table.size
        and (is_table or head.x0 > body.x0 + 0.15 * (body.x1 - body.x0))
        and head.x1 < body.x1 + ALIGNED_PT
    )


def _text_blocks(rows: Sequence[Row]) -> list[RawBlock]:
    blocks: list[RawBlock] = []
    right = max((row.bbox.x1 for row in rows), default=0.0)
    before: Row | None = None
    for row in rows:
        line = _line(row)
        if before is None or _begins_block(before, row, right):
            blocks.append(RawBlock(types.BlockKind.TEXT, [line], row.size, row.bold))
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

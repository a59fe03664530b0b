"""Arrange the rows of a table: which are heads, which columns each cell covers, which lines are one wrapped row.

Columns are found from the horizontal extents of the cells of the whole table: narrow cells first, since cells that
cover several columns are wider.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from itertools import pairwise, zip_longest
from statistics import median

from rag import tables, types
from rag.parsing.pdf.text_lines import RawBlock, RawLine, bounds

OVERLAP_PT = 1.5
"""A smaller overlap is none."""
NEAR_EM = 1.0
"""Parts of a column are closer together than this."""
TIGHT_EM = 0.12
"""Lines of one row are closer together than rows by at least this."""
MAX_GAP_EM = 0.6
"""Lines of one row are at most this far apart."""
UNCOVERED = 0.2
MAX_COLUMNS = 60
MAX_ROWS = 400
"""Larger tables keep their lines as they are."""
SAME_GAP_PT = 0.5
SLACK_PT = 3.0
"""How far a line of a wrapped head may reach beyond the next."""

Cell = types.TableCell


class _Column:
    """The horizontal extent of a column, and the rows in which it has a cell of its own."""

    def __init__(self, x0: float, x1: float, row: int) -> None:
        self.x0, self.x1 = x0, x1
        self.rows = {row}

    def add(self, x0: float, x1: float, rows: Iterable[int]) -> None:
        self.x0, self.x1 = min(self.x0, x0), max(self.x1, x1)
        self.rows.update(rows)


def arrange(block: RawBlock) -> RawBlock:
    """Return a table with its cells numbered by column, its head rows marked and its wrapped rows joined."""
    lines = block.lines
    heads = tables.find_heads(lines)
    columns = [_Column(x0, x1, 0) for x0, x1 in block.columns] or _find_columns(lines, heads)
    spans = [[*line.cells] or _spans(line, columns) for line in lines]
    for index in reversed(range(len(lines) - 1)):
        above, below = lines[index], lines[index + 1]
        if not (heads[index] and heads[index + 1]) or above.cells:
            continue
        is_wrapped = _is_wrapped_head(above, below, block.size)
        is_close = below.bbox.y0 - above.bbox.y1 <= TIGHT_EM * block.size
        if not (is_wrapped and is_close) and (repeated := _repeated(spans[index], below, spans[index + 1])):
            spans[index] = repeated
        elif not is_wrapped:
            spans[index] = _spread(above, columns, spans[index])
    made = [
        line._replace(cells=tuple(row), is_head=is_head) for line, row, is_head in zip(lines, spans, heads, strict=True)
    ]
    ruled = {index for index, line in enumerate(lines) if line.cells}
    joined = _join_wrapped(made, block.size, ruled) if len(lines) <= MAX_ROWS else made
    return block._replace(lines=joined, columns=tuple((column.x0, column.x1) for column in columns))


# --- columns ------------------------------------------------------------------------------------------


def _find_columns(lines: Sequence[RawLine], heads: Sequence[bool]) -> list[_Column]:
    cells = [
        (heads[row], box.x1 - box.x0, box, row)
        for row, line in enumerate(lines)
        if len(line.boxes) > 1 or not heads[row]
        for box in line.boxes
    ]
    columns: list[_Column] = []
    bridges: list[types.Rect] = []
    for is_head, _, box, row in sorted(cells, key=lambda cell: cell[:2]):
        touched = [column for column in columns if _overlap(box, column.x0, column.x1) > OVERLAP_PT]
        if not touched:
            columns.append(_Column(box.x0, box.x1, row))
        elif len(touched) == 1:
            touched[0].add(box.x0, box.x1, (row,))
        elif not is_head and len(lines[row].boxes) > 1:
            bridges.append(box)
    columns.sort(key=lambda column: column.x0)
    near = NEAR_EM * median(line.bbox.y1 - line.bbox.y0 for line in lines)

    def are_near(left: _Column, right: _Column) -> bool:
        """Whether the columns are close to each other, or a cell covers both."""
        return right.x0 - left.x1 < near or any(
            _overlap(box, left.x0, left.x1) > OVERLAP_PT < _overlap(box, right.x0, right.x1) for box in bridges
        )

    columns = _merged(columns, are_near)
    return _merged(columns, lambda left, right: _have_one_head(left, right, heads))[:MAX_COLUMNS]


def _overlap(box: types.Rect, x0: float, x1: float) -> float:
    return min(box.x1, x1) - max(box.x0, x0)


def _merged(columns: Sequence[_Column], are_one: Callable[[_Column, _Column], bool]) -> list[_Column]:
    """Join neighbours that are parts of one column: no row has a cell in each of them."""
    merged: list[_Column] = []
    for column in columns:
        before = merged[-1] if merged else None
        if before is not None and not before.rows & column.rows and are_one(before, column):
            before.add(column.x0, column.x1, column.rows)
        else:
            merged.append(column)
    return merged


def _have_one_head(left: _Column, right: _Column, heads: Sequence[bool]) -> bool:
    headed = [any(heads[row] for row in column.rows) for column in (left, right)]
    filled = [any(not heads[row] for row in column.rows) for column in (left, right)]
    return headed[0] != headed[1] and filled[0] != filled[1] and headed[0] != filled[0]


def _spans(line: RawLine, columns: Sequence[_Column]) -> list[Cell]:
    """Return the columns of each cell, from left to right without overlap; a figure has one, at its right end."""
    spans: list[Cell] = []
    free, last = 0, len(columns) - 1
    for index, (box, text) in enumerate(zip(line.boxes, line.text.split("\t"), strict=True)):
        touched = [
            number
            for number in range(min(free, last), last + 1)
            if _overlap(box, columns[number].x0, columns[number].x1) > OVERLAP_PT
        ]
        if index + 1 < len(line.boxes):
            following = line.boxes[index + 1].x0 - OVERLAP_PT
            touched = [number for number in touched if columns[number].x0 < following] or touched[:1]
        if not touched:
            touched = [
                max(range(min(free, last), last + 1), key=lambda at: _overlap(box, columns[at].x0, columns[at].x1))
            ]
        if tables.is_amount(text):
            touched = touched[-1:]
        spans.append(Cell(touched[0], touched[-1]))
        free = touched[-1] + 1
    return spans


def _is_wrapped_head(above: RawLine, below: RawLine, size: float) -> bool:
    """Whether each cell goes on in the cell below it: close to it, and above no other."""
    gap = below.bbox.y0 - above.bbox.y1
    if gap > MAX_GAP_EM * size:
        return False
    near = [[box for box in below.boxes if _overlap(box, cell.x0, cell.x1) > 0] for cell in above.boxes]
    if gap > TIGHT_EM * size:
        return all(
            len(boxes) == 1 and boxes[0].x0 <= cell.x0 + SLACK_PT and cell.x1 <= boxes[0].x1 + SLACK_PT
            for cell, boxes in zip(above.boxes, near, strict=True)
        )
    return all(len(boxes) == 1 for boxes in near)


def _repeated(heads: list[Cell], below: RawLine, spans: Sequence[Cell]) -> list[Cell] | None:
    """Return the columns of heads above a row that names the same columns below each of them."""
    named = [(text, span) for text, span in zip(below.text.split("\t"), spans, strict=True) if span.first > 0]
    corner = heads[:1] if heads[0].first == heads[0].last == 0 else []
    count = len(heads) - len(corner)
    each, rest = divmod(len(named), count) if count > 1 else (0, 1)
    texts = [text for text, _ in named]
    if rest or each < 2 or len(set(texts)) < each or texts != texts[:each] * count:
        return None
    return [
        *corner,
        *(Cell(named[at][1].first, named[at + each - 1][1].last) for at in range(0, len(named), each)),
    ]


def _spread(line: RawLine, columns: Sequence[_Column], spans: list[Cell]) -> list[Cell]:
    """Return the columns below each of the upper heads: groups of columns that are centred or aligned below them.

    The best placing of the heads on the columns from left to right; a column without a head costs a share of the usual
    distance of columns.
    """
    first = 1 if spans[0].first > 0 else 0
    count, cells = len(columns), line.boxes
    if len(cells) > count - first:
        return spans
    # the usual distance of two columns
    pitch = median(after.x1 - before.x1 for before, after in pairwise(columns[1:])) if count > 2 else 0.0
    best: dict[tuple[int, int], tuple[float, list[Cell]]] = {(0, first): (0.0, [])}
    for placed in range(len(cells) + 1):
        for start in range(first, count):
            cost, found = best.get((placed, start), (None, []))
            if cost is None:
                continue
            _improve(best, (placed, start + 1), cost + UNCOVERED * pitch, found)
            if placed == len(cells):
                continue
            for end in range(start + 1, count + 1):
                x0, x1 = columns[start].x0, columns[end - 1].x1
                ends = [(x0, x1), (min(x0, columns[start].x1 - pitch), x1)] if start else [(x0, x1)]
                more = min(_distance(cells[placed], *pair) for pair in ends)
                _improve(best, (placed + 1, end), cost + more, [*found, Cell(start, end - 1)])
    return best.get((len(cells), count), (0.0, spans))[1]


def _improve(
    best: dict[tuple[int, int], tuple[float, list[Cell]]],
    state: tuple[int, int],
    cost: float,
    found: list[Cell],
) -> None:
    if state not in best or cost < best[state][0]:
        best[state] = (cost, found)


def _distance(box: types.Rect, x0: float, x1: float) -> float:
    """Return how far a head is from being centred, or aligned left or right, above columns; it is hardly wider."""
    beyond = max(0.0, x0 - box.x0) + max(0.0, box.x1 - x1)
    centred = abs(box.x0 + box.x1 - x0 - x1) / 2
    return min(centred, abs(box.x0 - x0), abs(box.x1 - x1)) + beyond


# --- wrapped rows -------------------------------------------------------------------------------------


def _join_wrapped(lines: Sequence[RawLine], size: float, ruled: Container[int]) -> list[RawLine]:
    """Join rows whose cells were wrapped: a label above or below its figures, and text that goes on in its column.

    Rows between rules, those with the numbers `ruled`, are whole.
    """
    usual = _usual_gap(lines)
    joined: list[RawLine] = []
    for index, (line, following) in enumerate(zip_longest(lines, lines[1:])):
        is_whole = index in ruled or index - 1 in ruled or line.is_head
        above = joined[-1] if joined and not joined[-1].is_head and not is_whole else None
        if above and _is_wrapped(above, line, usual, size) and not _begins_row(above, line, following):
            joined[-1] = _join(above, line)
        else:
            joined.append(line)
    return joined


def _begins_row(above: RawLine, line: RawLine, following: RawLine | None) -> bool:
    """Whether a label without figures below a full row belongs to the next row: that is as near, or nearer."""
    if following is None or following.is_head or not _is_full(above) or len(line.cells) > 1 or line.cells[0].first:
        return False
    nearer = (line.bbox.y0 - above.bbox.y1) - (following.bbox.y0 - line.bbox.y1)
    return nearer > SAME_GAP_PT or (abs(nearer) <= SAME_GAP_PT and not line.text[:1].islower())


def _usual_gap(lines: Sequence[RawLine]) -> float | None:
    """Return the usual gap between two rows with labels and figures; None if there are too few."""
    gaps = [
        below.bbox.y0 - above.bbox.y1
        for above, below in pairwise(lines)
        if not above.is_head and _is_full(above) and _is_full(below)
    ]
    return median(gaps) if gaps else None


def _is_full(line: RawLine) -> bool:
    return len(line.cells) > 1 and line.cells[0].first == 0


def _is_wrapped(above: RawLine, below: RawLine, usual: float | None, size: float) -> bool:
    if _is_full(above) and _is_full(below):
        return False
    gap = below.bbox.y0 - above.bbox.y1
    if gap > MAX_GAP_EM * size or not _fit(above, below):
        return False
    if gap < -TIGHT_EM * size or (usual is not None and gap < usual - TIGHT_EM * size):
        return True
    if usual is not None and gap > usual + TIGHT_EM * size:
        return False
    upper, lower = above.text.split("\t")[0], below.text.split("\t")[0]
    is_label = above.cells[0].first == below.cells[0].first == 0
    return is_label and lower[:1].islower() and upper[-1:] not in ".:;"


def _fit(above: RawLine, below: RawLine) -> bool:
    """Whether two lines may be one row: figures are not below figures."""
    common = {cell.first for cell in above.cells} & {cell.first for cell in below.cells}
    texts = [
        text
        for line in (above, below)
        for cell, text in zip(line.cells, line.text.split("\t"), strict=True)
        if cell.first in common
    ]
    return not any(map(tables.is_amount, texts))


def _join(above: RawLine, below: RawLine) -> RawLine:
    parts: dict[int, tuple[Cell, list[str], list[types.Rect]]] = {}
    for line in (above, below):
        for cell, text, box in zip(line.cells, line.text.split("\t"), line.boxes, strict=True):
            part = parts.setdefault(cell.first, (cell, [], []))
            part[1].append(text)
            part[2].append(box)
    ordered = [parts[first] for first in sorted(parts)]
    return RawLine(
        bounds((above.bbox, below.bbox)),
        "\t".join(" ".join(texts) for _, texts, _ in ordered),
        tuple(bounds(boxes) for _, _, boxes in ordered),
        cells=tuple(cell for cell, _, _ in ordered),
    )

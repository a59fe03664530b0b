"""Ruled tables, from the lines drawn around their cells.

PyMuPDF's `find_tables` takes 120 to 270 ms a page and would be most of the cost of parsing. The rules come with
the page's text for next to nothing, and where they cross there are cells.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rag.parsing.pdf import text_lines
from rag.parsing.pdf.text_runs import Piece, Rule
from rag.types import BlockKind, Rect

THICKNESS_PT = 3.0
"""A drawn box thinner than this is a line."""
MIN_RULE_PT = 8.0
MAX_SHARE = 0.7
"""A box larger than this share of the page is its background or frame."""
TOUCH_PT = 3.0
"""Rules this close together cross, or are one rule."""
MAX_RULES = 800
"""More rules than this are a drawing."""
MAX_CELL_CHARS = 1500
"""A box with more text than this lays out the page and is no cell."""
MIN_FILLED_ROWS = 0.4
"""At least this share of the rows has two or more cells with text."""
MAX_WRAPPED_LINES = 4
"""Two cells side by side with more lines than this may hold several rows between which no rule is drawn."""


class Grid(NamedTuple):
    """A table: its box, its text, and its rows. `order` is that of its first piece."""

    bbox: Rect
    text: str
    order: int
    block: text_lines.RawBlock


class _Edge(NamedTuple):
    """A rule as a line: where it is on the other axis, and from where to where it goes."""

    at: float
    start: float
    end: float


def find_grids(pieces: Sequence[Piece], rules: Sequence[Rule], page_box: Rect) -> tuple[list[Grid], list[Piece]]:
    """The ruled tables of a page, and the pieces outside them."""
    across, down = _edges(rules, page_box)
    if len(across) < 2 or len(down) < 2 or len(across) + len(down) > MAX_RULES:
        return [], list(pieces)
    grids: list[Grid] = []
    rest = list(pieces)
    for across_group, down_group in _components(across, down):
        xs = _positions(down_group, across_group)
        ys = _positions(across_group, down_group)
        if len(xs) < 3 or len(ys) < 2:
            continue
        grid = _make_grid(rest, xs, ys)
        if grid is not None:
            grids.append(grid)
            rest = [piece for piece in rest if not _is_within(piece, xs, ys)]
    return grids, rest


def _edges(rules: Sequence[Rule], page_box: Rect) -> tuple[list[_Edge], list[_Edge]]:
    """Horizontal and vertical edges; a rectangle has two of each. Frames and backgrounds of the page are none."""
    across: list[_Edge] = []
    down: list[_Edge] = []
    frame = MAX_SHARE * (page_box.x1 - page_box.x0) * (page_box.y1 - page_box.y0)
    for (x0, y0, x1, y1), is_rectangle in rules:
        width, height = x1 - x0, y1 - y0
        if width * height > frame:
            continue
        if height <= THICKNESS_PT:
            across.append(_Edge((y0 + y1) / 2, x0, x1))
        elif width <= THICKNESS_PT:
            down.append(_Edge((x0 + x1) / 2, y0, y1))
        elif is_rectangle:
            across += [_Edge(y0, x0, x1), _Edge(y1, x0, x1)]
            down += [_Edge(x0, y0, y1), _Edge(x1, y0, y1)]
        if len(across) + len(down) > 4 * MAX_RULES:
            return [], []
    return _joined(across), _joined(down)


def _joined(edges: Iterable[_Edge]) -> list[_Edge]:
    """Edges on one line that touch become one; short ones are dropped."""
    joined: list[_Edge] = []
    lines: dict[int, list[_Edge]] = defaultdict(list)
    for edge in edges:
        lines[round(edge.at)].append(edge)
    for line in lines.values():
        line.sort(key=lambda edge: edge.start)
        at, start, end = line[0]
        for edge in line[1:]:
            if edge.start > end + TOUCH_PT:
                joined.append(_Edge(at, start, end))
                at, start, end = edge
            elif edge.end > end:
                end = edge.end
        joined.append(_Edge(at, start, end))
    return [edge for edge in joined if edge.end - edge.start >= MIN_RULE_PT]


def _components(across: Sequence[_Edge], down: Sequence[_Edge]) -> list[tuple[list[_Edge], list[_Edge]]]:
    """Edges that cross, directly or through others, together."""
    parent = list(range(len(across) + len(down)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    by_place = sorted(range(len(down)), key=lambda index: down[index].at)
    places = [down[index].at for index in by_place]
    for i, (at, start, end) in enumerate(across):
        for index in by_place[bisect_left(places, start - TOUCH_PT) : bisect_right(places, end + TOUCH_PT)]:
            if down[index].start - TOUCH_PT <= at <= down[index].end + TOUCH_PT:
                parent[root(i)] = root(len(across) + index)
    groups: dict[int, tuple[list[_Edge], list[_Edge]]] = defaultdict(lambda: ([], []))
    for i, edge in enumerate(across):
        groups[root(i)][0].append(edge)
    for j, edge in enumerate(down, start=len(across)):
        groups[root(j)][1].append(edge)
    return list(groups.values())


def _positions(edges: Sequence[_Edge], crossing: Sequence[_Edge]) -> list[float]:
    """Where the edges of a table are, along the axis on which the edges `crossing` them run.

    Edges much shorter than the longest divide few cells and are left out. Many tables are open at their sides:
    they go as far as the edges that cross.
    """
    lengths: list[tuple[float, float]] = []
    for edge in sorted(edges):
        if lengths and edge.at - lengths[-1][0] <= TOUCH_PT:
            lengths[-1] = (lengths[-1][0], lengths[-1][1] + edge.end - edge.start)
        else:
            lengths.append((edge.at, edge.end - edge.start))
    longest = max((length for _, length in lengths), default=0.0)
    positions = [at for at, length in lengths if length >= 0.25 * longest]
    if positions and crossing:
        first, last = min(edge.start for edge in crossing), max(edge.end for edge in crossing)
        if first < positions[0] - TOUCH_PT:
            positions.insert(0, first)
        if last > positions[-1] + TOUCH_PT:
            positions.append(last)
    return positions


def _is_within(piece: Piece, xs: Sequence[float], ys: Sequence[float]) -> bool:
    x, y = (piece.bbox.x0 + piece.bbox.x1) / 2, (piece.bbox.y0 + piece.bbox.y1) / 2
    return xs[0] <= x <= xs[-1] and ys[0] <= y <= ys[-1]


def _make_grid(pieces: Sequence[Piece], xs: Sequence[float], ys: Sequence[float]) -> Grid | None:
    """The table with column edges `xs` and row edges `ys`, or None if its text does not look like one."""
    cells: dict[int, dict[int, list[Piece]]] = defaultdict(lambda: defaultdict(list))
    inside = [piece for piece in pieces if _is_within(piece, xs, ys)]
    for piece in inside:
        row = bisect_right(ys, (piece.bbox.y0 + piece.bbox.y1) / 2)
        column = bisect_right(xs, (piece.bbox.x0 + piece.bbox.x1) / 2)
        cells[row][column].append(piece)
    filled = sum(len(columns) > 1 for columns in cells.values())
    if not filled or filled < MIN_FILLED_ROWS * len(cells):
        return None
    if any(_length(cell) > MAX_CELL_CHARS for columns in cells.values() for cell in columns.values()):
        return None
    lines = [line for row in sorted(cells) for line in _row_lines(cells[row])]
    if len(lines) < 2:
        return None
    box = text_lines.bounds(line.bbox for line in lines)
    block = text_lines.RawBlock(BlockKind.TABLE, lines, inside[0].size, False)
    return Grid(box, "", min(piece.order for piece in inside), block)


def _length(cell: Sequence[Piece]) -> int:
    return sum(len(piece.text) for piece in cell)


def _row_lines(columns: Mapping[int, list[Piece]]) -> list[text_lines.RawLine]:
    """The row's line, or several if it holds rows between which no rule is drawn."""
    cells = [text_lines.make_rows(columns[column]) for column in sorted(columns)]
    if not (any(_is_list(cell) for cell in cells) or _side_by_side(cells)):
        return [_line(cells)]
    column_of = {piece.order: column for column, pieces in columns.items() for piece in pieces}
    return [
        _line(_recut(row, column_of))
        for row in text_lines.make_rows([piece for cell in columns.values() for piece in cell])
    ]


def _is_list(cell: Sequence[text_lines.Row]) -> bool:
    """Whether the lines of a cell are entries of their own, not wrapped text: in columns, or all of them numbers."""
    if any(len(row.cells) > 1 for row in cell):
        return True
    return len(cell) > 1 and all(_is_number(text_lines.join(row.pieces)) for row in cell)


def _side_by_side(cells: Sequence[Sequence[text_lines.Row]]) -> bool:
    """Whether two cells have many lines, and nearly as many: rows between which no rule is drawn."""
    *_, second, first = sorted([0, *map(len, cells)])
    return second > MAX_WRAPPED_LINES and second > 0.6 * first


def _is_number(entry: str) -> bool:
    return any(map(str.isdigit, entry)) and sum(map(str.isalpha, entry)) <= 3


def _recut(row: text_lines.Row, column_of: Mapping[int, int]) -> list[list[text_lines.Row]]:
    """The cells of a row on one baseline, cut at the table's columns and at wide gaps."""
    columns: dict[int, list[Piece]] = defaultdict(list)
    for piece in row.pieces:
        columns[column_of[piece.order]].append(piece)
    parts = [part for column in sorted(columns) for part in text_lines.make_rows(columns[column])]
    return [text_lines.make_rows(cell) for part in parts for cell in part.cells]


def _line(cells: Sequence[Sequence[text_lines.Row]]) -> text_lines.RawLine:
    box = text_lines.bounds(row.bbox for cell in cells for row in cell)
    return text_lines.RawLine(box, "\t".join(" ".join(text_lines.join(row.pieces) for row in cell) for cell in cells))

"""Find ruled tables by the lines around their cells.

PyMuPDF's `find_tables` takes 120 to 270 ms a page and would dominate parsing; the rules come with the page's text at
next to no cost.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from rag import tables, types
from rag.parsing.pdf import text_lines
from rag.parsing.pdf.text_runs import Piece, Rule

THICKNESS_PT = 3.0
"""Thinner boxes are lines."""
MIN_RULE_PT = 8.0
MAX_SHARE = 0.7
"""Boxes of a larger share of the page are backgrounds or frames."""
TOUCH_PT = 3.0
"""Rules this close together touch."""
MAX_RULES = 800
"""More rules make a drawing."""
MAX_CELL_CHARS = 1500
"""A box with more text is part of the page's layout, not a cell."""
MIN_FILLED_ROWS = 0.4
"""Least share of rows with two or more filled cells."""
MAX_WRAPPED_LINES = 4
"""Adjacent cells with more lines may hold several rows without rules between them."""


_BEGINS_FIGURE = re.compile(r"[(\[]?[-–−]?[\d.]|[—–-]$")


class Table(NamedTuple):
    """A table, as an item in reading order: `text` is empty, `order` is that of its first piece."""

    bbox: types.Rect
    text: str
    order: int
    block: text_lines.RawBlock


class _Edge(NamedTuple):
    """A rule from `start` to `end` at position `at` of the other axis."""

    at: float
    start: float
    end: float


def find_ruled_tables(
    pieces: Sequence[Piece], rules: Sequence[Rule], page_box: types.Rect
) -> tuple[list[Table], list[Piece]]:
    """Return the ruled tables of a page, and the pieces outside them."""
    across, down = _edges(rules, page_box)
    if len(across) < 2 or len(down) < 2 or len(across) + len(down) > MAX_RULES:
        return [], list(pieces)
    tables: list[Table] = []
    rest = list(pieces)
    for across_group, down_group in _components(across, down):
        xs = _positions(down_group, across_group)
        ys = _positions(across_group, down_group)
        if len(xs) < 3 or len(ys) < 2:
            continue
        table = _make_table(rest, xs, ys, across_group, down_group)
        if table is not None:
            tables.append(table)
            rest = [piece for piece in rest if not _is_within(piece, xs, ys)]
    return tables, rest


def _edges(rules: Sequence[Rule], page_box: types.Rect) -> tuple[list[_Edge], list[_Edge]]:
    """Return horizontal and vertical edges, two of each per rectangle, without page frames and backgrounds."""
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
    return _join_edges(across), _join_edges(down)


def _join_edges(edges: Iterable[_Edge]) -> list[_Edge]:
    """Join touching edges on one line and drop short ones."""
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
    """Return the positions of a table's parallel edges.

    Edges much shorter than the longest are ignored. Tables open at their sides end where the `crossing` edges end.
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


def _make_table(
    pieces: Sequence[Piece], xs: Sequence[float], ys: Sequence[float], across: Sequence[_Edge], down: Sequence[_Edge]
) -> Table | None:
    """Make the table with column edges `xs`, row edges `ys` and its rules; None if its text is not tabular."""
    cells: dict[int, dict[int, list[Piece]]] = defaultdict(lambda: defaultdict(list))
    inside = [piece for piece in pieces if _is_within(piece, xs, ys)]
    for piece in inside:
        row = bisect_right(ys, (piece.bbox.y0 + piece.bbox.y1) / 2)
        column = bisect_right(xs, (piece.bbox.x0 + piece.bbox.x1) / 2)
        cells[row][column].append(piece)
    before = {column for columns in cells.values() for column in columns}
    for columns in cells.values():
        _join_signs(columns)
    of_signs = before.difference(*cells.values())
    filled = sum(len(columns) > 1 for columns in cells.values())
    if not filled or filled < MIN_FILLED_ROWS * len(cells):
        return None
    texts = (sum(len(piece.text) for piece in cell) for columns in cells.values() for cell in columns.values())
    if max(texts) > MAX_CELL_CHARS:
        return None
    rules_at = [[edge for edge in down if abs(edge.at - x) <= TOUCH_PT] for x in xs]
    lines = [
        line._replace(label=_label_over(row, cells, xs, ys, across))
        for row in sorted(cells)
        for line in _row_lines(cells[row], _merged_cells(row, cells[row], rules_at, ys))
    ]
    if len(lines) < 2 and max(piece.bbox.y1 for piece in pieces) > ys[-1]:
        return None  # one row is a table only at the end of the page
    box = text_lines.bounds(line.bbox for line in lines)
    used = {cell.first for line in lines for cell in line.cells}
    figures = sum(tables.is_data(line.text) for line in lines)
    if used and len(used) < len(xs) - 2 - len(of_signs) and 3 * figures >= len(lines):
        return None  # a table of figures whose boxes are no cells but shaded parts of rows: many columns are empty
    block = text_lines.RawBlock(types.BlockKind.TABLE, lines, inside[0].size, False, tuple(pairwise(xs)))
    return Table(box, "", min(piece.order for piece in inside), block)


def _join_signs(columns: dict[int, list[Piece]]) -> None:
    """Move signs with a column of their own, "$" and ")", to the figure beside them."""
    for before, column in pairwise(sorted(columns)):
        (sign, *more), figure = columns[before], columns[column]
        if not more and text_lines.SIGN.fullmatch(sign.text) and _BEGINS_FIGURE.match(figure[0].text):
            gap = "" if sign.text[-1] in "([" else " "
            figure[0] = _joined(sign, figure[0], f"{sign.text}{gap}{figure[0].text}")
            del columns[before]
    numbers = sorted(columns)
    for before, column in pairwise(numbers):
        (sign, *more), figure = columns[column], columns.get(before, [])
        if figure and not more and text_lines.CLOSING.fullmatch(sign.text) and figure[-1].text[-1:].isdigit():
            figure[-1] = _joined(sign, figure[-1], figure[-1].text + sign.text)
            del columns[column]


def _joined(sign: Piece, figure: Piece, text: str) -> Piece:
    return figure._replace(text=text, bbox=sign.bbox.union(figure.bbox))


def _merged_cells(
    row: int, filled: Mapping[int, object], rules_at: Sequence[Sequence[_Edge]], ys: Sequence[float]
) -> dict[int, types.TableCell]:
    """Return the columns of each filled cell of a row: between the rules beside it, or other filled cells."""
    middle = (ys[row - 1] + ys[min(row, len(ys) - 1)]) / 2
    is_ruled = [any(edge.start <= middle <= edge.end for edge in edges) for edges in rules_at]
    last = len(rules_at) - 1
    merged: dict[int, types.TableCell] = {}
    for column in filled:
        left, right = column - 1, min(column, last)
        while left > 0 and not is_ruled[left] and left not in filled:
            left -= 1
        while right < last and not is_ruled[right] and right + 1 not in filled:
            right += 1
        merged[column] = types.TableCell(left, right - 1)
    return merged


def _label_over(
    row: int,
    cells: Mapping[int, Mapping[int, Sequence[Piece]]],
    xs: Sequence[float],
    ys: Sequence[float],
    across: Sequence[_Edge],
) -> str:
    """Return the label that spans this row from above: no rule in the first column parts them."""
    middle = (xs[0] + xs[1]) / 2
    first = 1
    if first in cells[row]:
        return ""
    for above in range(row - 1, 0, -1):
        edge = ys[above]
        if any(abs(rule.at - edge) <= TOUCH_PT and rule.start <= middle <= rule.end for rule in across):
            return ""
        if first in cells.get(above, {}):
            return " ".join(text_lines.join(line.pieces) for line in text_lines.make_rows(cells[above][first]))
    return ""


def _row_lines(columns: Mapping[int, list[Piece]], merged: Mapping[int, types.TableCell]) -> list[text_lines.RawLine]:
    """Return the row's line, or several, without columns, if it holds rows without rules between them."""
    cells = [text_lines.make_rows(columns[column]) for column in sorted(columns)]
    has_columns = any(len(row.cells) > 1 for cell in cells for row in cell)
    # two cells with many lines and nearly as many are rows without rules
    *_, second, first = sorted([0, *map(len, cells)])
    are_side_by_side = second > MAX_WRAPPED_LINES and second > 0.6 * first
    if sum(map(_is_list, cells)) < 2 and not has_columns and not are_side_by_side:
        return [_line(cells)._replace(cells=tuple(merged[column] for column in sorted(columns)))]
    column_of = {piece.order: column for column, pieces in columns.items() for piece in pieces}
    return [
        _line(_split_cells(row, column_of))
        for row in text_lines.make_rows([piece for cell in columns.values() for piece in cell])
    ]


def _is_list(cell: Sequence[text_lines.Row]) -> bool:
    """Whether the lines of a cell are separate numbers, instead of wrapped text."""
    texts = [text_lines.join(row.pieces) for row in cell] if len(cell) > 1 else []
    return bool(texts) and all(any(map(str.isdigit, text)) and sum(map(str.isalpha, text)) <= 3 for text in texts)


def _split_cells(row: text_lines.Row, column_of: Mapping[int, int]) -> list[list[text_lines.Row]]:
    """Split a row on one baseline at the table's columns and at wide gaps."""
    columns: dict[int, list[Piece]] = defaultdict(list)
    for piece in row.pieces:
        columns[column_of[piece.order]].append(piece)
    parts = [part for column in sorted(columns) for part in text_lines.make_rows(columns[column])]
    return [text_lines.make_rows(cell) for part in parts for cell in part.cells]


def _line(cells: Sequence[Sequence[text_lines.Row]]) -> text_lines.RawLine:
    boxes = tuple(text_lines.bounds(row.bbox for row in cell) for cell in cells)
    text = "\t".join(" ".join(text_lines.join(row.pieces) for row in cell) for cell in cells)
    return text_lines.RawLine(text_lines.bounds(boxes), text, boxes)

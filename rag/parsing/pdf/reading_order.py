"""Put the content of a page in reading order, column by column.

Pages are split at gutters between columns of running text. Items across a gutter, such as titles and wide captions,
divide the page into bands, in each of which the left column is read before the right one. Gaps between the columns of
tables are no gutters, as numbers and short entries belong to their rows.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

from rag import types


class Item(Protocol):
    """A box with text on the page."""

    @property
    def bbox(self) -> types.Rect:
        """Its box."""

    @property
    def text(self) -> str:
        """Its text; empty for tables."""

    @property
    def order(self) -> int:
        """Its index in the order of drawing."""


I = TypeVar("I", bound=Item)  # noqa: E741  # the type variable of a few pure functions

MAX_DEPTH = 6
MIN_COLUMN_LINES = 3
EDGE_STEP_PT = 2.0
"""Left edges this close together count as one."""
OVERHANG_PT = 1.5
"""How far lines may reach into the gutter."""
PROSE_CHARS = 15
"""A column is prose if most of its characters are in runs at least this long."""
INTERLEAVED_PROSE_CHARS = 30
"""The same if the file draws left and right alternately, as it does table cells."""
MIN_LETTERS = 0.6
MAX_CANDIDATES = 12


def reading_order(items: Sequence[I], depth: int = 0) -> list[list[I]]:
    """Group `items` in reading order; each group is read row by row."""
    gutter = find_gutter(items) if depth < MAX_DEPTH else None
    if gutter is None:
        return [list(items)] if items else []
    groups: list[list[I]] = []
    for band in _bands(items, gutter):
        groups.extend(reading_order(band, depth + 1) if len(band) < len(items) else [band])
    return groups


def find_gutter(items: Sequence[Item]) -> float | None:
    """Return the x of the gutter that best separates two columns of prose, or None."""
    if len(items) < 2 * MIN_COLUMN_LINES:
        return None
    edges: dict[int, float] = {}
    counts: Counter[int] = Counter()
    for item in items:
        step = int(item.bbox.x0 // EDGE_STEP_PT)
        counts[step] += 1
        edges[step] = min(edges.get(step, item.bbox.x0), item.bbox.x0)
    leftmost = min(edges.values())
    frequent = [edges[step] for step, count in counts.most_common(MAX_CANDIDATES) if count >= MIN_COLUMN_LINES]
    scores = {x: _score(items, x) for x in frequent if x > leftmost + 20}
    best = max(scores, key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] > 0 else None


def _score(items: Sequence[Item], x: float) -> float:
    """Score a gutter left of `x` by the items beside it less those across it; 0 if it separates no columns."""
    left = [item for item in items if item.bbox.x1 <= x + OVERHANG_PT]
    right = [item for item in items if item.bbox.x0 >= x - OVERHANG_PT]
    across = len(items) - len(left) - len(right)
    if min(len(left), len(right)) < MIN_COLUMN_LINES or across > len(left) + len(right):
        return 0.0
    few, many = sorted((left, right), key=len)
    top, bottom = min(item.bbox.y0 for item in many), max(item.bbox.y1 for item in many)
    beside = sum(top <= _middle(item) <= bottom for item in few)
    if beside < MIN_COLUMN_LINES:
        return 0.0
    # a file that draws left and right in turns draws the cells of a table
    sides = sorted([(item.order, 0) for item in left] + [(item.order, 1) for item in right])
    turns = sum(before[1] != after[1] for before, after in pairwise(sides))
    prose = PROSE_CHARS if turns <= 0.5 * beside + 2 else INTERLEAVED_PROSE_CHARS
    if not (_is_prose(left, prose) and _is_prose(right, prose)):
        return 0.0
    return beside - 0.5 * across


def _is_prose(items: Sequence[Item], run: int) -> bool:
    total = sum(len(item.text) for item in items)
    in_runs = sum(len(item.text) for item in items if len(item.text) >= run)
    if 2 * in_runs < total:
        return False
    letters = sum(sum(map(str.isalpha, item.text)) for item in items)
    return letters >= MIN_LETTERS * total


def _bands(items: Sequence[I], x: float) -> list[list[I]]:
    """Split `items` into bands from top to bottom: left of `x`, right of `x`, across it, and so on."""
    strips = _strips_across(
        [item for item in items if item.bbox.x0 < x - OVERHANG_PT and item.bbox.x1 > x + OVERHANG_PT]
    )
    bands: list[list[I]] = []
    columns: tuple[list[I], list[I]] = ([], [])
    level: list[I] = []

    def end(kept: list[I]) -> None:
        if kept:
            bands.append(list(kept))
            kept.clear()

    index = 0
    for item in sorted(items, key=_middle):
        while index < len(strips) and _middle(item) > strips[index][1]:
            index += 1
        if index < len(strips) and _middle(item) >= strips[index][0]:
            end(columns[0])
            end(columns[1])
            level.append(item)
        else:
            end(level)
            columns[item.bbox.x0 >= x - OVERHANG_PT].append(item)
    for rest in (*columns, level):
        end(rest)
    return bands


def _strips_across(across: Sequence[Item]) -> list[tuple[float, float]]:
    """Return top and bottom of the items that lie across a gutter, overlapping ones united."""
    strips: list[tuple[float, float]] = []
    for item in sorted(across, key=lambda item: item.bbox.y0):
        inset = 0.2 * (item.bbox.y1 - item.bbox.y0)
        top, bottom = item.bbox.y0 + inset, item.bbox.y1 - inset
        if strips and top <= strips[-1][1]:
            strips[-1] = (strips[-1][0], max(strips[-1][1], bottom))
        else:
            strips.append((top, bottom))
    return strips


def _middle(item: Item) -> float:
    return (item.bbox.y0 + item.bbox.y1) / 2

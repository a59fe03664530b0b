"""Find lines of text in a map of probabilities, as the model of text detection returns it.

The steps are those of "Real-time Scene Text Detection with Differentiable Binarization" (https://arxiv.org/abs/1911.08947,
section 3.4): regions of probable pixels, a box around each, and its growth, as the model predicts shrunken lines.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]

MIN_PROBABILITY = 0.3
"""Least probability of a pixel."""
MIN_MEAN = 0.5
"""Least mean probability of a line's pixels."""
MIN_SIDE_PX = 3.0
GROWTH = 1.6
"""How much a box grows, as a share of area / perimeter."""
SLANT_LENGTH = 4.0
"""Boxes this many times as long as they are high tell their slant; others have that of the longest."""
MAX_LINES = 3000


class LineBox(NamedTuple):
    """A line's box: its middle, the unit vector along it, its length and its height, in pixels."""

    x: float
    y: float
    direction: tuple[float, float]
    length: float
    height: float

    def scaled(self, factor: float) -> "LineBox":
        """Return the box in a picture of `factor` times the size."""
        return LineBox(self.x * factor, self.y * factor, self.direction, self.length * factor, self.height * factor)


def find_lines(probabilities: Floats) -> list[LineBox]:
    """Return the boxes of lines, from top to bottom."""
    regions = [
        region for region in _regions(probabilities > MIN_PROBABILITY) if probabilities[region].mean() >= MIN_MEAN
    ]
    boxes = [_box_along(_slant(*region), *region) for region in regions]
    long = [box for box in boxes if box.length >= SLANT_LENGTH * box.height]
    common = max(long, key=lambda box: box.length).direction if long else (1.0, 0.0)
    boxes = [
        box if box.length >= SLANT_LENGTH * box.height else _box_along(common, *region)
        for box, region in zip(boxes, regions, strict=True)
    ]
    grown: list[LineBox] = []
    for box in boxes:
        if min(box.length, box.height) >= MIN_SIDE_PX:
            margin = box.length * box.height * GROWTH / (box.length + box.height)
            grown.append(box._replace(length=box.length + margin, height=box.height + margin))
    return sorted(grown, key=lambda box: (box.y, box.x))[:MAX_LINES]


def _regions(mask: npt.NDArray[np.bool_]) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield the rows and columns of the pixels of each connected region."""
    edges = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    run_rows, starts = np.nonzero(edges == 1)
    ends = np.nonzero(edges == -1)[1]
    first_runs = np.searchsorted(run_rows, np.arange(mask.shape[0] + 1)).tolist()
    parents = list(range(len(run_rows)))
    lefts, rights = starts.tolist(), ends.tolist()

    def root(run: int) -> int:
        while parents[run] != run:
            parents[run] = parents[parents[run]]
            run = parents[run]
        return run

    for row in range(1, mask.shape[0]):
        above, end_above = first_runs[row - 1], first_runs[row]
        for run in range(first_runs[row], first_runs[row + 1]):
            while above < end_above and rights[above] < lefts[run]:
                above += 1
            touching = above
            while touching < end_above and lefts[touching] <= rights[run]:
                parents[root(touching)] = root(run)
                touching += 1
    roots = np.array([root(run) for run in range(len(parents))], dtype=np.intp)
    lengths = ends - starts
    for region in np.unique(roots):
        runs = np.nonzero(roots == region)[0]
        rows = np.repeat(run_rows[runs], lengths[runs])
        columns = np.concatenate([np.arange(starts[run], ends[run]) for run in runs])
        yield rows, columns


def _box_along(direction: tuple[float, float], rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> LineBox:
    dx, dy = direction
    along, across = columns * dx + rows * dy, rows * dx - columns * dy
    middle_along, middle_across = (along.min() + along.max()) / 2, (across.min() + across.max()) / 2
    return LineBox(
        float(middle_along * dx - middle_across * dy) + 0.5,
        float(middle_along * dy + middle_across * dx) + 0.5,
        direction,
        float(np.ptp(along)) + 1,
        float(np.ptp(across)) + 1,
    )


def _slant(rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> tuple[float, float]:
    """Return the unit vector of the longest axis of pixels, to the right or downwards."""
    x, y = columns - columns.mean(), rows - rows.mean()
    angle = 0.5 * math.atan2(2 * float(x @ y), float(x @ x - y @ y))
    dx, dy = math.cos(angle), math.sin(angle)
    return (dx, dy) if dx > abs(dy) or dy > 0 else (-dx, -dy)

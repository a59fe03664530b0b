"""Tell the line numbers of a manuscript from its text, so that they do not end up in its sentences."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from rag.parsing.pdf.text_runs import Piece

MIN_NUMBERS = 8
"""Fewer numbers on a page may be anything."""

MAX_SIZE = 0.72
"""Size of line numbers as a share of the text's; the numbers of a table's rows are as large as its text."""

MAX_GAP_EM = 4
MIN_BESIDE = 0.8
"""Share of the numbers with text right beside them."""

ALIGNED_PT = 1.0
_NUMBER = re.compile(r"\d{1,4}")


def split_line_numbers(pieces: Sequence[Piece]) -> tuple[list[Piece], list[Piece]]:
    """Return the line numbers of a page from top to bottom, and the other pieces.

    They are small, have a column of their own left of the text, and count its lines one by one.
    """
    numbers = [piece for piece in pieces if _NUMBER.fullmatch(piece.text)]
    if not numbers:
        return [], [*pieces]
    column = max(_aligned(numbers, "x0"), _aligned(numbers, "x1"), key=len)
    rest = [piece for piece in pieces if piece not in column]
    is_counting = all(int(below.text) == int(above.text) + 1 for above, below in pairwise(column))
    if len(column) < MIN_NUMBERS or not is_counting or not rest:
        return [], [*pieces]
    sizes = Counter[float]()
    for piece in rest:
        sizes[piece.size] += len(piece.text)
    size, _ = sizes.most_common(1)[0]
    is_small = all(piece.size <= MAX_SIZE * size for piece in column)
    edge = max(piece.bbox.x1 for piece in column)
    near = [piece for piece in rest if 0 < piece.bbox.x0 - edge < MAX_GAP_EM * size]
    beside = sum(any(number.bbox.is_level_with(piece.bbox) for piece in near) for number in column)
    return (column, rest) if is_small and beside >= MIN_BESIDE * len(column) else ([], [*pieces])


def _aligned(numbers: Sequence[Piece], side: Literal["x0", "x1"]) -> list[Piece]:
    """Return the numbers that most have one left or right edge in common, from top to bottom."""
    edges = [getattr(piece.bbox, side) for piece in numbers]
    common = Counter(map(round, edges)).most_common(1)
    aligned = [piece for piece, edge in zip(numbers, edges, strict=True) if abs(edge - common[0][0]) <= ALIGNED_PT]
    return sorted(aligned, key=lambda piece: piece.bbox.y0)

"""Split runs of text in which MuPDF joined the cells of a table: it takes gaps below 0.8 em for spaces."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from rag import types
from rag.parsing.pdf import character_cleaning
from rag.parsing.pdf.mupdf import display_matrix, to_rect
from rag.parsing.pdf.text_lines import bounds
from rag.parsing.pdf.text_runs import Direction, Piece, to_display

GAP_EM = 0.45
"""A wider gap between two words of a row of figures parts cells; a space has 0.25 to 0.35 em."""
LEVEL = frozenset({Direction.RIGHT, Direction.LEFT})
MAX_CHARS = 80
"""Longer runs are text."""
_FIGURE = r"[$€£¥]?\s?\(?[-–−]?\d(?:[\d.,]*\d)?\)?%?"
_GLUED = re.compile(rf"(?:^|\s)(?:{_FIGURE}|[—–-]+)\s+(?={_FIGURE}(?:\s|$)|[$€£¥]$)")
_SIGN = frozenset("$€£¥")


def split_glued(page: Any, source: Any, pieces: Sequence[Piece]) -> list[Piece]:
    """Split the short runs of a page at wide gaps if some of them have several figures; `source` has its words."""
    if not any(len(piece.text) <= MAX_CHARS and _GLUED.search(piece.text) for piece in pieces):
        return list(pieces)
    matrix = display_matrix(page)
    lines: dict[int, list[tuple[types.Rect, str]]] = defaultdict(list)
    axis = 1 if Counter(piece.direction for piece in pieces).most_common(1)[0][0] in LEVEL else 0
    for x0, y0, x1, y1, text, *_ in page.get_text("words", textpage=source):
        box = types.Rect(x0, y0, x1, y1) if matrix is None else to_display((x0, y0, x1, y1), matrix)
        lines[round((box[axis] + box[axis + 2]) / 2)].append((box, text))
    return [part for piece in pieces for part in _parts(piece, lines)]


def _parts(piece: Piece, lines: dict[int, list[tuple[types.Rect, str]]]) -> list[Piece]:
    """Return the parts of a run between wide gaps, or the run itself if its words are not found again."""
    if " " not in piece.text or len(piece.text) > MAX_CHARS:
        return [piece]
    along = 0 if piece.direction in LEVEL else 1
    at = round((piece.bbox[1 - along] + piece.bbox[3 - along]) / 2)
    near = [word for place in (at - 1, at, at + 1) for word in lines[place] if piece.bbox.contains_center(word[0])]
    backwards = piece.direction in {Direction.UP, Direction.LEFT}
    words = sorted(near, key=lambda word: word[0][along], reverse=backwards)
    if character_cleaning.clean(" ".join(text for _, text in words)) != piece.text:
        return [piece]
    groups = [[words[0]]]
    for before, word in pairwise(words):
        first, second = (word, before) if backwards else (before, word)
        is_sign = word[1] in _SIGN and before[1][-1] in "0123456789)%—–-"
        if is_sign or second[0][along] - first[0][along + 2] > GAP_EM * piece.size:
            groups.append([])
        groups[-1].append(word)
    if len(groups) == 1:
        return [piece]
    return [
        piece._replace(
            bbox=to_rect(bounds(box for box, _ in group)),
            text=character_cleaning.clean(" ".join(text for _, text in group)),
        )
        for group in groups
    ]

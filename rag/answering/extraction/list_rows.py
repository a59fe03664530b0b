"""Read the items of a list from the blocks behind its lead-in, and tell whether they are surely all of it.

Numbered items have the next ordinal of one series each; what has a deeper number is a part of its item.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rag.answering.passages.quotable_units import Block

MAX_BREAK_LINES, MAX_BREAK_WORDS = 3, 12
"""Paragraphs between two items, such as a footer and a header, and the maximum length of one between bullets."""

ENDS_WITH_COLON = re.compile(r":[\s—–-]*+(?:[^\s:]++\s*+){0,3}$")
"""The end of a lead-in, with what a marginal note may leave behind it."""

_LABEL = re.compile(r"[ \t]*+(?P<open>\(?)(?P<ordinal>\d{1,3}|[A-Za-z]|[ivx]{2,5}|[IVX]{2,5})(?P<close>[.)])(?=\s)")
_ROMAN = {"i": 1, "v": 5, "x": 10}

Style = tuple[str, str]
"""The brackets of a number and its kind: digits, letters or Roman numerals, small or capital."""

Readings = dict[Style, int]
"""The ordinals that a number may be: "(i)" is the ninth letter, or one."""


class Row(NamedTuple):
    """The items of a list; `is_whole` if they are surely all. `length` is the number of blocks read."""

    items: list[Block]
    is_whole: bool
    length: int


NO_ROW = Row([], is_whole=False, length=0)


def bullet_mark(block: Block) -> str | None:
    """Return the bullet that a block begins with, or None."""
    return block.text[0] if block.is_bullet else None


def read_row(blocks: Sequence[Block], mark_of: Callable[[Block], str | None] = bullet_mark) -> Row:
    """Return the items that `blocks` begin with: those of one series of numbers, or else of the first one's mark."""
    if not blocks or mark_of(blocks[0]) is None:
        return NO_ROW
    return _numbered(blocks) if _labels(blocks[0]) else _unnumbered(blocks, mark_of)


def read_rows(blocks: Sequence[Block]) -> Row:
    """Return the items of all lists in `blocks`; several may be one list or not, so that they are none for sure."""
    rows: list[Row] = []
    position = 0
    while position < len(blocks):
        if row := read_row(blocks[position:]) if blocks[position].is_bullet else None:
            rows.append(row)
        position += row.length if row else 1
    items = [item for row in rows for item in row.items]
    return Row(items, is_whole=len(rows) == 1 and rows[0].is_whole, length=position)


# --- bullets ---------------------------------------------------------------------------------------------


def _unnumbered(blocks: Sequence[Block], mark_of: Callable[[Block], str | None]) -> Row:
    """Return the items of the first one's mark, also behind the footer and header of a page break."""
    row, last = [blocks[0]], 0
    mark = mark_of(blocks[0])
    is_of_one_mark = True
    for index, block in enumerate(blocks[1:], 1):
        is_apart = index > last + 1
        if mark_of(block) is not None:
            if is_apart and _page(block) <= _page(row[-1]):
                break
            if mark_of(block) == mark:
                row.append(block)
            else:
                is_of_one_mark = False
            last = index
        elif index - last > MAX_BREAK_LINES or len(block.text.split()) > MAX_BREAK_WORDS:
            break
    is_whole = is_of_one_mark and not _goes_on(blocks[last + 1 :], mark_of)
    return Row(row, is_whole, last + 1)


def _goes_on(rest: Sequence[Block], mark_of: Callable[[Block], str | None]) -> bool:
    """Return whether items follow soon, before a heading or the lead-in of another list."""
    for block in rest[: MAX_BREAK_LINES + 1]:
        if mark_of(block) is not None:
            return True
        if block.is_heading or ENDS_WITH_COLON.search(block.text):
            return False
    return False


# --- numbers ---------------------------------------------------------------------------------------------


def _numbered(blocks: Sequence[Block]) -> Row:
    """Return the items of the first one's series, behind at most `MAX_BREAK_LINES` paragraphs each."""
    first, *inner = _labels(blocks[0])
    style, value = min(first.items(), key=lambda reading: reading[1] != 1)
    row, last = [blocks[0]], 0
    begins_with_one = value == 1
    deeper = _begun(inner)
    for index, block in enumerate(blocks[1:], 1):
        labels = _labels(block)
        if not labels:
            is_in_the_way = block.is_heading and _page(block) == _page(row[-1])
            last = index if block.is_bullet else last
            if is_in_the_way or index - last > MAX_BREAK_LINES:
                break
            continue
        following = next((ahead[0] for other in blocks[index + 1 :] if (ahead := _labels(other))), {})
        parts = {kind: n for kind, n in labels[0].items() if kind != style and n in (1, deeper.get(kind, 0) + 1)}
        is_part = any(following.get(kind) == n + 1 for kind, n in parts.items())
        if labels[0].get(style) == value + 1 and not is_part:
            row.append(block)
            value += 1
            deeper = _begun(labels[1:])
        elif parts:
            deeper |= parts | _begun(labels[1:])
        else:
            break
        last = index
    return Row(row, begins_with_one and not _runs_on(blocks[last + 1 :], style, value), last + 1)


def _runs_on(rest: Sequence[Block], style: Style, value: int) -> bool:
    """Return whether a later number of the series may follow, before one that begins anew behind another lead-in."""
    is_parted = False
    for block in rest:
        labels = _labels(block)
        ordinal = labels[0].get(style) if labels else None
        if ordinal == 1:
            return not is_parted
        if ordinal is not None and (ordinal == value + 1 or len(labels[0]) == 1):
            return True
        is_parted |= bool(labels) or block.is_heading or ENDS_WITH_COLON.search(block.text) is not None
    return False


def _begun(labels: Sequence[Readings]) -> Readings:
    """Return the series that begin with an item: "(a) (i) …"."""
    return {style: value for readings in labels for style, value in readings.items() if value == 1}


def _labels(block: Block) -> list[Readings]:
    """Return the readings of the numbers that a block begins with; none of a heading."""
    labels: list[Readings] = []
    position = block.span.start
    while block.is_bullet and (match := _LABEL.match(block.chunk.text, position)):
        brackets, ordinal = match["open"] + match["close"], match["ordinal"]
        position = match.end()
        if ordinal.isdigit():
            labels.append({(brackets, "1"): int(ordinal)})
            continue
        is_small = ordinal.islower()
        values = [_ROMAN.get(letter, 0) for letter in ordinal.lower()]
        readings: Readings = {}
        if len(ordinal) == 1:
            readings[brackets, "a" if is_small else "A"] = ord(ordinal.lower()) - ord("a") + 1
        if all(values):
            signed = [-n if n < max(values[i:]) else n for i, n in enumerate(values)]
            readings[brackets, "i" if is_small else "I"] = sum(signed)
        labels.append(readings)
    return labels


def _page(block: Block) -> int:
    return block.chunk.lines_of(*block.span)[0].page_number

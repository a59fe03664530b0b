"""Format cell references such as “Balance!B14” and “'Q1 2023'!B14:D14”. Rows and columns count from 1."""

import functools
import re
from typing import NamedTuple

_PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")
"""A sheet name that needs no quotes …"""
_LIKE_A_CELL = re.compile(r"[A-Za-z]{1,3}\d+|[Rr]\d*(?:[Cc]\d*)?|[Cc]\d*")
"""… unless it looks like a cell reference."""


_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})(?::\$?([A-Za-z]{1,3})\$?(\d{1,7}))?")


class Area(NamedTuple):
    """A rectangle of cells: its first and last row and column."""

    top: int
    left: int
    bottom: int
    right: int

    def overlaps(self, other: "Area") -> bool:
        """Return whether the areas have a cell in common."""
        return not (
            self.bottom < other.top or other.bottom < self.top or self.right < other.left or other.right < self.left
        )

    def union(self, other: "Area") -> "Area":
        """Return the smallest area around both."""
        return Area(
            min(self.top, other.top),
            min(self.left, other.left),
            max(self.bottom, other.bottom),
            max(self.right, other.right),
        )


def column_letters(column: int) -> str:
    """Return a column's letters: 1 is A, 27 is AA."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def cell_area(reference: str) -> Area:
    """Return the area of a reference without sheet, such as B14 or B14:D20.

    Raises:
        ValueError: it is none.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise ValueError(reference)
    left, top, right, bottom = match.groups()
    first = int(top), _column(left)
    return Area(*first, *((int(bottom), _column(right)) if bottom else first))


@functools.lru_cache(maxsize=20_000)
def _column(letters: str) -> int:
    return functools.reduce(lambda number, letter: 26 * number + ord(letter) - ord("A") + 1, letters.upper(), 0)


def cell_name(row: int, column: int) -> str:
    """Return a cell reference without its sheet: B14."""
    return f"{column_letters(column)}{row}"


def area_name(area: Area) -> str:
    """Return an area reference without its sheet: B14 or B14:D14."""
    first, last = cell_name(area.top, area.left), cell_name(area.bottom, area.right)
    return first if first == last else f"{first}:{last}"


def on_sheet(sheet: str, name: str) -> str:
    """Put the sheet's name before a reference, unless the file has no sheets."""
    if not sheet:
        return name
    plain = _PLAIN_NAME.fullmatch(sheet) and not _LIKE_A_CELL.fullmatch(sheet)
    quoted = sheet if plain else "'" + sheet.replace("'", "''") + "'"
    return f"{quoted}!{name}"

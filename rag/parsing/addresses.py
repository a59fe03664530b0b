"""Names of cells: “Balance!B14”, “'Q1 2023'!B14:D14”. Rows and columns count from 1."""

import re
from typing import NamedTuple

_PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")
"""A sheet's name that needs no quotes …"""
_LIKE_A_CELL = re.compile(r"[A-Za-z]{1,3}\d+|[Rr]\d*[Cc]?\d*|[Cc]\d*")
"""… unless it could be taken for a cell."""


class Area(NamedTuple):
    """A rectangle of cells: its first and last row and column."""

    top: int
    left: int
    bottom: int
    right: int

    def union(self, other: "Area") -> "Area":
        """The smallest area around both."""
        return Area(
            min(self.top, other.top),
            min(self.left, other.left),
            max(self.bottom, other.bottom),
            max(self.right, other.right),
        )


def column_letters(column: int) -> str:
    """A column's letters: 1 is A, 27 is AA."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def cell_name(row: int, column: int) -> str:
    """A cell's name without its sheet: B14."""
    return f"{column_letters(column)}{row}"


def area_name(area: Area) -> str:
    """An area's name without its sheet: B14 or B14:D14."""
    first, last = cell_name(area.top, area.left), cell_name(area.bottom, area.right)
    return first if first == last else f"{first}:{last}"


def on_sheet(sheet: str, name: str) -> str:
    """A name of cells with its sheet before it; of a file that has no sheets the name alone."""
    if not sheet:
        return name
    plain = _PLAIN_NAME.fullmatch(sheet) and not _LIKE_A_CELL.fullmatch(sheet)
    quoted = sheet if plain else "'" + sheet.replace("'", "''") + "'"
    return f"{quoted}!{name}"

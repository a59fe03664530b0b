"""A sheet as read from a file of any format. Rows and columns count from 1."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import NamedTuple

from rag import errors
from rag.parsing.conversion import SourceText
from rag.parsing.sheets.cell_names import Area, cell_name, on_sheet

MAX_CELLS = 2_000_000
"""Maximum number of filled cells, for the memory limit of a parsing process."""
MAX_HEADER_ROWS = 4


class Cell(NamedTuple):
    """The displayed text of a cell. `is_number` is true for numbers, dates and booleans, which do not name columns."""

    text: str
    is_number: bool = False
    bold: bool = False


class Note(NamedTuple):
    """A comment (`place` is the cell's name), or text of a text box or chart of the sheet (`place` says which)."""

    place: str
    text: str


@dataclasses.dataclass
class Sheet:
    """The filled cells of a sheet by row and column; `name` is "" for files without sheets (CSV).

    `frozen_rows` is the number of rows that stay visible when scrolling.
    """

    name: str
    cells: dict[int, dict[int, Cell]] = dataclasses.field(default_factory=dict)
    merged: list[Area] = dataclasses.field(default_factory=list)
    hidden: bool = False
    hidden_rows: set[int] = dataclasses.field(default_factory=set)
    hidden_columns: set[int] = dataclasses.field(default_factory=set)
    frozen_rows: int = 0
    notes: list[Note] = dataclasses.field(default_factory=list)

    @functools.cached_property
    def _spans(self) -> dict[tuple[int, int], int]:
        return {(area.top, area.left): area.right for area in self.merged}

    def right_of(self, row: int, column: int) -> int:
        """Return the last column that a cell covers, which may be merged with others."""
        return max(self._spans.get((row, column), column), column)

    def texts(self) -> Iterator[SourceText]:
        """Yield the sheet's name, each row and each note, with their places."""
        if self.name:
            yield SourceText(self.name, self.name)
        for row in sorted(self.cells):
            columns = sorted(self.cells[row])
            place = on_sheet(self.name, cell_name(row, columns[0]))
            yield SourceText(place, "\t".join(self.cells[row][column].text for column in columns))
        for note in self.notes:
            yield SourceText(on_sheet(self.name, note.place), note.text)


class Budget:
    """Counts the cells that may still be read."""

    def __init__(self, cells: int = MAX_CELLS) -> None:
        self._cells = cells

    def take(self) -> None:
        """Count one cell.

        Raises:
            errors.UnreadableFileError: the file has too many.
        """
        self._cells -= 1
        if self._cells < 0:
            raise errors.UnreadableFileError(
                f"The file has more than {MAX_CELLS:,} cells. Split it into smaller files, or leave out sheets."
            )

"""A sheet as it is read, whatever kind of file it comes from. Rows and columns count from 1."""

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

from rag import errors
from rag.parsing.addresses import Area, cell_name, on_sheet
from rag.parsing.conversion.source import SourceText

MAX_CELLS = 2_000_000
"""More cells with something in them would need more memory than a parsing process may take."""
MAX_HEADER_ROWS = 4


class Cell(NamedTuple):
    """What a cell shows. Numbers, dates and truths are no words: they do not name columns."""

    text: str
    is_number: bool = False
    bold: bool = False


class Note(NamedTuple):
    """A comment on a cell, or words in a text box or chart of the sheet, whose `place` says what it is."""

    place: str
    text: str


@dataclasses.dataclass
class Sheet:
    """The cells of a sheet that have something in them, by row and column; `name` is empty where a file has no sheets.

    `hidden` is what is not shown when the file is opened; `frozen_rows` are those above the line that scrolling stops
    at.
    """

    name: str
    cells: dict[int, dict[int, Cell]] = dataclasses.field(default_factory=dict)
    merged: list[Area] = dataclasses.field(default_factory=list)
    hidden: bool = False
    hidden_rows: set[int] = dataclasses.field(default_factory=set)
    hidden_columns: set[int] = dataclasses.field(default_factory=set)
    frozen_rows: int = 0
    notes: list[Note] = dataclasses.field(default_factory=list)

    def texts(self) -> Iterator[SourceText]:
        """Its name, each row and each note, with their places."""
        if self.name:
            yield SourceText(self.name, self.name)
        for row in sorted(self.cells):
            columns = sorted(self.cells[row])
            place = on_sheet(self.name, cell_name(row, columns[0]))
            yield SourceText(place, "\t".join(self.cells[row][column].text for column in columns))
        for note in self.notes:
            yield SourceText(on_sheet(self.name, note.place), note.text)


class Budget:
    """How many more cells may be read."""

    def __init__(self, cells: int = MAX_CELLS) -> None:
        self._cells = cells

    def take(self) -> None:
        """One more.

        Raises:
            errors.UnreadableFileError: there are too many.
        """
        self._cells -= 1
        if self._cells < 0:
            raise errors.UnreadableFileError(
                f"The file has more than {MAX_CELLS:,} cells. Split it into smaller files, or leave out sheets."
            )

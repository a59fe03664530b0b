"""A sheet as read from a file of any format. Rows and columns count from 1."""

import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from rag import errors
from rag.messages import N_
from rag.parsing.conversion import SourceText
from rag.parsing.office.charts import Chart
from rag.parsing.office.embedded import EmbeddedFile
from rag.parsing.office.package import Metadata
from rag.parsing.sheets.cell_names import Area, cell_name, on_sheet

MAX_CELLS = 2_000_000
"""Maximum number of filled cells, for the memory limit of a parsing process."""
_HEADER_CODE = re.compile(
    r'&(?:(?P<part>[LCR])|(?P<sheet>A)|(?P<character>&)|"[^"]*"|K[0-9A-Fa-f]{6}|K\d\d[+-]\d{3}|\d+|.)', re.DOTALL
)
Tag = Literal["", "sup", "sub", "s", "hidden"]


class Run(NamedTuple):
    """A part of a cell's text: raised, lowered, struck out, hidden by its colour, or plain (tag "")."""

    text: str
    tag: Tag = ""


class Cell(NamedTuple):
    """The displayed text of a cell. `is_number` is true for numbers, dates and booleans, which do not name columns.

    `runs` are the parts of a text of which some are marked by a tag.
    """

    text: str
    is_number: bool = False
    bold: bool = False
    runs: tuple[Run, ...] = ()


def marked(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Return the filled runs if any is marked, else nothing."""
    filled = tuple(run for run in runs if run.text)
    return filled if any(run.tag for run in filled) else ()


class Note(NamedTuple):
    """A comment (`place` is the cell's name), or text of a text box or diagram of the sheet (`place` says which)."""

    place: str
    text: str


def comments(cell: str, text: str, author: str = "") -> list[Note]:
    """Return a comment as a list, empty if the comment has no text."""
    text, author = " ".join(text.split()), author.strip()
    return [Note(cell, f"{text} ({author})" if author and author not in text else text)] if text else []


def header_lines(codes: str, sheet: str) -> list[str]:
    """Return left, middle and right text of a header or footer of Excel (ECMA-376, 18.3.1.46).

    Page numbers, dates, file names, fonts, and headers that say nothing but the sheet's name are left out.
    """

    def replaced(match: re.Match[str]) -> str:
        return "\n" if match["part"] else sheet if match["sheet"] else "&" if match["character"] else ""

    texts = (" ".join(line.split()) for line in _HEADER_CODE.sub(replaced, codes).splitlines())
    return [text for text in dict.fromkeys(texts) if re.search(r"\w", text) and text not in {sheet, "Page", "Page of"}]


@dataclasses.dataclass
class Sheet:
    """The filled cells of a sheet by row and column; `name` is "" for files without sheets (CSV).

    `frozen_rows` is the number of rows that stay visible when scrolling. `header` and `footer` are the lines above and
    below each printed page.
    """

    name: str
    cells: dict[int, dict[int, Cell]] = dataclasses.field(default_factory=dict)
    merged: list[Area] = dataclasses.field(default_factory=list)
    hidden: bool = False
    hidden_rows: set[int] = dataclasses.field(default_factory=set)
    hidden_columns: set[int] = dataclasses.field(default_factory=set)
    frozen_rows: int = 0
    notes: list[Note] = dataclasses.field(default_factory=list)
    charts: list[Chart] = dataclasses.field(default_factory=list)
    header: list[str] = dataclasses.field(default_factory=list)
    footer: list[str] = dataclasses.field(default_factory=list)

    @functools.cached_property
    def columns(self) -> list[int]:
        """The columns that have a filled cell, in order."""
        return sorted({column for row in self.cells.values() for column in row})

    @functools.cached_property
    def spans(self) -> dict[tuple[int, int], Area]:
        """The merged areas by their first cell."""
        return {(area.top, area.left): area for area in self.merged}

    def show_hidden(self) -> None:
        """Take the text that is hidden by its colour as shown."""
        for cells in self.cells.values():
            for column, cell in cells.items():
                runs = marked(run._replace(tag="") if run.tag == "hidden" else run for run in cell.runs)
                cells[column] = cell._replace(runs=runs)

    def texts(self) -> Iterator[SourceText]:
        """Yield the sheet's name, header, rows, footer, notes and charts, with their places."""
        if self.name:
            yield SourceText(self.name, self.name)
        yield from (SourceText(f"header of {self.name}", line) for line in self.header)
        for row in sorted(self.cells):
            columns = sorted(self.cells[row])
            place = on_sheet(self.name, cell_name(row, columns[0]))
            yield SourceText(place, "\t".join(self.cells[row][column].text for column in columns))
        yield from (SourceText(f"footer of {self.name}", line) for line in self.footer)
        for note in self.notes:
            yield SourceText(on_sheet(self.name, note.place), note.text)
        for chart in self.charts:
            yield from (SourceText(f"chart of {self.name}", text) for text in chart.texts())


class Workbook(NamedTuple):
    """The sheets of a file, its title and author, and the files embedded in it."""

    sheets: list[Sheet]
    about: Metadata = Metadata()
    files: tuple[EmbeddedFile, ...] = ()


class Budget:
    """Counts the cells that may still be read."""

    _cells = MAX_CELLS

    def take(self) -> None:
        """Count one cell.

        Raises:
            errors.UnreadableFileError: the file has too many.
        """
        self._cells -= 1
        if self._cells < 0:
            raise errors.UnreadableFileError(
                N_("The file has more than {limit} cells. Split it into smaller files, or leave out sheets."),
                limit=f"{MAX_CELLS:,}",
            )

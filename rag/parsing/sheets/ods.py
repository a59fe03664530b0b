"""Read ODS spreadsheets with the cell texts as last displayed, comments and text boxes."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.etree import ElementTree as ET

from rag import errors
from rag.parsing.sheets.cell_names import Area, cell_name
from rag.parsing.sheets.sheet import Budget, Cell, Note, Sheet
from rag.parsing.zips import MAX_UNPACKED_BYTES

MAX_COLUMNS = 16_384
MAX_SPACES = 1_000
"""Maximum number of spaces that one <text:s> element may stand for."""
FAILURES = (zipfile.BadZipFile, zlib.error, ET.ParseError, EOFError, KeyError, ValueError, NotImplementedError)
"""Exceptions of the ZIP and XML readers for damaged files."""

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_TABLE, _TEXT, _OFFICE, _STYLE = (f"{{{_OASIS}{name}:1.0}}" for name in ("table", "text", "office", "style"))
_WEIGHT = f"{{{_OASIS}xsl-fo-compatible:1.0}}font-weight"
_TITLE, _CREATOR = (f"{{http://purl.org/dc/elements/1.1/}}{name}" for name in ("title", "creator"))
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_NUMBERS = {"float", "currency", "percentage", "date", "time", "boolean"}
_HIDDEN = {"collapse", "filter"}


def read(source: Path) -> tuple[list[Sheet], dict[str, str]]:
    """Read the sheets of the file at `source`, and its title and author.

    Raises:
        errors.UnreadableFileError: the file is damaged, or too large.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED_BYTES:
                raise errors.UnreadableFileError(
                    f"The spreadsheet unpacks to more than {MAX_UNPACKED_BYTES >> 30} GB. Split it into smaller files."
                )
            with archive.open("content.xml") as content:
                sheets = [*_Reader().sheets(content)]
            return sheets, _metadata(archive)
    except FAILURES as error:
        raise errors.UnreadableFileError(
            f"The spreadsheet is damaged ({type(error).__name__}). Open it in another program and save it again."
        ) from error


def _metadata(archive: zipfile.ZipFile) -> dict[str, str]:
    if "meta.xml" not in archive.namelist():
        return {}
    root = ET.fromstring(archive.read("meta.xml"))  # noqa: S314  # expat limits what entities may grow to
    found = {"title": root.find(f".//{_TITLE}"), "author": root.find(f".//{_CREATOR}")}
    return {name: element.text for name, element in found.items() if element is not None and element.text}


class _Reader:
    """Reads content.xml as a stream, keeping only the text of cells in memory."""

    def __init__(self) -> None:
        self._budget = Budget()
        self._bold: set[str] = set()
        self._undisplayed: set[str] = set()
        self._sheet = Sheet("")
        self._row = self._column = 0

    def sheets(self, content: IO[bytes]) -> Iterator[Sheet]:
        depth = 0
        for event, element in ET.iterparse(content, ("start", "end")):  # noqa: S314
            if element.tag == f"{_TABLE}table":
                depth += 1 if event == "start" else -1
                if event == "start" and depth == 1:
                    self._begin(element)
                elif event == "end" and depth == 0:
                    yield self._sheet
                    element.clear()
            elif event == "end" and depth <= 1:
                self._take(element)

    def _begin(self, table: ET.Element) -> None:
        name, style = table.get(f"{_TABLE}name", ""), table.get(f"{_TABLE}style-name", "")
        self._sheet = Sheet(name, hidden=style in self._undisplayed)
        self._row = self._column = 0

    def _take(self, element: ET.Element) -> None:
        match element.tag.removeprefix(_TABLE).removeprefix(_STYLE):
            case "style":
                self._take_style(element)
            case "table-column":
                self._take_column(element)
            case "shapes":
                self._sheet.notes += [Note("text box", text) for text in _paragraphs(element)]
                element.clear()
            case "table-row":
                self._take_row(element)
                element.clear()

    def _take_style(self, style: ET.Element) -> None:
        name = style.get(f"{_STYLE}name", "")
        if any(properties.get(f"{_TABLE}display") == "false" for properties in style):
            self._undisplayed.add(name)
        if any(properties.get(_WEIGHT) == "bold" for properties in style):
            self._bold.add(name)

    def _take_column(self, column: ET.Element) -> None:
        count = _repeated(column, "columns")
        if column.get(f"{_TABLE}visibility") in _HIDDEN:
            self._sheet.hidden_columns |= {*range(self._column + 1, min(self._column + count, MAX_COLUMNS) + 1)}
        self._column += count

    def _take_row(self, row: ET.Element) -> None:
        first, count = self._row + 1, _repeated(row, "rows")
        self._row += count
        cells = dict(self._cells(row, first))
        if not cells:
            return
        for number in range(first, first + count):
            for _ in cells:
                self._budget.take()
            self._sheet.cells[number] = cells
            if row.get(f"{_TABLE}visibility") in _HIDDEN:
                self._sheet.hidden_rows.add(number)

    def _cells(self, row: ET.Element, number: int) -> Iterator[tuple[int, Cell]]:
        column = 1
        for element in row:
            if element.tag not in _CELLS:
                continue
            count = _repeated(element, "columns")
            self._take_notes(element, number, column)
            cell = self._cell(element)
            if cell is not None:
                yield from ((index, cell) for index in range(column, min(column + count, MAX_COLUMNS + 1)))
            column += count

    def _cell(self, element: ET.Element) -> Cell | None:
        text = "\n".join(_paragraphs(element, direct=True))
        if not text.strip():
            text = element.get(f"{_OFFICE}value", "") or element.get(f"{_TABLE}formula", "")
        if not text.strip():
            return None
        is_number = element.get(f"{_OFFICE}value-type") in _NUMBERS
        return Cell(text, is_number, element.get(f"{_TABLE}style-name", "") in self._bold)

    def _take_notes(self, element: ET.Element, row: int, column: int) -> None:
        across = int(element.get(f"{_TABLE}number-columns-spanned", "1"))
        down = int(element.get(f"{_TABLE}number-rows-spanned", "1"))
        if across > 1 or down > 1:
            self._sheet.merged.append(Area(row, column, row + down - 1, column + across - 1))
        for child in element:
            if child.tag == f"{_OFFICE}annotation":
                text = " ".join(_paragraphs(child))
                self._sheet.notes += [Note(cell_name(row, column), text)] if text else []
            elif child.tag != f"{_TEXT}p":
                self._sheet.notes += [Note("text box", text) for text in _paragraphs(child)]


def _repeated(element: ET.Element, what: str) -> int:
    return max(1, int(element.get(f"{_TABLE}number-{what}-repeated", "1")))


def _paragraphs(element: ET.Element, *, direct: bool = False) -> list[str]:
    """Return the paragraphs in `element`, or only its direct children."""
    found = element.findall(f"{_TEXT}p") if direct else element.iter(f"{_TEXT}p")
    return [text for paragraph in found if (text := "".join(_pieces(paragraph)).strip())]


def _pieces(element: ET.Element) -> Iterator[str]:
    match element.tag.removeprefix(_TEXT):
        case "s":
            yield " " * min(int(element.get(f"{_TEXT}c", "1")), MAX_SPACES)
        case "tab" | "line-break":
            yield " "
    yield element.text or ""
    for child in element:
        yield from _pieces(child)
        yield child.tail or ""

"""Read ODS spreadsheets with the cell texts as last displayed, comments and text boxes."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from rag.messages import N_
from rag.parsing.office import embedded, odf
from rag.parsing.office.odf import FO, OFFICE, STYLE, TEXT
from rag.parsing.office.package import Package, damaged
from rag.parsing.sheets.cell_names import Area, cell_name
from rag.parsing.sheets.sheet import Budget, Cell, Note, Run, Sheet, Tag, Workbook, comments, marked

MAX_COLUMNS = 16_384
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_NUMBERS = {"float", "currency", "percentage", "date", "time", "boolean"}
_HIDDEN = {"collapse", "filter"}


def read(source: Path) -> Workbook:
    """Read the spreadsheet at `source`.

    Raises:
        errors.UnreadableFileError: the file is damaged, or too large.
    """
    with Package(source) as package:
        try:
            return Workbook([*_Reader(package).sheets()], package.metadata(), tuple(embedded.of_open_document(package)))
        except (etree.XMLSyntaxError, KeyError, ValueError) as error:
            raise damaged(N_("spreadsheet"), error) from error


class _Reader:
    """Reads content.xml as a stream, keeping only the text of cells in memory."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._budget = Budget()
        self._bold: set[str] = set()
        self._tags: dict[str, Tag] = {}
        self._master_pages: dict[str, str] = {}
        self._undisplayed: set[str] = set()
        self._sheet = Sheet("")
        self._row = self._column = 0

    def sheets(self) -> Iterator[Sheet]:
        content = io.BytesIO(self._package.read(odf.CONTENT))
        depth = 0
        for event, element in etree.iterparse(
            content, ("start", "end"), remove_comments=True, remove_pis=True, resolve_entities=False
        ):
            if element.tag == f"{_TABLE}table":
                depth += 1 if event == "start" else -1
                if event == "start" and depth == 1:
                    self._begin(element)
                elif event == "end" and depth == 0:
                    yield self._sheet
                    element.clear()
            elif event == "end" and depth <= 1:
                self._take(element)

    def _begin(self, table: Any) -> None:
        name, style = table.get(f"{_TABLE}name", ""), table.get(f"{_TABLE}style-name", "")
        self._sheet = Sheet(name, hidden=style in self._undisplayed)
        self._sheet.header, self._sheet.footer = self._margins(self._master_pages.get(style, ""))
        self._row = self._column = 0

    def _take(self, element: Any) -> None:
        match element.tag.removeprefix(_TABLE).removeprefix(STYLE):
            case "style":
                self._take_style(element)
            case "table-column":
                self._take_column(element)
            case "shapes":
                self._take_drawings(element)
                element.clear()
            case "table-row":
                self._take_row(element)
                element.clear()

    def _take_style(self, style: Any) -> None:
        name = style.get(f"{STYLE}name", "")
        if any(properties.get(f"{_TABLE}display") == "false" for properties in style):
            self._undisplayed.add(name)
        if any(properties.get(f"{FO}font-weight") == "bold" for properties in style):
            self._bold.add(name)
        papers = {properties.get(f"{FO}background-color", "").lower() for properties in style} - {"", "transparent"}
        for properties in style:
            position = properties.get(f"{STYLE}text-position", "").split(" ")[0]
            if properties.get(f"{STYLE}text-line-through-style", "none") != "none":
                self._tags[name] = "s"
            elif properties.get(f"{FO}color", "").lower() in (papers or {"#ffffff"}):
                self._tags[name] = "hidden"
            elif position.startswith(("super", "sub")):
                self._tags[name] = "sup" if position.startswith("super") else "sub"
        self._master_pages[name] = style.get(f"{STYLE}master-page-name", "")

    def _take_column(self, column: Any) -> None:
        count = _repeated(column, "columns")
        if column.get(f"{_TABLE}visibility") in _HIDDEN:
            self._sheet.hidden_columns |= {*range(self._column + 1, min(self._column + count, MAX_COLUMNS) + 1)}
        self._column += count

    def _take_row(self, row: Any) -> None:
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

    def _cells(self, row: Any, number: int) -> Iterator[tuple[int, Cell]]:
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

    def _cell(self, element: Any) -> Cell | None:
        style = element.get(f"{_TABLE}style-name", "")
        runs: list[Run] = []
        for paragraph in element.findall(f"{TEXT}p"):
            runs += [Run("\n")] * bool(runs) + [*self._runs(paragraph, self._tags.get(style, ""))]
        text = "".join(run.text for run in runs).strip()
        if not text:
            text = element.get(f"{OFFICE}value", "") or element.get(f"{_TABLE}formula", "")
        if not text.strip():
            return None
        is_number = element.get(f"{OFFICE}value-type") in _NUMBERS
        return Cell(text, is_number, style in self._bold, marked(runs))

    def _runs(self, element: Any, tag: Tag) -> Iterator[Run]:
        """Yield the runs of a paragraph, each in the style of the innermost span."""
        yield Run(odf.blank(element) + (element.text or ""), tag)
        for child in element:
            if child.tag != f"{OFFICE}annotation":
                yield from self._runs(child, self._tags.get(child.get(f"{TEXT}style-name", ""), tag))
            yield Run(child.tail or "", tag)

    def _take_notes(self, element: Any, row: int, column: int) -> None:
        across = int(element.get(f"{_TABLE}number-columns-spanned", "1"))
        down = int(element.get(f"{_TABLE}number-rows-spanned", "1"))
        if across > 1 or down > 1:
            self._sheet.merged.append(Area(row, column, row + down - 1, column + across - 1))
        for child in element:
            if child.tag == f"{OFFICE}annotation":
                text = " ".join(paragraph.text.strip() for paragraph in odf.of_element(child))
                self._sheet.notes += comments(cell_name(row, column), text)
            elif child.tag != f"{TEXT}p":
                self._take_drawings(child)

    def _take_drawings(self, element: Any) -> None:
        self._sheet.notes += [Note("text box", paragraph.text.strip()) for paragraph in odf.of_element(element)]
        for drawing in element.iter("{*}object"):
            root = self._package.xml(f"{drawing.get(_HREF, '').removeprefix('./')}/{odf.CONTENT}")
            chart = odf.read_chart(root) if root is not None else None
            if chart:
                self._sheet.charts.append(chart)

    def _margins(self, master_page: str) -> tuple[list[str], list[str]]:
        """Return the lines of header and footer of a master page, without those that are only fields."""
        styles = self._package.xml(odf.STYLES)
        pages = styles.iter(f"{STYLE}master-page") if styles is not None else ()
        page = next((page for page in pages if page.get(f"{STYLE}name") == master_page), ())
        found: tuple[list[str], list[str]] = ([], [])
        for part in page:
            name = part.tag.removeprefix(STYLE) if isinstance(part.tag, str) else ""
            if name.startswith(("header", "footer")) and part.get(f"{STYLE}display") != "false":
                texts = ("".join(_typed(paragraph)).strip() for paragraph in part.iter(f"{TEXT}p"))
                found[name.startswith("footer")].extend(text for text in texts if text and text not in {"Page", "/"})
        return found


def _repeated(element: Any, what: str) -> int:
    return max(1, int(element.get(f"{_TABLE}number-{what}-repeated", "1")))


def _typed(paragraph: Any) -> Iterator[str]:
    """Yield the typed text of a paragraph of a header, without fields such as the number of the page."""
    yield paragraph.text or ""
    for child in paragraph:
        if child.tag == f"{TEXT}span":
            yield from _typed(child)
        yield child.tail or ""

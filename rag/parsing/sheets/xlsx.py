"""Read XLSX workbooks: formatted values, formulas without a stored value, comments, headers and hidden parts.

The parts are read directly, as libraries refuse workbooks with styles and properties that spreadsheet programs accept.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from rag.messages import N_
from rag.parsing.office import charts, embedded
from rag.parsing.office.package import Package, damaged, local
from rag.parsing.sheets.cell_names import cell_area
from rag.parsing.sheets.number_formats import BUILTIN, GENERAL, formatted
from rag.parsing.sheets.sheet import Budget, Cell, Note, Run, Sheet, Tag, Workbook, comments, header_lines, marked

MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_HEADERS = ("oddHeader", "evenHeader", "firstHeader")
_FOOTERS = ("oddFooter", "evenFooter", "firstFooter")
_TRUE = ("1", "true")
_NOTHING = ";;;"
"""The number format that shows nothing."""
_WHITE, _WHITE_INDEXES = "FFFFFF", ("1", "9")
_POSITIONS: dict[str, Tag] = {"superscript": "sup", "subscript": "sub"}
_FAILURES = (etree.XMLSyntaxError, ValueError, LookupError, ArithmeticError)
"""Exceptions for parts that are damaged."""


def read(source: Path) -> Workbook:
    """Read the workbook at `source`.

    Raises:
        errors.UnreadableFileError: the file is damaged, or too large.
    """
    with Package(source) as package:
        try:
            sheets = list(_Reader(package).sheets())
            return Workbook(sheets, package.metadata(), tuple(embedded.of_office_open_xml(package)))
        except _FAILURES as error:
            raise damaged(N_("workbook"), error) from error


class _Reader:
    """Reads the sheets of a package one after the other."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._budget = Budget()
        self._main = package.main_part("xl/workbook.xml")
        self._strings = list(self._read_strings())
        self._styles = list(self._read_styles())
        self._is_1904 = False

    def sheets(self) -> Iterator[Sheet]:
        book = self._package.xml(self._main)
        if book is None:
            raise KeyError(self._main)
        self._is_1904 = any(part.get("date1904") in _TRUE for part in book.iterfind("{*}workbookPr"))
        for element in book.iterfind("{*}sheets/{*}sheet"):
            relation = self._package.relations(self._main).get(element.get(_ID, ""))
            if relation is None or relation.is_external or not relation.kind.endswith(("/worksheet", "/chartsheet")):
                continue
            sheet = Sheet(element.get("name", ""), hidden=element.get("state", "visible") != "visible")
            self._fill(sheet, relation.target)
            yield sheet

    def _read_strings(self) -> Iterator[tuple[str, tuple[Run, ...]]]:
        for part in self._package.related(self._main, "/sharedStrings"):
            content = io.BytesIO(self._package.read(part))
            for _, item in etree.iterparse(content, tag="{*}si", resolve_entities=False):
                yield _rich_text(item)
                item.clear()

    def _read_styles(self) -> Iterator[tuple[str, bool, Tag]]:
        """Yield the number format of each style, whether it is bold, and whether it is struck out or hidden."""
        for part in self._package.related(self._main, "/styles"):
            root = self._package.xml(part)
            formats = {
                number.get("numFmtId"): number.get("formatCode", "") for number in root.iterfind("{*}numFmts/{*}numFmt")
            }
            fonts = root.findall("{*}fonts/{*}font")
            fills = root.findall("{*}fills/{*}fill")
            for style in root.iterfind("{*}cellXfs/{*}xf"):
                font, fill = _numbered(fonts, style.get("fontId")), _numbered(fills, style.get("fillId"))
                tag: Tag = ""
                if font is not None and _is_on(font, "strike"):
                    tag = "s"
                elif font is not None and _color(font.find("{*}color")) in {_paper(fill)} - {None}:
                    tag = "hidden"
                number = style.get("numFmtId", "0")
                code = formats.get(number) or BUILTIN.get(int(number), GENERAL)
                yield code, font is not None and _is_on(font, "b"), "hidden" if code == _NOTHING else tag

    def _fill(self, sheet: Sheet, part: str) -> None:
        row = 0
        for _, element in etree.iterparse(io.BytesIO(self._package.read(part)), resolve_entities=False):
            match local(element):
                case "row":
                    row = int(element.get("r") or row + 1)
                    if element.get("hidden") in _TRUE:
                        sheet.hidden_rows.add(row)
                    cells = dict(self._cells(element))
                    if cells and row <= MAX_ROWS:
                        sheet.cells[row] = cells
                    element.clear()
                case "mergeCell":
                    sheet.merged.append(cell_area(element.get("ref", "")))
                case "col" if element.get("hidden") in _TRUE:
                    last = min(int(element.get("max", "1")), MAX_COLUMNS)
                    sheet.hidden_columns.update(range(int(element.get("min", "1")), last + 1))
                case "pane" if element.get("state") in ("frozen", "frozenSplit"):
                    sheet.frozen_rows = int(float(element.get("ySplit", "0")))
                case "conditionalFormatting" | "tableParts":
                    sheet.show_hidden()  # white text may stand on their colours
                case "headerFooter":
                    texts = {local(child): child.text or "" for child in element}
                    sheet.header = [line for name in _HEADERS for line in header_lines(texts.get(name, ""), sheet.name)]
                    sheet.footer = [line for name in _FOOTERS for line in header_lines(texts.get(name, ""), sheet.name)]
        sheet.notes += self._comments(part)
        self._add_drawings(sheet, part)

    def _cells(self, row: Any) -> Iterator[tuple[int, Cell]]:
        column = 0
        for element in row.iterfind("{*}c"):
            reference = element.get("r")
            column = cell_area(reference).left if reference else column + 1
            cell = self._cell(element)
            if cell is not None and cell.text.strip() and column <= MAX_COLUMNS:
                self._budget.take()
                yield column, cell

    def _cell(self, element: Any) -> Cell | None:
        style = int(element.get("s", "0"))
        number_format, bold, tag = self._styles[style] if style < len(self._styles) else (GENERAL, False, "")
        kind, value = element.get("t", "n"), element.findtext("{*}v")
        text, is_text = "", False
        runs: tuple[Run, ...] = ()
        if kind == "s" and value:
            (text, runs), is_text = self._strings[int(value)], True
        elif kind == "inlineStr":
            inline = element.find("{*}is")
            (text, runs), is_text = _rich_text(inline) if inline is not None else ("", ()), True
        elif kind == "str" and value is not None:
            text, is_text = value, True
        elif value:
            text = self._value(kind, value, number_format)
        else:
            formula = element.find("{*}f")
            text = f"={formula.text or ''}" if formula is not None else ""
        if is_text and not runs and number_format != _NOTHING:
            text = formatted(text, number_format) or text
        if tag:
            runs = (Run(text, tag),)
        return Cell(text, not is_text, bold, runs) if text else None

    def _value(self, kind: str, value: str, number_format: str) -> str:
        if kind == "b":
            return formatted(value in _TRUE, number_format)
        if kind != "n":
            return value
        number = float(value)
        whole = int(number) if number == int(number) and "." not in value and "E" not in value.upper() else number
        return formatted(whole, number_format, is_1904=self._is_1904) or formatted(whole)

    def _add_drawings(self, sheet: Sheet, part: str) -> None:
        xml, related = self._package.xml, self._package.related
        for drawing in related(part, "/drawing"):
            sheet.notes += [Note("text box", text.strip()) for text in charts.paragraphs(xml(drawing))]
            for diagram in related(drawing, "/diagramData"):
                sheet.notes += [Note("diagram", text.strip()) for text in charts.paragraphs(xml(diagram))]
            for name in related(drawing, *charts.RELATIONS):
                chart = charts.read(xml(name))
                sheet.charts.append(chart)
                texts = [text for text in charts.paragraphs(xml(name)) if " ".join(text.split()) not in chart.titles]
                texts += [
                    text for shapes in related(name, "/chartUserShapes") for text in charts.paragraphs(xml(shapes))
                ]
                sheet.notes += [Note("chart", text.strip()) for text in texts]

    def _comments(self, part: str) -> Iterator[Note]:
        for name in self._package.related(part, "/comments"):
            root = self._package.xml(name)
            authors = [author.text or "" for author in root.iterfind("{*}authors/{*}author")]
            for comment in root.iterfind("{*}commentList/{*}comment"):
                number = comment.get("authorId", "")
                author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
                text = "".join(part.text or "" for part in comment.iter("{*}t"))
                yield from comments(comment.get("ref", ""), text, author)


def _is_on(element: Any, name: str) -> bool:
    toggle = element.find(f"{{*}}{name}")
    return toggle is not None and toggle.get("val", "1") in _TRUE


def _numbered(elements: list[Any], number: str | None) -> Any:
    return elements[int(number)] if number and number.isdigit() and int(number) < len(elements) else None


def _color(element: Any) -> str | None:
    """Return a colour in one form, None if it is not given."""
    if element is None:
        return None
    if element.get("tint") is None and (element.get("theme") == "0" or element.get("indexed") in _WHITE_INDEXES):
        return _WHITE
    return element.get("rgb", "")[-6:].upper() or str(sorted(element.attrib.items()))


def _paper(fill: Any) -> str | None:
    """Return the colour of a cell with a fill, None if it is not of one colour."""
    pattern = fill.find("{*}patternFill") if fill is not None else None
    if fill is None or (pattern is not None and pattern.get("patternType", "none") == "none"):
        return _WHITE
    if pattern is None or pattern.get("patternType") != "solid":
        return None
    return _color(pattern.find("{*}fgColor"))


def _tag(font: Any) -> Tag:
    if _is_on(font, "strike"):
        return "s"
    position = font.find("{*}vertAlign")
    return _POSITIONS.get(position.get("val", ""), "") if position is not None else ""


def _rich_text(element: Any) -> tuple[str, tuple[Run, ...]]:
    """Return the text of a cell without phonetic marks, and its runs if some are raised, lowered or struck out."""
    runs = []
    for child in element:
        if local(child) == "t":
            runs.append(Run(child.text or ""))
        elif local(child) == "r":
            font = child.find("{*}rPr")
            runs.append(Run(child.findtext("{*}t") or "", _tag(font) if font is not None else ""))
    return "".join(run.text for run in runs), marked(runs)

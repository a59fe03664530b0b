"""Measure the share of cells of generated tables that are read with the right text, row label and column head.

Each table is printed by Chromium to PDF and saved as HTML, DOCX (by Pandoc) and XLSX.
"""

import re
import subprocess
import tempfile
import unicodedata
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pypandoc

from benchmarks import apps, table_forms
from benchmarks.report import Section, at_least, interval
from benchmarks.settings import Options
from benchmarks.table_forms import GeneratedTable
from rag import parsing
from rag.answering.passages.quotable_units import split_passage
from rag.types import Line, Passage

TABLES, QUICK_TABLES = 300, 8
GOAL_PERCENT = 97.0
_NAME = re.compile(r"Exhibit (\d+)")
_MARKS = str.maketrans("", "", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Cell(NamedTuple):
    """A cell of a table with its row label and column head."""

    label: str
    head: str
    text: str


class Score(NamedTuple):
    """A cell that should be read: its table, and whether it is as a text, in its row, and below its head."""

    table: GeneratedTable
    has_text: bool
    has_label: bool
    has_head: bool


def measure(options: Options, section: Section) -> None:
    """Report the share of right cells by style, format and feature."""
    tables = table_forms.make_tables(QUICK_TABLES if options.quick else TABLES)
    section.about = f"{len(tables)} generated tables"
    scores: dict[tuple[str, str], list[Score]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for style in table_forms.STYLES:
            of_style = [table for table in tables if table.style == style]
            for file in save(of_style, Path(folder) / style):
                scores[style, file.suffix[1:]] = [*compare(of_style, file)]
    for (style, kind), found in scores.items():
        _add(section, f"{style}, {kind}", found)
    for kind in ("pdf", "html", "docx", "xlsx"):
        _add(section, kind, [score for (_, own), found in scores.items() if own == kind for score in found])
    printed = [score for (_, kind), found in scores.items() if kind == "pdf" for score in found]
    for feature in sorted({feature for table in tables for feature in table.features}):
        _add(section, f"pdf, {feature}", [score for score in printed if feature in score.table.features])
    _add(section, "all", [score for found in scores.values() for score in found])


def _add(section: Section, name: str, scores: Sequence[Score]) -> None:
    right = [(score.table.name, score.has_head) for score in scores]
    low, high = interval(right)
    section.add(f"{name}: cells right", 100 * _share(score.has_head for score in scores), "%", at_least(GOAL_PERCENT))
    section.notes.append(
        f"{name}: {len(scores):,} cells, right {low:.3f} to {high:.3f}; text {_share(s.has_text for s in scores):.3f}, "
        f"text and label {_share(s.has_label for s in scores):.3f}"
    )


def _share(values: Iterator[bool]) -> float:
    found = list(values)
    return sum(found) / max(len(found), 1)


def save(tables: Sequence[GeneratedTable], folder: Path) -> list[Path]:
    """Save one file of each format with all tables."""
    folder.mkdir()
    printed, page, document, sheets = (folder / f"tables.{name}" for name in ("pdf", "html", "docx", "xlsx"))
    source = folder / "printed.htm"
    source.write_text(table_forms.to_html(tables, for_print=True), encoding="utf-8")
    command = [str(apps.chromium()), "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    subprocess.run([*command, f"--print-to-pdf={printed}", source.as_uri()], check=True, capture_output=True)
    page.write_text(table_forms.to_html(tables, for_print=False), encoding="utf-8")
    pypandoc.convert_text(page.read_text(encoding="utf-8"), "docx", format="html", outputfile=str(document))
    _workbook(tables).save(sheets)
    return [printed, page, document, sheets]


def _workbook(tables: Sequence[GeneratedTable]) -> openpyxl.Workbook:
    """Make a workbook with a sheet per table."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for table in tables:
        sheet = book.create_sheet(table.name)
        for index, level in enumerate(table.heads, start=1):
            column = 2
            for head in level:
                sheet.cell(index, column, head.text)
                if head.span > 1:
                    sheet.merge_cells(
                        start_row=index, end_row=index, start_column=column, end_column=column + head.span - 1
                    )
                column += head.span
        sheet.cell(len(table.heads), 1, table.corner or None)
        for index, row in enumerate(table.rows, start=len(table.heads) + 1):
            sheet.cell(index, 1, row.label + row.mark)
            for column, text in enumerate(row.texts, start=2):
                _set(sheet.cell(index, column), text)
    return book


def _set(cell: openpyxl.cell.Cell, text: str) -> None:
    """Write a figure as a number with a format that shows it as `text`, anything else as text."""
    digits = text.strip("$()%").replace(",", "")
    if not re.fullmatch(r"\d+(\.\d+)?", digits):
        cell.value = text or None
        return
    sign, percent = "$" if text.startswith("$") else "", "%" if text.endswith("%") else ""
    places = "." + "0" * len(digits.partition(".")[2]) if "." in digits else ""
    grouped = "#,##0" if "," in text or len(digits.partition(".")[0]) < 4 else "0"
    form = grouped + places
    cell.value = (-1 if "(" in text else 1) * float(digits) / (100 if percent else 1)
    quoted = f'"{sign}"' if sign else ""
    cell.number_format = f"{quoted}{form}{percent};{quoted}({form}){percent}"


def compare(tables: Sequence[GeneratedTable], file: Path) -> Iterator[Score]:
    """Parse `file` and compare the cells of each table with those read below its name."""
    parsed = parsing.read_file(file, name=file.name, rendition=file.with_suffix(".rendition.pdf"))
    lines: dict[int, list[Line]] = defaultdict(list)
    number = -1
    for line in (line for block in parsed.blocks for line in block.to_lines()):
        if named := _NAME.fullmatch(line.text.strip()):
            number = int(named[1])
        elif line.text.strip():
            lines[number].append(line)
    for table in tables:
        yield from _compare(table, [*read_cells(lines[table.number])] if lines[table.number] else [])


def read_cells(lines: Sequence[Line]) -> Iterator[Cell]:
    """Yield the cells of table rows as answers see them."""
    passage = Passage(document_id=uuid.UUID(int=0), lines=tuple(lines))
    text = passage.text
    for unit in split_passage(passage):
        label = text[slice(*unit.label)] if unit.label else ""
        for cell in unit.cells:
            yield Cell(normalise(label), normalise(cell.column), normalise(text[slice(*cell.span)]))


def normalise(text: str) -> str:
    """Return the text without marks of notes, white space and the separators of heads."""
    return "".join(unicodedata.normalize("NFKC", text.translate(_MARKS)).replace("·", "").split()).casefold()


def _compare(table: GeneratedTable, found: Sequence[Cell]) -> Iterator[Score]:
    """Compare each cell of `table`; what was read counts once."""
    texts, rows, cells = ([*(wanted(cell) for cell in found)] for wanted in (_text, _row, _cell))
    for row in table.rows:
        for head, text in zip(table.columns, row.texts, strict=False):
            if text:
                cell = Cell(normalise(row.label), normalise(head), normalise(text))
                yield Score(table, _take(texts, _text(cell)), _take(rows, _row(cell)), _take(cells, cell))


def _text(cell: Cell) -> str:
    return cell.text


def _row(cell: Cell) -> tuple[str, str]:
    return cell.label, cell.text


def _cell(cell: Cell) -> Cell:
    return cell


def _take(found: list[Any], wanted: object) -> bool:
    if wanted in found:
        found.remove(wanted)
        return True
    return False

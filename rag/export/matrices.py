"""Write matrices as XLSX, CSV and JSON: values as numbers, dates and truth values, and what each of them stands on."""

import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import Field

from rag import types
from rag.answering.field_values import shown
from rag.export.marks import Translate
from rag.export.spreadsheets import Cell, Link, Sheet, plain_number, sheet_titles, to_csv, to_sheets
from rag.messages import N_

STATES: Mapping[types.CellState, str] = {
    "found": N_("found"),
    "not_stated": N_("not stated"),
    "conflict": N_("conflict"),
    "failed": N_("failed"),
}
REVIEWS: Mapping[types.ReviewState, str] = {
    "accepted": N_("accepted"),
    "corrected": N_("corrected by hand"),
    "rejected": N_("rejected"),
}
FAILED, CONFLICT, TO_REVIEW, BY_HAND, NOTHING = "FFC7CE", "F8CBAD", "FFEB9C", "DDEBF7", "EDEDED"
"""Colours of cells; a note says the same in words."""
EVIDENCE = (
    (N_("Document"), 28),
    (N_("Field"), 28),
    (N_("Value"), 28),
    (N_("Unit"), 14),
    (N_("Words"), 28),
    (N_("State"), 14),
    (N_("Confidence"), 12),
    (N_("Review"), 18),
    (N_("Reviewed by"), 18),
    (N_("Conflict"), 28),
    (N_("Quote"), 60),
    (N_("Page"), 8),
    (N_("Printed page"), 12),
    (N_("Cells"), 16),
    (N_("Pages read"), 16),
    (N_("Version"), 9),
    ("SHA-256", 20),
)
"""Heading and width of each column of the evidence of a matrix, which has a row for each quote."""

DATE_FORMAT = "yyyy-mm-dd"
FIRST_DATE = dt.date(1900, 3, 1)
"""Spreadsheet programs count earlier days differently, or not at all."""
MIN_GROUPED = 10_000
"""Lower numbers have no thousands separators; they may be years."""
MAX_DECIMALS = 10
COLUMN_WIDTH = 24


class _Column(NamedTuple):
    """A field and the unit of its values; if they have different ones, each unit stands in a column of its own."""

    field: types.FieldDefinition
    unit: str | None
    has_units: bool


def matrix_xlsx(filled: types.FilledMatrix, say: Translate = str, language: str = "en") -> bytes:
    """Write a workbook: the matrix, its evidence, and a sheet for each list of records.

    `say` translates labels; values are numbers, dates and truth values, or text in `language`.

    The matrix has a row for each document. Each value links to its evidence. Colours and notes tell what is not stated,
    contradicts, is to be reviewed, or was corrected by hand.
    """
    lists = [field for field in filled.matrix.fields if field.type == "records"]
    titles = sheet_titles([say(N_("Matrix")), say(N_("Evidence")), *(field.name for field in lists)])
    columns = _columns(filled)
    rows, evidence = list[list[object]](), list[list[object]]()
    for document in filled.documents:
        row: list[object] = [document.name]
        for column in columns:
            cell = filled.at(document, column.field)
            if cell is None:
                row += [None] * (1 + column.has_units)
                continue
            link = Link(titles[1], f"A{len(evidence) + 2}", _place(document, cell, say))
            row.append(_table_cell(column.field, cell, link, say, language))
            row += [cell.shown and cell.shown.unit] * column.has_units
            evidence += _evidence(document, column.field, cell, say, language)
        rows.append(row)
    heads = [(say(N_("Document")), 28), *((head, COLUMN_WIDTH) for head in _heads(columns, say))]
    evidence_heads = [(say(heading), width) for heading, width in EVIDENCE]
    sheets = [Sheet(titles[0], heads, rows), Sheet(titles[1], evidence_heads, evidence)]
    sheets += [_list_sheet(title, field, filled, say, language) for title, field in zip(titles[2:], lists, strict=True)]
    return to_sheets(sheets)


def matrix_csv(filled: types.FilledMatrix, say: Translate = str, language: str = "en") -> bytes:
    """Write the values as CSV in UTF-8 with a byte order mark; what has no value is empty.

    The last column names the fields that are to be reviewed.
    """
    columns = _columns(filled)
    rows = [[say(N_("Document")), *_heads(columns, say), say(N_("To be reviewed"))]]
    for document in filled.documents:
        row: list[Any] = [document.name]
        for column in columns:
            cell = filled.at(document, column.field)
            value = cell.shown if cell else None
            row.append(value and _plain(column.field, value, language))
            row += [value and value.unit] * column.has_units
        cells = ((field.name, filled.at(document, field)) for field in filled.matrix.fields)
        row.append("; ".join(name for name, cell in cells if cell is not None and cell.needs_review))
        rows.append(row)
    return to_csv(rows).encode("utf-8-sig", errors="replace")


def _columns(filled: types.FilledMatrix) -> list[_Column]:
    columns = []
    for field in filled.matrix.fields:
        cells = (filled.at(document, field) for document in filled.documents)
        values = [cell.shown for cell in cells if cell is not None and cell.shown is not None]
        units = dict.fromkeys(value.unit for value in values if value.value is not None) or {field.unit: None}
        columns.append(_Column(field, next(iter(units)) if len(units) == 1 else None, len(units) > 1))
    return columns


def _heads(columns: Sequence[_Column], say: Translate) -> Iterator[str]:
    for field, unit, has_units in columns:
        yield _head(field.name, unit)
        if has_units:
            yield say(N_("{name}: unit").format(name=field.name))


def _head(name: str, unit: str | None) -> str:
    return f"{name} ({unit})" if unit else name


# --- values ---


def value_text(field: types.FieldDefinition, value: types.CellValue, language: str = "en") -> str:
    """Return a value with its unit as text, of a list of records a line for each; without a value the words."""
    if value.value is None:
        return value.words
    if not isinstance(value.value, tuple):
        return shown(value.value, value.unit, field.type, language)
    records = ([(column, record.get(column.name)) for column in field.columns] for record in value.value)
    return "\n".join(
        "; ".join(shown(cell, column.unit, column.type, language) for column, cell in record if cell is not None)
        for record in records
    )


def _plain(field: types.FieldDefinition, value: types.CellValue, language: str) -> types.Scalar:
    """Return a value without its unit as a number, truth value or text, which is what a list of records becomes."""
    if value.value is None or isinstance(value.value, tuple):
        return value_text(field, value, language)
    return value.value


def _typed(kind: types.FieldType, value: types.Scalar, unit: str | None, language: str) -> Cell:
    """Return a value as spreadsheet programs know it. Incomplete dates are text, as are periods."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = plain_number(value)
        decimals = len(f"{number:.{MAX_DECIMALS}f}".rstrip("0").partition(".")[2])
        whole = "#,##0" if abs(number) >= MIN_GROUPED else "0"
        return Cell(number, f"{whole}.{'0' * decimals}" if decimals else whole)
    if kind == "period" and isinstance(value, str):
        return Cell(shown(value, unit, kind, language))
    if kind == "date" and isinstance(value, str):
        try:
            day = dt.datetime.strptime(value, "%Y-%m-%d").date()  # noqa: DTZ007 - days have no time zone
        except ValueError:
            return Cell(value)
        return Cell(day, DATE_FORMAT) if day >= FIRST_DATE else Cell(value)
    return Cell(value)


def _cell(field: types.FieldDefinition, value: types.CellValue, language: str) -> Cell:
    return _typed(field.type, _plain(field, value, language), value.unit, language)


# --- sheets ---


def _table_cell(field: types.FieldDefinition, cell: types.ShownCell, link: Link, say: Translate, language: str) -> Cell:
    typed = Cell(None) if cell.shown is None else _cell(field, cell.shown, language)
    return typed._replace(color=_color(cell), note="\n".join(_remarks(field, cell, say, language)), link=link)


def _color(cell: types.ShownCell) -> str | None:
    if cell.needs_review:
        if cell.cell.state == "failed" and cell.shown is None:
            return FAILED
        return CONFLICT if cell.conflict or cell.cell.state == "conflict" else TO_REVIEW
    if cell.review is not None and cell.review.state == "corrected":
        return BY_HAND
    return NOTHING if cell.shown is None else None


def _remarks(field: types.FieldDefinition, cell: types.ShownCell, say: Translate, language: str) -> Iterator[str]:
    """Yield what a reader should know of a cell besides its value."""
    found, review = cell.cell, cell.review
    if review is not None and review.state != "accepted":
        yield _decision(cell, say)
        if found.state in ("found", "conflict") and cell.shown is not found:
            yield say(N_("Was found: {value}").format(value=value_text(field, found, language)))
    if found.state == "not_stated":
        pages = page_ranges(found.pages_read)
        yield (
            say(N_("Not stated on the pages read: {pages}").format(pages=pages)) if pages else say(STATES[found.state])
        )
    if found.state == "failed":
        yield f"{say(STATES[found.state])}: {say(found.reason or '')}"
    if found.alternatives:
        values = " / ".join(value_text(field, other, language) for other in found.alternatives)
        yield say(N_("The document also states: {values}").format(values=values))
    if cell.conflict:
        yield say(cell.conflict)
    if cell.is_stale:
        yield say(N_("The document or the field has changed since."))
    if cell.needs_review:
        sure = "" if found.confidence is None else f" ({found.confidence:.0%})"
        yield say(N_("To be reviewed")) + sure


def _decision(cell: types.ShownCell, say: Translate) -> str:
    """Return what a person decided, and whether the value was read again since; empty without a decision."""
    if cell.review is None:
        return ""
    decision = REVIEWS[cell.review.state]
    return say(decision if cell.is_reviewed else N_("{_decision}, but read again since").format(_decision=decision))


def page_ranges(pages: Sequence[int]) -> str:
    """Return page numbers as ranges, such as "1–3, 7"."""
    ranges: list[tuple[int, int]] = []
    for page in sorted(set(pages)):
        if ranges and page == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], page)
        else:
            ranges.append((page, page))
    return ", ".join(f"{first}–{last}" if last > first else str(first) for first, last in ranges)


def _place(document: types.Document, cell: types.ShownCell, say: Translate) -> str:
    """Return the document of a cell, and the pages of its value."""
    citations = cell.shown.citations if cell.shown is not None else ()
    pages = ", ".join(dict.fromkeys(citation.page_label or str(citation.page_number) for citation in citations))
    page = N_("p. {page}").format(page=pages)
    return f"{document.name}, {say(page)}" if pages else document.name


def _evidence(
    document: types.Document, field: types.FieldDefinition, cell: types.ShownCell, say: Translate, language: str
) -> Iterator[list[object]]:
    """Yield a row for each quote of a cell: of a correction, of what was found, and of other values."""
    found, review = cell.cell, cell.review
    told = found.model_copy(update={"words": say(found.reason or "")}) if found.state == "failed" else found
    state = say(N_("stale") if cell.is_stale else STATES[found.state])
    values: list[tuple[types.CellValue, str, float | None, str]] = [(told, state, found.confidence, found.sha256)]
    values += [(other, say(STATES["conflict"]), None, found.sha256) for other in found.alternatives]
    if review is not None and review.state == "corrected":
        values.insert(0, (review, say(REVIEWS["corrected"]), None, review.sha256))
    for value, state, confidence, sha256 in values:
        plain = None if value.value is None else _cell(field, value, language)
        for citation in value.citations or (None,):
            yield [
                *(document.name, field.name, plain, value.unit, value.words, state),
                Cell(confidence, "0%"),
                _decision(cell, say) or None,
                (review.reviewer or review.reviewed_by) if review is not None else None,
                say(cell.conflict) if cell.conflict else None,
                *(_quoted(citation) if citation else [None] * 4),
                page_ranges(found.pages_read) if value is told else None,
                *(found.version if sha256 == found.sha256 else None, sha256),
            ]


def _quoted(citation: types.CellCitation) -> list[object]:
    label = citation.page_label or str(citation.page_number)
    cells = dict.fromkeys(region.cells for region in citation.regions if region.cells)
    return [citation.quote, citation.page_number, label, ", ".join(cells) or None]


def _list_sheet(
    title: str, field: types.FieldDefinition, filled: types.FilledMatrix, say: Translate, language: str
) -> Sheet:
    """Return the records of a field with their columns, a row for each, with the pages that they stand on."""
    heads = [(_head(column.name, column.unit), COLUMN_WIDTH) for column in field.columns]
    rows = list[list[object]]()
    for document in filled.documents:
        cell = filled.at(document, field)
        if cell is None or cell.shown is None or not isinstance(cell.shown.value, tuple):
            continue
        pages = page_ranges([citation.page_number for citation in cell.shown.citations])
        for record in cell.shown.value:
            values = (_typed(column.type, record.get(column.name), column.unit, language) for column in field.columns)
            rows.append([document.name, *values, pages])
    return Sheet(title, [(say(N_("Document")), 28), *heads, (say(N_("Page")), 12)], rows)


# --- marked copies ---


def matrix_highlights(document: types.Document, filled: types.FilledMatrix, language: str) -> list[types.Highlight]:
    """Return the regions quoted in the values of a document; words quoted twice are marked once, with both notes."""
    notes: dict[types.Region, list[str]] = defaultdict(list)
    for field in filled.matrix.fields:
        cell = filled.at(document, field)
        if cell is None or cell.shown is None:
            continue
        source = cell.review if cell.review is not None and cell.shown is cell.review else cell.cell
        if source.sha256 != document.sha256:
            continue
        note = f"{field.name}: {value_text(field, cell.shown, language)}"
        for region in (region for citation in cell.shown.citations for region in citation.regions):
            if note not in notes[region]:
                notes[region].append(note)
    return [types.Highlight(region=region, note="\n\n".join(own)) for region, own in notes.items()]


# --- JSON ---


class ExportedField(types.FoundField):
    """The value of a field that counts, a correction by hand if there is one, and what it stands on."""

    state: types.CellState | Literal["rejected"]  # type: ignore[assignment]  # a person may say more than a reading
    found: types.CellValue | None = Field(description="What was found before a person corrected or rejected it.")
    review: types.ReviewState | None
    reviewed_at: dt.datetime | None
    reviewed_by: str | None = Field(description="The user's id.")
    reviewer: str | None = Field(description="The user's name.")
    needs_review: bool
    conflict: str | None = Field(description="How it contradicts the document's former version, or other documents.")
    is_stale: bool = Field(description="Whether the document or the field has changed since it was found.")
    document_id: uuid.UUID = Field(description="The version of the document that was read.")
    version: int
    sha256: str

    @classmethod
    def of(cls, cell: types.ShownCell) -> "ExportedField":
        """Convert a cell."""
        found, review = cell.cell, cell.review
        is_found = cell.shown is found
        read = {name: getattr(found, name) for name in types.FoundField.model_fields}
        if review is not None and review.state == "corrected":
            read |= {"state": "found", "confidence": None, "verdict": None, "alternatives": ()}
        elif review is not None and review.state == "rejected" and cell.is_reviewed:
            read |= {"state": "rejected"}
        return cls(
            **{**read, **_value_fields(cell.shown or types.CellValue())},
            found=None if is_found or found.value is None else types.CellValue(**_value_fields(found)),
            review=review and review.state,
            reviewed_at=review and review.reviewed_at,
            reviewed_by=review and review.reviewed_by,
            reviewer=review and review.reviewer,
            needs_review=cell.needs_review,
            conflict=cell.conflict,
            is_stale=cell.is_stale,
            document_id=found.document_id,
            version=found.version,
            sha256=found.sha256,
        )


class ExportedRow(types.Model):
    """A document and its fields, by their names; those that wait to be filled are left out."""

    document_id: uuid.UUID
    name: str
    version: int
    fields: Mapping[str, ExportedField]


class ExportedMatrix(types.Model):
    """A matrix: the definitions of its fields, and a row for each document."""

    id: uuid.UUID
    name: str
    fields: tuple[types.FieldDefinition, ...]
    rows: tuple[ExportedRow, ...]


def _value_fields(value: types.CellValue) -> dict[str, Any]:
    return {name: getattr(value, name) for name in types.CellValue.model_fields}


def matrix_json(filled: types.FilledMatrix, _say: Translate = str, _language: str = "en") -> bytes:
    """Write the rows with their values, and the quotes and boxes of each, as JSON; the form is that of `extract`."""
    rows = []
    for document in filled.documents:
        cells = ((field.name, filled.at(document, field)) for field in filled.matrix.fields)
        fields = {name: ExportedField.of(cell) for name, cell in cells if cell is not None}
        rows.append(ExportedRow(document_id=document.id, name=document.name, version=document.version, fields=fields))
    matrix = filled.matrix
    exported = ExportedMatrix(id=matrix.id, name=matrix.name, fields=matrix.fields, rows=tuple(rows))
    return exported.model_dump_json(by_alias=True, indent=2).encode()


MATRIX_WRITERS: Mapping[types.MatrixFormat, Callable[[types.FilledMatrix, Translate, str], bytes]] = {
    "xlsx": matrix_xlsx,
    "csv": matrix_csv,
    "json": matrix_json,
}

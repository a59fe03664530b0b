"""How values and their states are written in the table, beside the page and in comparisons."""

from rag import export, types
from rag.ui.language import N_, _, current_language

NUMERIC: tuple[types.FieldType, ...] = ("number", "money", "percentage")

TYPES: dict[types.FieldType, str] = {
    "text": N_("Text"),
    "number": N_("Number"),
    "money": N_("Money"),
    "percentage": N_("Percentage"),
    "date": N_("Date"),
    "period": N_("Period"),
    "yes_no": N_("Yes or no"),
    "choice": N_("One of a list"),
    "records": N_("List of records"),
}

NOT_SURE, CONFLICT, STALE = "?", "≠", "↻"
REVIEWED: dict[types.ReviewState, tuple[str, str]] = {
    "accepted": ("✓", N_("accepted")),
    "corrected": ("✎", N_("corrected")),
    "rejected": ("✗", N_("rejected")),
}
MARKS = {
    NOT_SURE: N_("not sure"),
    CONFLICT: N_("contradicts another value"),
    STALE: N_("the document or the field has changed since"),
    **dict(REVIEWED.values()),
}
"""What the marks of cells mean."""


def shared_unit(filled: types.FilledMatrix, field: types.FieldDefinition) -> str | None:
    """Return the unit of all values of a field, None if they have different ones or none."""
    if field.unit or field.type not in NUMERIC:
        return field.unit
    units = {
        cell.shown.unit
        for document in filled.documents
        if (cell := filled.at(document, field)) is not None and cell.shown is not None
    }
    return units.pop() if len(units) == 1 else None


def value_text(field: types.FieldDefinition, value: types.CellValue, unit_told: str | None = None) -> str:
    """Return a value in the user's language, a record in each line; its unit unless that is told elsewhere."""
    told = value.model_copy(update={"unit": None}) if value.unit == unit_told else value
    return export.value_text(field, told, current_language())


def marks(cell: types.ShownCell) -> list[str]:
    """Return the marks of a cell, what a person decided first."""
    state = cell.review.state if cell.review and (cell.is_reviewed or cell.review.state == "corrected") else None
    signs = [REVIEWED[state][0]] if state else []
    if cell.conflict or (cell.cell.state == "conflict" and state is None):
        signs.append(CONFLICT)
    if cell.is_stale:
        signs.append(STALE)
    if state is None and cell.cell.state in ("found", "not_stated") and not cell.cell.is_sure:
        signs.append(NOT_SURE)
    return signs


def page_of(value: types.CellValue) -> str:
    """Return the page of a value's first citation as printed on it, empty without one."""
    return citation_page(value.citations[0]) if value.citations else ""


def citation_page(citation: types.CellCitation) -> str:
    """Return the page of a citation as printed on it: `p. 12`."""
    return _("p. {page}", page=citation.page_label or citation.page_number)

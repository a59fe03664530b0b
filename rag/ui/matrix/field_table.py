"""Field definitions as the rows of an editable table, and back."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from rag import errors, types
from rag.messages import N_
from rag.ui.language import _, translate_columns
from rag.ui.matrix.values import TYPES

SEPARATOR = ";"
"""Between the choices, or columns, of a field."""
BRACKETS = "[]"
"""Around the unit, or the choices separated by |, of a column of records: `amount: money [million USD]`."""


VISIBLE = ("name", "type", "instruction", "unit", "parts", "required", "should_agree")
"""Columns of the table; the id and example of a field are kept in hidden ones."""
COLUMNS = {
    "name": st.column_config.TextColumn(N_("Name"), width=170),
    "instruction": st.column_config.TextColumn(
        N_("Instruction"), width=250, help=N_("What is meant: where it stands, of which period, what does not count.")
    ),
    "unit": st.column_config.TextColumn(N_("Unit"), width=90, help=N_("Numbers are converted to it: million USD, %.")),
    "parts": st.column_config.TextColumn(
        N_("Choices or columns"),
        width=180,
        help=N_(
            "Of one of a list, the choices: fixed; variable. Of a list of records, its columns with their types: "
            "lender: text; amount: money [million USD]; secured: yes or no"
        ),
    ),
    "required": st.column_config.CheckboxColumn(
        N_("Required"), width=85, help=N_("If it is not stated, the value is to be reviewed.")
    ),
    "should_agree": st.column_config.CheckboxColumn(
        N_("All should agree"), width=130, help=N_("Mark values that differ.")
    ),
}
EMPTY: Mapping[str, Any] = {
    **dict.fromkeys(("name", "type", "instruction", "unit", "parts", "id", "example"), ""),
    "required": False,
    "should_agree": False,
}


def edit_fields(fields: Sequence[types.FieldDefinition], key: str) -> list[dict[str, Any]]:
    """Show fields as an editable table and return its rows; another `key` begins with other fields.

    `on_change="ignore"` keeps edits in the browser until the next rerun: reporting each edit takes half a second,
    and would come too late for a button that is clicked before.
    """
    rows = [row_of(field) for field in fields] or [{**EMPTY, "type": _(TYPES["text"])}]
    types_of_fields = [_(name) for name in TYPES.values()]  # as they are shown, which is how they are pasted
    edited: list[dict[str, Any]] = st.data_editor(
        rows,
        key=key,
        column_config={
            **translate_columns(COLUMNS),
            "type": st.column_config.SelectboxColumn(_("Type"), options=types_of_fields, width=110),
        },
        column_order=VISIBLE,
        num_rows="dynamic",
        hide_index=True,
        height=36 * min(max(len(rows), 5), 9) + 75,
        on_change="ignore",
    )
    return edited


def row_of(field: types.FieldDefinition) -> dict[str, Any]:
    """Return the row of a field."""
    if field.type == "records":
        parts = f"{SEPARATOR} ".join(map(_column_text, field.columns))
    else:
        parts = f"{SEPARATOR} ".join(field.choices)
    texts = {"unit": field.unit or "", "parts": parts, "example": field.example or ""}
    kept = field.model_dump(include={"name", "instruction", "required", "should_agree"})
    return {**EMPTY, **kept, **texts, "type": _(TYPES[field.type]), "id": str(field.id or "")}


def _column_text(column: types.FieldColumn) -> str:
    detail = " | ".join(column.choices) or column.unit
    text = f"{column.name}: {_(TYPES[column.type])}"
    return f"{text} {BRACKETS[0]}{detail}{BRACKETS[1]}" if detail else text


def fields_of_rows(rows: Iterable[Mapping[str, Any]]) -> list[types.FieldDefinition]:
    """Return the fields of edited rows; empty rows are left out. What was pasted as a name may be a long question.

    Raises:
        errors.ValidationError: the choices or columns of a field are missing or cannot be read, or two fields have the
            same name.
    """
    fields = []
    for row in rows:
        text = {name: " ".join(str(value).split()) for name, value in row.items() if isinstance(value, str)}
        name, instruction = text.get("name", ""), text.get("instruction", "")
        if not name and not instruction:
            continue
        kind = _kinds().get(text.get("type", "").casefold(), "text")
        parts = [part.strip() for part in text.get("parts", "").split(SEPARATOR) if part.strip()]
        if kind == "choice" and not parts:
            raise errors.ValidationError(
                N_("“{name}” is one of a list: write its choices, separated by “;”."), name=name
            )
        if kind == "records" and not parts:
            raise errors.ValidationError(N_("“{name}” is a list of records: write its columns."), name=name)
        fields.append(
            types.FieldDefinition(
                id=text.get("id") or None,
                name=(name or instruction)[:200],
                instruction=instruction or (name if len(name) > 200 else ""),
                type=kind,
                unit=text.get("unit") or None,
                choices=tuple(dict.fromkeys(parts)) if kind == "choice" else (),
                columns=tuple(map(_column, parts)) if kind == "records" else (),
                required=bool(row.get("required")),
                example=text.get("example") or None,
                should_agree=bool(row.get("should_agree")),
            )
        )
    names = Counter(field.name for field in dict.fromkeys(fields))
    for name, count in names.items():
        if count > 1:
            raise errors.ValidationError(N_("Two fields are called “{name}”. Give each a name of its own."), name=name)
    return fields


def _kinds() -> dict[str, types.FieldType]:
    """Return the types by their names, as they are shown and as requests have them."""
    return {name.casefold(): kind for kind, label in TYPES.items() for name in (kind, label, _(label))}


def _column(text: str) -> types.FieldColumn:
    """Return the column that a text such as `amount: money [million USD]` describes; one without a type has text."""
    head, _bracket, detail = text.partition(BRACKETS[0])
    name, _colon, kind_text = head.strip().partition(":")
    detail = detail.strip().rstrip(BRACKETS[1]).strip()
    kind = _kinds().get(kind_text.strip().casefold() or "text")
    choices = tuple(choice.strip() for choice in detail.split("|") if choice.strip()) if kind == "choice" else ()
    if kind in (None, "records") or not name.strip() or (kind == "choice" and not choices):
        raise errors.ValidationError(
            N_("“{column}” is no column of a list of records. Write such as “amount: money [million USD]”."),
            column=text,
        )
    unit = detail if kind != "choice" and detail else None
    return types.FieldColumn(name=name.strip(), type=kind, unit=unit, choices=choices)

"""The form in which a person corrects a value, with a field for its type, or by words selected on the page."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from babel.numbers import NumberFormatError, parse_decimal

from rag import types
from rag.answering import field_values
from rag.ui.components import focus_field
from rag.ui.formatting import escape
from rag.ui.language import N_, _, current_language
from rag.ui.matrix.decisions import CORRECTED, WORDS, Correction, decide, leave_correction, show_notice
from rag.ui.matrix.selection import Selected
from rag.ui.matrix.values import NUMERIC, citation_page

FORMATS: dict[types.FieldType, str] = {
    "date": N_("2023-12-31, 2023-12, 2023, or as the document writes it"),
    "period": N_("2023, Q2 2023, 3 years, or as the document writes it"),
}
COLUMN_FIELDS: dict[types.ColumnType, Any] = {
    "number": st.column_config.NumberColumn,
    "money": st.column_config.NumberColumn,
    "percentage": st.column_config.NumberColumn,
    "yes_no": st.column_config.CheckboxColumn,
}


def show_correction(filled: types.FilledMatrix, selected: Selected) -> None:
    """Show the form; what is saved is read as the field's type by the engine."""
    field, shown = selected.field, selected.shown
    words: types.CellCitation | None = st.session_state.get(WORDS)
    opened: Correction = st.session_state[CORRECTED]
    # When somebody else decides meanwhile, what was typed stays: inputs that begin with another value are new ones.
    before = opened.before or (shown.shown if shown else None) or types.CellValue()
    st.session_state[CORRECTED] = opened._replace(before=before)
    key = f"matrix-correction-{hash((selected.place, words))}"
    with st.container(key="matrix-correction"), st.form(key=key, border=False):
        if words:
            st.caption(_("{page}: “{quote}”", page=escape(citation_page(words)), quote=escape(words.quote)))
        else:
            st.caption(_("Write the value, or select its words on the page and choose “Take as value”."))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            text = _value(field, before, words)
            unit = _unit(field, before)
        with st.container(horizontal=True):
            is_saved = st.form_submit_button(_("Save"), type="primary", icon=":material/check:")
            is_left = st.form_submit_button(_("Cancel"))
    focus_field(".st-key-matrix-correction :is(input, [data-testid='stButtonGroup'] button)")
    show_notice(filled.matrix.id, selected.place)
    if is_left:
        leave_correction()
        st.rerun()
    if is_saved:
        st.session_state[CORRECTED] = Correction(selected.place, selected.seen, before)  # is seen if this is not saved
        decide(filled, selected.place, "corrected", opened.seen, _request(field, text, unit, before, words))
        st.rerun()


def _request(
    field: types.FieldDefinition,
    value: Any,  # of the field's type
    unit: str | None,
    before: types.CellValue,
    words: types.CellCitation | None,
) -> dict[str, Any]:
    """Return what is sent: selected words stand for the value unless another was written.

    The words that the value before stands on prove no other value.
    """
    if words:
        told = {"words": words.quote, "citations": [words.model_dump()], "unit": unit}
        if value == words.quote:
            return told
    elif value == _initial(field, before) and value not in (None, "", []):
        return {**before.model_dump(include={"value", "words", "citations"}), "unit": unit}
    else:
        told = {"unit": unit}
    return {**told, "value": _number(value) if field.type in NUMERIC else value}


def _number(text: str) -> float | str:
    """Return a number that is written as in the user's language; other words are for the engine to read."""
    try:
        return float(parse_decimal(text.strip(), locale=current_language(), strict=True))
    except NumberFormatError:
        return text


def _value(field: types.FieldDefinition, before: types.CellValue, words: types.CellCitation | None) -> Any:
    """Show the input of a field's type and return what it holds."""
    initial = _initial(field, before)
    if field.type == "records":
        return _records(field.columns, initial)
    if field.type == "yes_no":
        answers = {True: _("Yes"), False: _("No")}
        return st.segmented_control(_("Value"), list(answers), default=initial, format_func=answers.__getitem__)
    if field.type == "choice":
        index = None if initial is None else field.choices.index(initial)
        return st.selectbox(_("Value"), field.choices, index=index)
    text = words.quote if words else initial
    if field.type == "text":
        return st.text_input(_("Value"), text)
    return st.text_input(_("Value"), text, placeholder=_(FORMATS.get(field.type, "")))


def _initial(field: types.FieldDefinition, before: types.CellValue) -> Any:
    """Return what the input of a field's type begins with."""
    if field.type == "records":
        return [dict(record) for record in before.value] if isinstance(before.value, tuple) else []
    present = None if isinstance(before.value, tuple) else before.value
    if field.type == "yes_no":
        return present if isinstance(present, bool) else None
    if field.type == "choice":
        return present if present in field.choices else None
    return field_values.shown(present, None, field.type, current_language())


def _unit(field: types.FieldDefinition, before: types.CellValue) -> str | None:
    """Show the input of a unit if the field does not say which."""
    if field.type not in ("number", "money"):
        return before.unit
    if field.unit:
        st.text(field.unit)
        return field.unit
    return st.text_input(_("Unit"), before.unit or "", placeholder=_("million USD")).strip() or None


def _records(columns: Sequence[types.FieldColumn], records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Show the records as a table to edit and return those that have a value."""
    kinds = {column.name: COLUMN_FIELDS.get(column.type, st.column_config.TextColumn) for column in columns}
    config = {column.name: kinds[column.name](_heading(column)) for column in columns}
    config |= {
        column.name: st.column_config.SelectboxColumn(_heading(column), options=list(column.choices))
        for column in columns
        if column.choices
    }
    names = [column.name for column in columns]
    table = pd.DataFrame(records, columns=names, dtype=object)
    edited = st.data_editor(
        table, key="matrix-records", column_config=config, num_rows="dynamic", hide_index=True, placeholder=""
    )
    rows: list[Mapping[str, Any]] = edited.to_dict("records")
    stated = ({name: value for name, value in row.items() if not pd.isna(value) and value != ""} for row in rows)
    return [row for row in stated if row]


def _heading(column: types.FieldColumn) -> str:
    return f"{column.name} ({column.unit})" if column.unit else column.name

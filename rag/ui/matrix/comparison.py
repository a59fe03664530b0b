"""Differences between two documents of a matrix, and a chart of a numeric field."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from rag import types
from rag.answering import field_values
from rag.ui.formatting import decimal, distinct, plural
from rag.ui.language import _
from rag.ui.matrix.selection import Place, engine_of
from rag.ui.matrix.values import NUMERIC, value_text


def show_comparison(filled: types.FilledMatrix) -> None:
    """Show a chart of a numeric field, if there is one, and what differs between two documents."""
    numeric = [field for field in filled.matrix.fields if field.type in NUMERIC]
    if numeric:
        _chart(filled, numeric)
    if len(filled.documents) > 1:
        _differences(filled)
    if not numeric and len(filled.documents) < 2:
        st.caption(_("There is nothing to compare: a chart needs a number, differences need two documents."))


def _values(filled: types.FilledMatrix, **part: Any) -> dict[Place, types.CellValue]:
    """Return the values of some documents or fields that count."""
    cells = engine_of(filled.matrix.id).matrices.with_cells(filled, **part).cells
    return {Place(one.cell.lineage_id, one.cell.field_id): one.shown for one in cells if one.shown}


def _chart(filled: types.FilledMatrix, numeric: Sequence[types.FieldDefinition]) -> None:
    """Show the values of a field by document, or over a date or period; only those in the field's most common unit."""
    times = [field for field in filled.matrix.fields if field.type in ("date", "period")]
    with st.container(horizontal=True):
        field = st.selectbox(_("Number"), numeric, format_func=lambda one: one.name, key="matrix-chart-field")
        axis = st.selectbox(
            _("By"), [None, *times], format_func=lambda one: one.name if one else _("Document"), key="matrix-chart-axis"
        )
    names = distinct({document.lineage: document.name for document in filled.documents})
    values = _values(filled, fields=[field, axis] if axis else [field])
    points = []
    for document in filled.documents:
        lineage = document.lineage
        value = values.get(Place(lineage, field.id))
        time = values.get(Place(lineage, axis.id)) if axis else None
        label = _last_day(time) if time else None if axis else names[lineage]
        if value is not None and isinstance(value.value, float | int) and label:
            points.append((label, float(value.value), value.unit))
    units = pd.Series([unit or "" for _label, _value, unit in points], dtype=str).mode()
    unit = str(units[0]) if len(units) else ""
    bars = [(label, value) for label, value, other in points if (other or "") == unit]
    table = pd.DataFrame(bars, columns=["x", "y"])
    title = f"{field.name} ({unit})" if unit else field.name
    if table.empty:
        st.caption(_("No document has such a value."))
    elif axis is None:
        st.bar_chart(table, x="x", y="y", x_label=title, y_label="", horizontal=True, sort=False)
    else:
        st.scatter_chart(table, x="x", y="y", x_label=axis.name, y_label=title)  # bars of the same day would add up
    if left_out := len(filled.documents) - len(table):
        st.caption(
            plural(
                left_out,
                "{count} document without a value in this unit is left out.",
                "{count} documents without a value in this unit are left out.",
            )
        )


def _last_day(value: types.CellValue) -> str | None:
    """Return a date, or the last day of a period; None for a duration."""
    text = str(value.value)
    return None if text.startswith("P") else text.rpartition("/")[2]


def _differences(filled: types.FilledMatrix) -> None:
    """Show the fields in which two documents differ, and by how much."""
    names = distinct({document.lineage: document.name for document in filled.documents})
    ids = list(names)
    with st.container(horizontal=True):
        first = st.selectbox(_("Differences between"), ids, format_func=names.__getitem__, key="matrix-first")
        others = [lineage for lineage in ids if lineage != first]
        second = st.selectbox(_("and"), others, format_func=names.__getitem__, key="matrix-second")
    values = _values(filled, documents=[one for one in filled.documents if one.lineage in (first, second)])
    rows, equal = [], 0
    for field in filled.matrix.fields:
        one, other = (values.get(Place(lineage, field.id)) for lineage in (first, second))
        if _is_equal(field, one, other):
            equal += 1
            continue
        texts = [value_text(field, value).replace("\n", "; ") if value else "–" for value in (one, other)]
        rows.append([field.name, *texts, _change(field, one, other)])
    if rows:
        headings = ["field", "first", "second", "change"]
        labels = [_("Field"), names[first], names[second], _("Change")]
        config = {key: st.column_config.TextColumn(label) for key, label in zip(headings, labels, strict=True)}
        st.dataframe(pd.DataFrame(rows, columns=headings), column_config=config, hide_index=True, height="content")
    st.caption(plural(equal, "{count} field is the same in both.", "{count} fields are the same in both."))


def _is_equal(field: types.FieldDefinition, one: types.CellValue | None, other: types.CellValue | None) -> bool:
    if one is None or other is None:
        return one is other
    if isinstance(one.value, tuple) or isinstance(other.value, tuple):
        return one.value == other.value
    return one.unit == other.unit and field_values.same(one.value, other.value, field.type)


def _change(field: types.FieldDefinition, one: types.CellValue | None, other: types.CellValue | None) -> str:
    """Return how much a number is larger in the second document: `+12.5 (+3%)`."""
    if field.type not in NUMERIC or one is None or other is None or one.unit != other.unit:
        return ""
    if not isinstance(one.value, float | int) or not isinstance(other.value, float | int):
        return ""
    change = other.value - one.value
    digits = 0 if change == int(change) else 2
    share = f" ({change / abs(one.value):+.0%})" if one.value else ""
    return f"{'+' if change > 0 else ''}{decimal(change, digits)}{share}"

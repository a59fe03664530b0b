"""Typed values of fields: find them in words of documents, normalise, compare and show them."""

from rag.answering.field_values.display import shown
from rag.answering.field_values.units import TIME_RATIOS, Unit, parse_unit, per_periods
from rag.answering.field_values.values import Value, is_bare, normalised, same, values_in

__all__ = [
    "TIME_RATIOS",
    "Unit",
    "Value",
    "is_bare",
    "normalised",
    "parse_unit",
    "per_periods",
    "same",
    "shown",
    "values_in",
]

"""Typed values of fields: find them in words of documents, normalise, compare and show them."""

from rag.answering.field_values.display import shown
from rag.answering.field_values.units import Unit, parse_unit
from rag.answering.field_values.values import Value, normalised, same, values_in

__all__ = ["Unit", "Value", "normalised", "parse_unit", "same", "shown", "values_in"]

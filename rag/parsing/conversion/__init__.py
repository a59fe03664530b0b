"""From files that are no PDF to PDFs with a text layer, one module for each family of kinds."""

from rag.parsing.conversion.converting import convert
from rag.parsing.conversion.source import Conversion, SourceText
from rag.parsing.conversion.unpacking import Unpacking

__all__ = ["Conversion", "SourceText", "Unpacking", "convert"]

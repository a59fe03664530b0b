"""Export answers, conversations and matrices with their evidence."""

from rag.export.formats import FORMATS, ExportFormat, FileFormat, write
from rag.export.html import inert_markdown
from rag.export.labels import Say
from rag.export.matrix import matrix_csv, matrix_xlsx
from rag.export.report import Claim, Evidence, Report, Turn, claims_of, marked_text
from rag.export.spreadsheets import to_csv

__all__ = [
    "FORMATS",
    "Claim",
    "Evidence",
    "ExportFormat",
    "FileFormat",
    "Report",
    "Say",
    "Turn",
    "claims_of",
    "inert_markdown",
    "marked_text",
    "matrix_csv",
    "matrix_xlsx",
    "to_csv",
    "write",
]

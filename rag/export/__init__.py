"""Export answers, conversations and matrices with their evidence."""

from rag.export.formats import FORMATS, ExportFormat, FileFormat, write
from rag.export.html import inert_markdown
from rag.export.labels import Translate
from rag.export.matrix import matrix_csv, matrix_xlsx
from rag.export.report import Claim, Evidence, Report, Turn, claims_of, labelled_answer
from rag.export.spreadsheets import to_csv

__all__ = [
    "FORMATS",
    "Claim",
    "Evidence",
    "ExportFormat",
    "FileFormat",
    "Report",
    "Translate",
    "Turn",
    "claims_of",
    "inert_markdown",
    "labelled_answer",
    "matrix_csv",
    "matrix_xlsx",
    "to_csv",
    "write",
]

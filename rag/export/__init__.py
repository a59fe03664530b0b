"""Export answers, conversations and matrices with their evidence."""

from rag.export.formats import FORMATS, ExportFormat, FileFormat, write
from rag.export.markdown import inert_markdown
from rag.export.marks import (
    Translate,
    append,
    cite,
    mark_of,
    plain_words,
    reading_text,
    reason_of,
    rewrite,
    strike,
    summary_of,
    written_mark,
)
from rag.export.matrices import MATRIX_WRITERS, matrix_highlights, page_ranges, value_text
from rag.export.report import Claim, Evidence, Report, Turn, claims_of, marked_answer
from rag.export.spreadsheets import to_csv

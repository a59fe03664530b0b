"""Read files: each becomes a PDF with a text layer, and every character of its text has a box on a page."""

from rag.parsing.file_reader import decrypt, needs_password, read_file
from rag.parsing.file_types import MIME_TYPE_BY_SUFFIX, detect_mime_type, files_in
from rag.parsing.html.layout import html_to_pdf
from rag.parsing.ocr.languages import language_identifier
from rag.parsing.office.pandoc import html_to_docx
from rag.parsing.pdf.document import parse_rendition
from rag.parsing.pdf.page_rendering import (
    annotated_excerpt,
    annotated_pdf,
    bookmarks,
    page_image,
    page_size,
    region_image,
)
from rag.parsing.pdf.quote_boxes import cell_names, locate, sheet_grids

__all__ = [
    "MIME_TYPE_BY_SUFFIX",
    "annotated_excerpt",
    "annotated_pdf",
    "bookmarks",
    "cell_names",
    "decrypt",
    "detect_mime_type",
    "files_in",
    "html_to_docx",
    "html_to_pdf",
    "language_identifier",
    "locate",
    "needs_password",
    "page_image",
    "page_size",
    "parse_rendition",
    "read_file",
    "region_image",
    "sheet_grids",
]

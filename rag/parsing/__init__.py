"""Reading files: everything becomes a PDF with a text layer, and every character of its text has a place on a page."""

from rag.parsing.file_reader import decrypt, needs_password, read_file
from rag.parsing.file_types import MIME_TYPE_BY_SUFFIX, detect_mime_type
from rag.parsing.languages import identifier
from rag.parsing.pdf.document import parse_rendition
from rag.parsing.pdf.html_output import docx_of, pdf_of
from rag.parsing.pdf.page_rendering import bookmarks, marked_copy, marked_whole, page_image, page_size, place_image
from rag.parsing.pdf.quote_boxes import cell_names, locate

__all__ = [
    "MIME_TYPE_BY_SUFFIX",
    "bookmarks",
    "cell_names",
    "decrypt",
    "detect_mime_type",
    "docx_of",
    "identifier",
    "locate",
    "marked_copy",
    "marked_whole",
    "needs_password",
    "page_image",
    "page_size",
    "parse_rendition",
    "pdf_of",
    "place_image",
    "read_file",
]

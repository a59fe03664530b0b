"""Reading files: everything becomes a PDF with a text layer, and every character of its text has a place on a page."""

from rag.parsing.document import parse_rendition
from rag.parsing.filetype import MIME_TYPE_BY_SUFFIX, detect_mime_type
from rag.parsing.quotes import cell_names, locate
from rag.parsing.reading import decrypt, needs_password, read_file
from rag.parsing.viewing import marked_copy, page_image, page_size

__all__ = [
    "MIME_TYPE_BY_SUFFIX",
    "cell_names",
    "decrypt",
    "detect_mime_type",
    "locate",
    "marked_copy",
    "needs_password",
    "page_image",
    "page_size",
    "parse_rendition",
    "read_file",
]

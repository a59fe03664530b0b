"""Which converter reads which kind of file."""

from pathlib import Path

from rag.parsing import filetype
from rag.parsing.conversion import flowing
from rag.parsing.conversion.source import Conversion, OnPages, ignore_pages


def convert(source: Path, mime_type: str, on_pages: OnPages = ignore_pages) -> Conversion:
    """The file at `source` as a PDF.

    `on_pages` is told about how many pages it will have as soon as that is known: time is allowed by the page.

    Raises:
        errors.UnreadableFileError: it is damaged.
    """
    if mime_type == filetype.PPTX:
        from rag.parsing.conversion import slides  # python-pptx costs each parsing process a quarter of a second

        return slides.to_pdf(source)
    if mime_type in filetype.SHEETS:
        from rag.parsing.conversion import sheets  # openpyxl costs as much

        return sheets.to_pdf(source, mime_type, on_pages)
    return flowing.to_pdf(source, mime_type)

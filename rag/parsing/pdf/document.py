"""Parse a rendition in this process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag import types
from rag.parsing import metadata
from rag.parsing.pdf import structure
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, open_pdf
from rag.parsing.pdf.pages import PageContent, parse_page


def parse_rendition(path: Path, config: types.ParsingConfig | None = None) -> types.ParsedDocument:
    """Parse the PDF at `path`.

    Raises:
        errors.NotFoundError: the file is missing.
        errors.UnreadableFileError: the file is damaged or no PDF.
    """
    with open_pdf(path) as document:
        found = metadata.read_metadata(document)
        parsed = structure.assemble(iter_pages(document, config or types.ParsingConfig()), found.title)
    return parsed.model_copy(update={"author": found.author, "dated": found.dated})


def iter_pages(document: Any, config: types.ParsingConfig) -> Iterator[PageContent]:
    """Yield every page's content; a page that fails has an error and no blocks."""
    labels = page_labels(document)
    for index in range(document.page_count):
        label = labels[index] if labels else None
        yield parse_page(document, index, label=label, use_model=config.layout == "accurate")


def page_labels(document: Any) -> list[str] | None:
    """Return the file's page labels; None if it has none."""
    try:
        return (
            [document[index].get_label() for index in range(document.page_count)]
            if document.get_page_labels()
            else None
        )
    except MUPDF_ERRORS:
        return None

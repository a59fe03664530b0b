"""Parsing a rendition in this process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag.parsing import metadata
from rag.parsing.pdf import structure
from rag.parsing.pdf.mupdf import FAILURES, open_pdf
from rag.parsing.pdf.pages import PageContent, parse_page
from rag.types import ParsedDocument, ParsingConfig


def parse_rendition(path: Path, config: ParsingConfig | None = None) -> ParsedDocument:
    """The pages and blocks of the PDF at `path`, in reading order.

    Raises:
        errors.NotFoundError: there is no file.
        errors.UnreadableFileError: it is no PDF, or damaged.
    """
    with open_pdf(path) as document:
        said = metadata.of(document)
        parsed = structure.assemble(iter_pages(document, config or ParsingConfig()), said.title)
    return parsed.model_copy(update={"author": said.author, "dated": said.dated})


def iter_pages(document: Any, config: ParsingConfig) -> Iterator[PageContent]:
    """Every page's content; a page that fails has an error and no blocks."""
    labels = page_labels(document)
    for index in range(document.page_count):
        label = labels[index] if labels else None
        yield parse_page(document, index, label=label, use_model=config.layout == "accurate")


def page_labels(document: Any) -> list[str] | None:
    """The numbers printed on the pages as the file names them; None if it names none."""
    try:
        return (
            [document[index].get_label() for index in range(document.page_count)]
            if document.get_page_labels()
            else None
        )
    except FAILURES:
        return None

"""The text of office files and books, read without a converter."""

from collections.abc import Callable, Iterator
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from rag.parsing import file_types
from rag.parsing.conversion import books, metadata, odf, paragraphs, word
from rag.parsing.conversion.metadata import Metadata
from rag.parsing.conversion.packages import Package
from rag.parsing.conversion.paragraphs import Paragraph

_READERS: dict[str, Callable[[Package], Iterator[Paragraph]]] = {
    file_types.DOCX: word.read,
    file_types.ODT: odf.read,
    file_types.EPUB: books.read,
}


def read(source: Path, mime_type: str) -> tuple[Metadata, list[Paragraph]]:
    """What the file says of itself, and each of its paragraphs.

    Raises:
        errors.UnreadableFileError: it is damaged.
    """
    if mime_type == file_types.RTF:
        return Metadata(), _rich_text(source.read_text(encoding="latin-1"))
    with Package(source) as package:
        return metadata.read(package), paragraphs.once(_READERS[mime_type](package))


def _rich_text(content: str) -> list[Paragraph]:
    try:
        text = rtf_to_text(content, errors="replace")  # type: ignore[no-untyped-call]
    except (LookupError, ValueError):
        return []  # a second reading only: Pandoc may understand what this reader does not
    cells = (cell for line in text.splitlines() for cell in line.split("|"))  # as it parts the cells of tables
    return [Paragraph(paragraphs.BODY, cell) for cell in cells if cell.strip()]

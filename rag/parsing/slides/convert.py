"""Convert presentations to PDF without LibreOffice."""

from pathlib import Path

from rag.parsing import file_types
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion
from rag.parsing.office import embedded
from rag.parsing.slides import opendocument, pages, powerpoint
from rag.parsing.slides.deck import Deck


def to_pdf(source: Path, mime_type: str, unpacking: Unpacking) -> Conversion:
    """Convert the presentation at `source` to PDF, one page per slide, hidden slides included.

    Files embedded in it are stored with `unpacking`.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    deck = read(source, mime_type)
    embedded.store(deck.files, unpacking)
    document = pages.write(deck)
    deck.about.set_on(document)
    return Conversion(document, deck.source_texts())


def read(source: Path, mime_type: str) -> Deck:
    """Read a presentation.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    return powerpoint.read(source) if mime_type == file_types.PPTX else opendocument.read(source)

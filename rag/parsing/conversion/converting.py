"""Which converter reads which kind of file."""

from pathlib import Path

from rag.parsing import filetype
from rag.parsing.conversion import flowing
from rag.parsing.conversion.source import Conversion
from rag.parsing.conversion.unpacking import Unpacking
from rag.types import ARCHIVE, CONTAINERS, ParsingConfig

_MANUSCRIPTS = frozenset({filetype.DOCX, filetype.ODT, filetype.RTF, filetype.EPUB})


def convert(source: Path, mime_type: str, config: ParsingConfig, unpacking: Unpacking) -> Conversion:
    """The file at `source` as a PDF; files in it are put where `unpacking` says.

    Raises:
        errors.UnreadableFileError: it is damaged.
    """
    if mime_type in _MANUSCRIPTS:
        from rag.parsing.conversion import office

        return office.to_pdf(source, mime_type, config)
    if mime_type == filetype.PPTX:
        from rag.parsing.conversion import slides  # python-pptx costs each parsing process a quarter of a second

        return slides.to_pdf(source)
    if mime_type in filetype.SHEETS:
        from rag.parsing.conversion import sheets  # openpyxl costs as much

        return sheets.to_pdf(source, mime_type)
    if mime_type in CONTAINERS:
        from rag.parsing.conversion import archive, mail  # likewise

        if mime_type == ARCHIVE:
            return archive.to_pdf(source, unpacking)
        return mail.to_pdf(source, mime_type, unpacking)
    return flowing.to_pdf(source, mime_type)

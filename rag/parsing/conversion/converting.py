"""Which converter reads which kind of file."""

from pathlib import Path

from rag import errors
from rag.parsing import file_types
from rag.parsing.conversion import flowing
from rag.parsing.conversion.source import Conversion, OnPages
from rag.parsing.conversion.unpacking import Unpacking
from rag.types import ARCHIVE, CONTAINERS, ParsingConfig

_OFFICE = frozenset(
    {file_types.DOCX, file_types.ODT, file_types.RTF, file_types.DOC, file_types.PPTX, file_types.ODP, file_types.PPT}
)
"""What LibreOffice reads."""
_MANUSCRIPTS = frozenset({file_types.DOCX, file_types.ODT, file_types.RTF, file_types.EPUB})


def convert(source: Path, mime_type: str, config: ParsingConfig, unpacking: Unpacking, on_pages: OnPages) -> Conversion:
    """The file at `source` as a PDF; files in it are put where `unpacking` says.

    `on_pages` is told about how many pages it will have as soon as that is known: time is allowed by the page.

    LibreOffice does it where it is installed and `config` wants it; what it fails at is done without it.

    Raises:
        errors.UnreadableFileError: it is damaged.
        errors.UnsupportedFileError: only LibreOffice can read it, and it is not installed or fails.
    """
    if config.office == "auto" and mime_type in _OFFICE:
        from rag.parsing.conversion import installed_office

        made = installed_office.convert(source, mime_type, config)
        if made is not None:
            return made
    if mime_type in CONTAINERS:
        from rag.parsing.conversion import archive, mail

        return archive.to_pdf(source, unpacking) if mime_type == ARCHIVE else mail.to_pdf(source, mime_type, unpacking)
    if mime_type in file_types.SHEETS:
        from rag.parsing.conversion import sheets  # openpyxl costs each parsing process a quarter of a second

        return sheets.to_pdf(source, mime_type, on_pages)
    return _convert_ourselves(source, mime_type, config)


def _convert_ourselves(source: Path, mime_type: str, config: ParsingConfig) -> Conversion:
    if mime_type in {file_types.DOC, file_types.PPT}:
        raise errors.UnsupportedFileError(
            "The file is of an older Office version, which only LibreOffice can read. Install it"
            " (and leave RAG_PARSING__OFFICE at auto), or save the file as DOCX, PPTX or PDF."
        )
    if mime_type in _MANUSCRIPTS:
        from rag.parsing.conversion import office

        return office.to_pdf(source, mime_type, config)
    if mime_type == file_types.PPTX:
        from rag.parsing.conversion import slides  # python-pptx costs as much

        return slides.to_pdf(source)
    if mime_type == file_types.ODP:
        from rag.parsing.conversion import odp

        return odp.to_pdf(source)
    if mime_type in file_types.IMAGES:
        from rag.parsing.conversion import images  # Pillow and its plugins take a tenth of a second

        return images.to_pdf(source)
    return flowing.to_pdf(source, mime_type)

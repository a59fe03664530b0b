"""Convert any supported file that is not a PDF to a PDF with a text layer.

Converters are imported when needed, as their libraries cost each parsing process some milliseconds.
"""

from pathlib import Path

from rag import errors, types
from rag.messages import N_
from rag.parsing import file_types
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion, OnPages
from rag.parsing.html import text_files

_DOCUMENTS = frozenset({file_types.DOCX, file_types.ODT, file_types.RTF, file_types.EPUB})
_PRESENTATIONS = frozenset({file_types.PPTX, file_types.ODP})
_LEGACY = frozenset({file_types.DOC, file_types.PPT})


def convert(
    source: Path, mime_type: str, config: types.ParsingConfig, unpacking: Unpacking, on_pages: OnPages
) -> Conversion:
    """Convert the file at `source` to PDF; store files contained in it with `unpacking`.

    `on_pages` receives the estimated number of pages as soon as it is known, since the time limit depends on it.

    LibreOffice converts documents and presentations where it is installed and `config` allows it. If it fails, the
    built-in converters take over.

    Raises:
        errors.UnreadableFileError: the file is damaged.
        errors.UnsupportedFileError: only LibreOffice can read the file, and it is not installed or fails.
    """
    if config.office == "auto" and mime_type in (_DOCUMENTS - {file_types.EPUB}) | _PRESENTATIONS | _LEGACY:
        from rag.parsing.office import libreoffice

        converted = libreoffice.convert(source, mime_type, config, unpacking)
        if converted is not None:
            return converted
    if mime_type in types.CONTAINERS:
        return _convert_container(source, mime_type, unpacking)
    if mime_type in file_types.SHEETS:
        from rag.parsing.sheets import convert as sheets

        return sheets.to_pdf(source, mime_type, unpacking, on_pages)
    return _convert_builtin(source, mime_type, config, unpacking)


def _convert_container(source: Path, mime_type: str, unpacking: Unpacking) -> Conversion:
    from rag.parsing.archive import filings, zip_archive
    from rag.parsing.mail import convert as mail
    from rag.parsing.mail import mbox

    by_type = {types.ARCHIVE: zip_archive.to_pdf, types.FILING: filings.to_pdf, types.MAILBOX: mbox.to_pdf}
    if mime_type in by_type:
        return by_type[mime_type](source, unpacking)
    return mail.to_pdf(source, mime_type, unpacking)


def _convert_builtin(source: Path, mime_type: str, config: types.ParsingConfig, unpacking: Unpacking) -> Conversion:
    if mime_type in _LEGACY:
        raise errors.UnsupportedFileError(
            N_(
                "The file is in an old Office format that only LibreOffice can read. Install LibreOffice (and leave "
                "RAG_PARSING__OFFICE at auto), or save the file as DOCX, PPTX or PDF."
            )
        )
    if mime_type in _DOCUMENTS:
        from rag.parsing.office import documents

        return documents.to_pdf(source, mime_type, config, unpacking)
    if mime_type in _PRESENTATIONS:
        from rag.parsing.slides import convert as slides

        return slides.to_pdf(source, mime_type, unpacking)
    if mime_type == file_types.ICS:
        from rag.parsing.mail import appointments

        return appointments.to_pdf(source)
    if mime_type in file_types.IMAGES:
        from rag.parsing import images

        return images.to_pdf(source)
    return text_files.to_pdf(source, mime_type)

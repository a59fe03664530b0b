"""Convert office files with LibreOffice, and add what it leaves out: comments, notes and lost text."""

from pathlib import Path
from typing import Any

from rag import types
from rag.parsing import file_types
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion
from rag.parsing.html.layout import lay_out
from rag.parsing.office import documents, embedded, libreoffice, paragraphs
from rag.parsing.office.paragraphs import bare
from rag.parsing.slides import convert as slides
from rag.parsing.slides import pages

MAX_LOST_SHARE = 0.02
"""If LibreOffice loses a larger share of a document's characters, the built-in converter is used."""

_ADDED = frozenset({paragraphs.COMMENT, paragraphs.HIDDEN})
"""Text that LibreOffice never prints."""


def convert(source: Path, mime_type: str, config: types.ParsingConfig, unpacking: Unpacking) -> Conversion | None:
    """Convert a file to PDF with LibreOffice; return None if it fails or loses too much.

    Files embedded in it are stored with `unpacking`.

    Raises:
        errors.UnreadableFileError: the file is damaged, which is checked before LibreOffice gets it.
    """
    if mime_type in {file_types.PPTX, file_types.ODP}:
        return _presentation(source, mime_type, config, unpacking)
    if mime_type in {file_types.DOC, file_types.PPT}:
        made = libreoffice.to_pdf(source, mime_type, config)
        return None if made is None else Conversion(made)
    return _document(source, mime_type, config, unpacking)


def _document(source: Path, mime_type: str, config: types.ParsingConfig, unpacking: Unpacking) -> Conversion | None:
    contents = documents.read(source, mime_type)
    found = contents.paragraphs
    made = libreoffice.to_pdf(source, mime_type, config)
    if made is None:
        return None
    missing = paragraphs.left_out(found, _text(made), never=_ADDED)
    lost = sum(len(bare(one.text)) for one in missing if one.part not in _ADDED)
    if lost > MAX_LOST_SHARE * sum(len(bare(one.text)) for one in found):
        return None
    files = documents.list_of_files(contents, unpacking)
    if missing or files.html:
        made.insert_pdf(lay_out(documents.added(missing), files.html))
    contents.about.set_on(made)
    return Conversion(made, (*paragraphs.located(found), *files.texts), contents.note)


def _text(document: Any) -> str:
    return "".join(page.get_text() for page in document)


def _presentation(source: Path, mime_type: str, config: types.ParsingConfig, unpacking: Unpacking) -> Conversion | None:
    deck = slides.read(source, mime_type)
    made = libreoffice.to_pdf(source, mime_type, config)
    if made is None or made.page_count != len(deck.slides):
        return None
    embedded.store(deck.files, unpacking)
    document = pages.add_notes(made, deck)
    deck.about.set_on(document)
    return Conversion(document, deck.source_texts())

"""Make renditions: every file becomes a PDF with a text layer, for one parser and one viewer."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rag import errors, types
from rag.messages import N_
from rag.parsing import file_types
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion, OnPages, SourceText
from rag.parsing.html import text_files
from rag.parsing.ocr import text_layer
from rag.parsing.pdf import attachments, glyphs
from rag.parsing.pdf.mupdf import map_mupdf_errors, pymupdf

OnCount = Callable[[int], None]
_DOCUMENTS = frozenset({file_types.DOCX, file_types.ODT, file_types.RTF, file_types.EPUB})
_PRESENTATIONS = frozenset({file_types.PPTX, file_types.ODP})
_LEGACY = frozenset({file_types.DOC, file_types.PPT})


class Rendition(NamedTuple):
    """The result of text recognition, the source's text, and a note about the file.

    `texts` are None for PDFs and files without readable source text.
    """

    recognition: text_layer.Recognition = text_layer.Recognition()
    texts: tuple[SourceText, ...] | None = None
    note: str | None = None


def make_rendition(
    source: Path,
    mime_type: str,
    rendition: Path,
    *,
    name: str,
    password: str | None,
    config: types.ParsingConfig,
    unpacking: Unpacking,
    on_open: OnCount,
    on_recognised: OnCount,
    with_pictures: bool = False,
) -> Rendition:
    """Write the PDF to parse and show, with recognised text where pages are scans or, if asked, have pictures.

    Embedded files go to `unpacking`. `on_open` gets the number of pages, `on_recognised` that of recognised pages.

    Raises:
        errors.PasswordError: the file is encrypted and `password` is None or wrong.
        errors.UnreadableFileError: the file is damaged, or has no page or too many.
    """
    with map_mupdf_errors(name):
        if mime_type == file_types.PDF:
            with pymupdf.open(source, filetype="pdf") as document:
                was_encrypted = _unlock(document, name, password)
                _check_pages(document, name, config)
                naming = glyphs.name_glyphs(document)  # before pages are added, whose fonts need no names
                is_extended = attachments.unpack(document, unpacking)
                note = attachments.notes(document, has_files=bool(unpacking.parts))
                on_open(document.page_count)
                recognition = text_layer.recognise(
                    document, config, on_recognised, with_pictures=with_pictures, has_unknown=naming.has_unknown
                )
                if was_encrypted or is_extended or naming.changed or recognition.changed or document.is_repaired:
                    document.save(rendition, garbage=1, encryption=pymupdf.PDF_ENCRYPT_NONE)
                else:
                    shutil.copyfile(source, rendition)
            return Rendition(recognition, note=note)
        converted = convert(source, mime_type, config, unpacking, on_open)
        with converted.document as document:
            _check_pages(document, name, config)
            on_open(document.page_count)
            glyphs.name_glyphs(document)
            recognition = text_layer.recognise(document, config, on_recognised, with_pictures=with_pictures)
            document.save(rendition, garbage=3, deflate=True)
    return Rendition(recognition, converted.texts or None, converted.note)


def decrypt(source: Path, target: Path, *, name: str, password: str | None) -> None:
    """Write the PDF at `source` to `target` without encryption.

    Raises:
        errors.PasswordError: `password` is None or wrong.
        errors.UnreadableFileError: the file is damaged.
        errors.ReadingInterruptedError: the disk is full.
    """
    with map_mupdf_errors(name), pymupdf.open(source, filetype="pdf") as document:
        _unlock(document, name, password)
        document.save(target, garbage=1, encryption=pymupdf.PDF_ENCRYPT_NONE)


def _unlock(document: Any, name: str, password: str | None) -> bool:
    """Unlock the file and return whether it was encrypted; many are protected against changes only."""
    if document.needs_pass and not document.authenticate(password or ""):
        if password is None:
            raise errors.PasswordError(N_("“{name}” is encrypted. Give its password."), name=name)
        raise errors.PasswordError(N_("The password does not open “{name}”. Check it and try again."), name=name)
    return bool(document.metadata and document.metadata.get("encryption")) or bool(document.needs_pass)


def _check_pages(document: Any, name: str, config: types.ParsingConfig) -> None:
    if document.page_count == 0:
        raise errors.UnreadableFileError(
            N_("“{name}” has no pages. Open it in another program and save it again."), name=name
        )
    if document.page_count > config.max_pages:
        raise errors.UnreadableFileError(
            N_("“{name}” has {count} pages; the limit is {limit}. Split it into smaller files."),
            name=name,
            count=document.page_count,
            limit=config.max_pages,
        )


def convert(
    source: Path, mime_type: str, config: types.ParsingConfig, unpacking: Unpacking, on_pages: OnPages
) -> Conversion:
    """Convert the file at `source` to PDF; store files contained in it with `unpacking`.

    Converters are imported when needed, as their libraries cost each parsing process some milliseconds. `on_pages`
    receives the estimated number of pages as soon as it is known, since the time limit depends on it.

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
    if mime_type in file_types.SHEETS:
        from rag.parsing.sheets import pages

        return pages.to_pdf(source, mime_type, unpacking, on_pages)
    if mime_type in file_types.IMAGES:
        from rag.parsing import images

        return images.to_pdf(source)
    if mime_type in {types.ARCHIVE, types.FILING}:
        from rag.parsing.archive import filings, zip_archive

        unpack = zip_archive.to_pdf if mime_type == types.ARCHIVE else filings.to_pdf
        return unpack(source, unpacking)
    if mime_type in types.CONTAINERS or mime_type == file_types.ICS:
        from rag.parsing.mail import convert as mails

        return mails.to_pdf(source, mime_type, unpacking)
    return text_files.to_pdf(source, mime_type)

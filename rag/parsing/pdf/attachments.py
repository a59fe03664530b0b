"""What is in a PDF but not on its pages: files, which become documents of their own, and what its owner should know."""

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from rag.messages import N_
from rag.parsing.archive.file_list import listing
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.html.layout import lay_out
from rag.parsing.pdf import annotations
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, pymupdf

mupdf = pymupdf.mupdf


LISTED_KEY = "PagelightFilesListed"
"""The key in the catalog of a PDF that has the list, which is read again when its pictures are."""
PORTFOLIO = N_("It is a PDF portfolio: its own pages are only a cover, the files in it are documents of their own.")
DYNAMIC_FORM = N_(
    "It is a dynamic XFA form, which only Adobe's programs show: its pages are a notice, and the content of the form "
    "is not read. Print it to a PDF file there and add that."
)
UNAPPLIED_REDACTIONS = N_(
    "It has redactions that were not applied: the text below them is still in the file and is read."
)
_NOTICE = "please wait"
"""The beginning of the only page of a dynamic form."""


def unpack(document: Any, unpacking: Unpacking) -> bool:
    """Store the files in the PDF with `unpacking`; return whether they are now listed on a new page at its end.

    Those of a portfolio are, as viewers show such a list, and those of a PDF that has no text.
    """
    seen: set[int] = set()
    for specification in _file_specifications(document):
        streams = mupdf.pdf_dict_gets(specification, "EF")
        numbers = [mupdf.pdf_to_num(mupdf.pdf_dict_gets(streams, key)) for key in ("UF", "F")]
        number = next(filter(None, numbers), 0)
        if number not in seen:
            seen.add(number)
            _take(specification, unpacking)
    catalog = document.pdf_catalog()
    if not unpacking.parts or document.xref_get_key(catalog, LISTED_KEY)[0] != "null":
        return False
    is_portfolio = document.xref_get_key(catalog, "Collection")[0] != "null"
    if not is_portfolio and any(_has_text(document, index) for index in range(document.page_count)):
        return False
    with lay_out(f"<h1>Attached files</h1>{listing(unpacking.parts)}") as listed:
        document.insert_pdf(listed)
    document.xref_set_key(catalog, LISTED_KEY, "true")
    return True


def _has_text(document: Any, index: int) -> bool:
    try:
        return bool(document[index].get_text().strip())
    except MUPDF_ERRORS:
        return False


def _file_specifications(document: Any) -> Iterator[Any]:
    """Yield the specifications of the files in the PDF (ISO 32000-2, 7.11)."""
    pdf = mupdf.pdf_document_from_fz_document(document.this)
    found: list[Any] = []
    with contextlib.suppress(*MUPDF_ERRORS):
        tree = mupdf.pdf_load_name_tree(pdf, mupdf.pdf_new_name("EmbeddedFiles"))
        found += [mupdf.pdf_dict_get_val(tree, index) for index in range(mupdf.pdf_dict_len(tree))]
        found += _associated(mupdf.pdf_dict_gets(mupdf.pdf_trailer(pdf), "Root"))
    for index in range(document.page_count):
        with contextlib.suppress(*MUPDF_ERRORS):
            found += _associated(mupdf.pdf_lookup_page_obj(pdf, index))
            found += [
                annotations.entry(annotation, "FS")
                for annotation in annotations.comments(document[index])
                if mupdf.pdf_annot_type(annotation) == pymupdf.PDF_ANNOT_FILE_ATTACHMENT
            ]
    yield from (one for one in found if mupdf.pdf_is_embedded_file(one))


def _associated(holder: Any) -> list[Any]:
    files = mupdf.pdf_dict_gets(holder, "AF")
    return [mupdf.pdf_array_get(files, index) for index in range(mupdf.pdf_array_len(files))]


def _take(specification: Any, unpacking: Unpacking) -> None:
    names = (mupdf.pdf_to_text_string(mupdf.pdf_dict_gets(specification, key)) for key in ("UF", "F"))
    name = next(filter(None, names), "")
    if unpacking.full:
        unpacking.leave_out(name, 0, unpacking.full)
        return
    try:
        buffer = mupdf.pdf_load_embedded_file_contents(specification)
    except MUPDF_ERRORS:
        unpacking.leave_out(name, 0, N_("damaged"))
        return
    unpacking.take(name, io.BytesIO(mupdf.fz_buffer_extract_copy(buffer)))


def notes(document: Any, *, has_files: bool) -> str | None:
    """Return the notes on a PDF, in one text; `has_files` tells whether there are files in it."""
    texts = []
    if has_files and _has(document, "Collection"):
        texts.append(PORTFOLIO)
    if _is_dynamic_form(document):
        texts.append(DYNAMIC_FORM)
    if _has_redactions(document):
        texts.append(UNAPPLIED_REDACTIONS)
    return "\n".join(texts) or None


def _has(document: Any, key: str) -> bool:
    return bool(document.xref_get_key(document.pdf_catalog(), key)[0] != "null")


def _is_dynamic_form(document: Any) -> bool:
    """Whether viewers must build the form's pages from XFA, and the PDF has only a notice for those that cannot."""
    if not _has(document, "AcroForm/XFA"):
        return False
    if document.xref_get_key(document.pdf_catalog(), "NeedsRendering")[1] == "true":
        return True
    try:
        return document.page_count == 1 and _NOTICE in document[0].get_text()[:200].lower()
    except MUPDF_ERRORS:
        return False


def _has_redactions(document: Any) -> bool:
    for index in range(document.page_count):
        with contextlib.suppress(*MUPDF_ERRORS):
            kinds = map(pymupdf.mupdf.pdf_annot_type, annotations.comments(document[index]))
            if pymupdf.PDF_ANNOT_REDACT in kinds:
                return True
    return False

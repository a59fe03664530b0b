"""Say what the owner of a PDF should know about it: what is in it but not on its pages."""

import contextlib
from typing import Any

from rag.messages import N_
from rag.parsing.annotations import page_annotations
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, pymupdf

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
            kinds = map(pymupdf.mupdf.pdf_annot_type, page_annotations.comments(document[index]))
            if pymupdf.PDF_ANNOT_REDACT in kinds:
                return True
    return False

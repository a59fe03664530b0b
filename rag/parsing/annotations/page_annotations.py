"""Walk through the annotations of a page, and hide some of them while its text is read."""

import contextlib
import html
import re
from collections.abc import Iterable, Iterator
from typing import Any

from rag import types
from rag.parsing.pdf.mupdf import pymupdf, to_rect

mupdf = pymupdf.mupdf

_TAG = re.compile(r"<[^>]*>")
_NOT_LETTERS = re.compile(r"[\W_]+")
_HIDDEN, _NO_VIEW = 2, 32
"""Flags of annotations (ISO 32000-1, 12.5.3)."""


def fields(page: Any) -> Iterator[Any]:
    """Yield the form fields on the page, as MuPDF's annotations."""
    yield from _walk(page, mupdf.pdf_first_widget, mupdf.pdf_next_widget)


def _walk(page: Any, first: Any, following: Any) -> Iterator[Any]:
    annotation = first(mupdf.pdf_page_from_fz_page(page.this))
    while annotation.m_internal:
        yield annotation
        annotation = following(annotation)


def comments(page: Any) -> Iterator[Any]:
    """Yield MuPDF's annotations of the page, without links, form fields, and text typed into the page.

    Such text fills in a form, say, and belongs to the page.
    """
    for annotation in _walk(page, mupdf.pdf_first_annot, mupdf.pdf_next_annot):
        if not is_typed(annotation) or name(annotation, "IT") != "FreeTextTypewriter":
            yield annotation


def is_typed(annotation: Any) -> bool:
    """Whether its text is drawn on the page."""
    return bool(mupdf.pdf_annot_type(annotation) == pymupdf.PDF_ANNOT_FREE_TEXT)


def is_icon(annotation: Any) -> bool:
    """Whether it is drawn as an icon, which readers can move away from the text below."""
    return mupdf.pdf_annot_type(annotation) in (pymupdf.PDF_ANNOT_TEXT, pymupdf.PDF_ANNOT_FILE_ATTACHMENT)


def content(annotation: Any) -> str:
    """Return the text of a comment, which some have only with its formatting (ISO 32000-1, 12.7.3.4)."""
    formatted = html.unescape(_TAG.sub(" ", text(annotation, "RC")))
    return text(annotation, "Contents").strip() or " ".join(formatted.split())


def letters(words: str) -> str:
    """Return the letters and digits of a text, to compare it with its drawing."""
    return _NOT_LETTERS.sub("", words)


def entry(annotation: Any, key: str) -> Any:
    """Return an entry of the annotation's dictionary as MuPDF's object; fields inherit it."""
    return mupdf.pdf_dict_get_inheritable(mupdf.pdf_annot_obj(annotation), mupdf.pdf_new_name(key))


def text(annotation: Any, key: str) -> str:
    """Return an entry as text, "" if there is none."""
    return str(mupdf.pdf_to_text_string(entry(annotation, key)))


def name(annotation: Any, key: str) -> str:
    """Return an entry that is a name, "" if there is none."""
    return str(mupdf.pdf_to_name(entry(annotation, key)))


def box(annotation: Any) -> types.Rect:
    """Return the displayed box."""
    bounds = mupdf.pdf_bound_annot(annotation)
    return to_rect((bounds.x0, bounds.y0, bounds.x1, bounds.y1))


def is_hidden(annotation: Any) -> bool:
    """Whether it is not shown on the screen."""
    return bool(mupdf.pdf_annot_flags(annotation) & (_HIDDEN | _NO_VIEW))


@contextlib.contextmanager
def hidden(annotations: Iterable[Any]) -> Iterator[None]:
    """Hide `annotations` inside the block, so that the page is read without their text."""
    flags = [(mupdf.pdf_annot_obj(annotation), mupdf.pdf_annot_flags(annotation)) for annotation in annotations]
    key = mupdf.pdf_new_name("F")
    for dictionary, before in flags:
        mupdf.pdf_dict_put_int(dictionary, key, before | _HIDDEN)
    try:
        yield
    finally:
        for dictionary, before in flags:
            mupdf.pdf_dict_put_int(dictionary, key, before)

"""Walk through the annotations of a page, hide some of them while its text is read, and read its form fields.

A tick is drawn as a letter of a symbol font ("3" or "4") or as a shape, an empty box as nothing, and programs that fill
in forms often leave the drawing to the viewer. So the text comes from the field, at its box.
"""

import contextlib
import html
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rag import types
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, from_display, pymupdf, to_rect
from rag.parsing.pdf.visibility import StyledLine

mupdf = pymupdf.mupdf

_TAG = re.compile(r"<[^>]*>")
_NOT_LETTERS = re.compile(r"[\W_]+")
_HIDDEN, _NO_VIEW = 2, 32
"""Flags of annotations (ISO 32000-1, 12.5.3)."""
TICKED, EMPTY = "☒", "☐"
MAX_LINE_PT = 14.0
"""Height of a line of a field; fields may be taller."""
MAX_CHARACTER_EM = 0.5
"""Assumed width of the characters of a value that is not drawn."""
SIZE_EM = 0.75
"""Type size as a share of the line's height."""
MAX_VALUE_CHARS = 20_000
_PLAIN = {"font": "", "flags": 0, "char_flags": 16, "color": 0, "alpha": 255}
"""Of MuPDF's spans: filled, black and opaque."""
_BUTTONS = frozenset({mupdf.PDF_WIDGET_TYPE_CHECKBOX, mupdf.PDF_WIDGET_TYPE_RADIOBUTTON})
_CHOICES = frozenset({mupdf.PDF_WIDGET_TYPE_COMBOBOX, mupdf.PDF_WIDGET_TYPE_LISTBOX})
_PASSWORD, _COMB = 1 << 13, 1 << 24


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


class Field(NamedTuple):
    """A field whose drawing is replaced: MuPDF's annotation, and the lines to read."""

    annotation: Any
    lines: tuple[StyledLine, ...]


def replaced_fields(page: Any) -> list[Field]:
    """Return the visible fields whose drawing does not say their state."""
    found = []
    for widget in fields(page):
        try:
            shown = None if is_hidden(widget) else _state(page, widget)
        except MUPDF_ERRORS:
            continue  # a damaged field is read as it is drawn
        if shown:
            found.append(Field(widget, tuple(_styled_lines(page, widget, shown[:MAX_VALUE_CHARS].splitlines()))))
    return found


def _state(page: Any, widget: Any) -> str | None:
    """Return what to read instead of a field's drawing; None if the drawing says it."""
    kind = mupdf.pdf_widget_type(widget)
    if kind in _BUTTONS:
        return TICKED if _is_on(page, widget) else EMPTY
    if kind == mupdf.PDF_WIDGET_TYPE_TEXT:
        flags = mupdf.pdf_to_int(entry(widget, "Ff"))
        value = text(widget, "V")
        if flags & _PASSWORD:
            return "*" * len(value)
        return None if _is_drawn(page, widget, value, is_spaced=bool(flags & _COMB)) else value
    if kind in _CHOICES:
        value = "\n".join(_chosen(widget))
        is_list = kind == mupdf.PDF_WIDGET_TYPE_LISTBOX  # draws all its options
        return value if is_list or not _is_drawn(page, widget, value) else None
    return None


def _is_on(page: Any, widget: Any) -> bool:
    states = mupdf.pdf_dict_gets(mupdf.pdf_dict_gets(mupdf.pdf_annot_obj(widget), "AP"), "N")
    names = {
        mupdf.pdf_to_name(mupdf.pdf_dict_get_key(states, index)) for index in range(mupdf.pdf_dict_len(states))
    } - {"Off"}
    value, state = name(widget, "V"), name(widget, "AS")
    if names and (not state or (value and _needs_appearances(page))):
        return value in names
    return (state or value) not in ("", "Off")


def _needs_appearances(page: Any) -> bool:
    document = page.parent
    return bool(document.xref_get_key(document.pdf_catalog(), "AcroForm/NeedAppearances")[1] == "true")


def _is_drawn(page: Any, widget: Any, value: str, *, is_spaced: bool = False) -> bool:
    """Whether the drawing says the value, or stands for it: a number may be formatted."""
    expected = letters(value)
    drawn = pymupdf.TextPage(mupdf.FzStextPage(widget, mupdf.FzStextOptions())).extractText()
    shown = letters(drawn)
    if not expected:
        return True
    if expected in shown:
        return not is_spaced
    has_drawing = mupdf.pdf_dict_gets(mupdf.pdf_annot_obj(widget), "AP").m_internal is not None
    return bool(shown) and has_drawing and not _needs_appearances(page)


def _chosen(widget: Any) -> Iterator[str]:
    """Yield the chosen options as they are shown; a file may have other names for their values."""
    options = entry(widget, "Opt")
    shown: dict[str, str] = {}
    for index in range(mupdf.pdf_array_len(options)):
        option = mupdf.pdf_array_get(options, index)
        if mupdf.pdf_is_array(option):
            pair = [mupdf.pdf_to_text_string(mupdf.pdf_array_get(option, place)) for place in (0, 1)]
            shown[pair[0]] = pair[1]
    value = entry(widget, "V")
    chosen = (
        [mupdf.pdf_array_get(value, index) for index in range(mupdf.pdf_array_len(value))]
        if mupdf.pdf_is_array(value)
        else [value]
    )
    for option in map(mupdf.pdf_to_text_string, chosen):
        yield shown.get(option, option)


def _styled_lines(page: Any, widget: Any, texts: list[str]) -> Iterator[StyledLine]:
    """Yield a line of the page for each text in the field's box, from top to bottom, in its own writing direction."""
    area = from_display(box(widget), page)
    turn = mupdf.pdf_to_int(mupdf.pdf_dict_gets(entry(widget, "MK"), "R")) % 360
    place = {
        90: pymupdf.Matrix(0, -1, 1, 0, area.x0, area.y1),
        180: pymupdf.Matrix(-1, 0, 0, -1, area.x1, area.y1),
        270: pymupdf.Matrix(0, 1, -1, 0, area.x1, area.y0),
    }.get(turn, pymupdf.Matrix(1, 0, 0, 1, area.x0, area.y0))
    width, full_height = (area.height, area.width) if turn in (90, 270) else (area.width, area.height)
    height = min(full_height / len(texts), MAX_LINE_PT)
    top = 0.0 if len(texts) > 1 else (full_height - height) / 2
    for number, text in enumerate(texts):
        step = min(width / max(1, len(text)), height if len(text) == 1 else MAX_CHARACTER_EM * height)
        y0 = top + number * height
        boxes = [tuple(pymupdf.Rect(at * step, y0, (at + 1) * step, y0 + height) * place) for at in range(len(text))]
        origins = [tuple(pymupdf.Point(at * step, y0 + height) * place) for at in range(len(text))]
        if text.strip():
            chars = [
                {"c": char, "bbox": bbox, "origin": origin}
                for char, bbox, origin in zip(text, boxes, origins, strict=True)
            ]
            span = {**_PLAIN, "text": text, "chars": chars, "size": SIZE_EM * height, "origin": origins[0]}
            whole = tuple(pymupdf.Rect(0, y0, len(text) * step, y0 + height) * place)
            yield StyledLine(whole, (place.a, place.b), [span])

"""Read the state of form fields: ticks, choices, and values that the file does not draw.

A tick is drawn as a letter of a symbol font ("3" or "4") or as a shape, an empty box as nothing, and programs that fill
in forms often leave the drawing to the viewer. So the text comes from the field, at its box.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from rag.parsing.annotations import page_annotations
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, display_matrix, from_display, pymupdf
from rag.parsing.pdf.visibility import StyledLine
from rag.types import Rect

mupdf = pymupdf.mupdf

TICKED, EMPTY = "☒", "☐"
MAX_LINE_PT = 14.0
"""Height of a line of a field; fields may be taller."""
MAX_CHARACTER_EM = 0.5
"""Assumed width of the characters of a value that is not drawn."""
MAX_VALUE_CHARS = 20_000
_BUTTONS = frozenset({mupdf.PDF_WIDGET_TYPE_CHECKBOX, mupdf.PDF_WIDGET_TYPE_RADIOBUTTON})
_CHOICES = frozenset({mupdf.PDF_WIDGET_TYPE_COMBOBOX, mupdf.PDF_WIDGET_TYPE_LISTBOX})
_PASSWORD, _COMB = 1 << 13, 1 << 24
_NOT_WORDS = re.compile(r"[\W_]+")


class Field(NamedTuple):
    """A field whose drawing is replaced: MuPDF's annotation, and the lines to read."""

    annotation: Any
    lines: tuple[StyledLine, ...]


def replaced_fields(page: Any) -> list[Field]:
    """Return the visible fields whose drawing does not say their state."""
    found = []
    for widget in page_annotations.fields(page):
        try:
            shown = None if page_annotations.is_hidden(widget) else _state(page, widget)
        except MUPDF_ERRORS:
            continue  # a damaged field is read as it is drawn
        if shown:
            box = page_annotations.box(widget)
            found.append(Field(widget, tuple(_styled_lines(page, box, shown[:MAX_VALUE_CHARS].splitlines()))))
    return found


def _state(page: Any, widget: Any) -> str | None:
    """Return what to read instead of a field's drawing; None if the drawing says it."""
    kind = mupdf.pdf_widget_type(widget)
    if kind in _BUTTONS:
        return TICKED if _is_on(page, widget) else EMPTY
    if kind == mupdf.PDF_WIDGET_TYPE_TEXT:
        flags = mupdf.pdf_to_int(page_annotations.entry(widget, "Ff"))
        value = "" if flags & _PASSWORD else page_annotations.text(widget, "V")
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
    value, state = page_annotations.name(widget, "V"), page_annotations.name(widget, "AS")
    if names and (not state or (value and _needs_appearances(page))):
        return value in names
    return (state or value) not in ("", "Off")


def _needs_appearances(page: Any) -> bool:
    """Whether viewers draw the fields by their values, whatever the file has."""
    document = page.parent
    return bool(document.xref_get_key(document.pdf_catalog(), "AcroForm/NeedAppearances")[1] == "true")


def _is_drawn(page: Any, widget: Any, value: str, *, is_spaced: bool = False) -> bool:
    """Whether the drawing says the value, or stands for it: a number may be formatted."""
    expected = _NOT_WORDS.sub("", value)
    drawn = pymupdf.TextPage(mupdf.FzStextPage(widget, mupdf.FzStextOptions())).extractText()
    letters = _NOT_WORDS.sub("", drawn)
    if not expected:
        return True
    if expected in letters:
        return not is_spaced
    has_drawing = mupdf.pdf_dict_gets(mupdf.pdf_annot_obj(widget), "AP").m_internal is not None
    return bool(letters) and has_drawing and not _needs_appearances(page)


def _chosen(widget: Any) -> Iterator[str]:
    """Yield the chosen options as they are shown; a file may have other names for their values."""
    options = page_annotations.entry(widget, "Opt")
    shown: dict[str, str] = {}
    for index in range(mupdf.pdf_array_len(options)):
        option = mupdf.pdf_array_get(options, index)
        if mupdf.pdf_is_array(option):
            pair = [mupdf.pdf_to_text_string(mupdf.pdf_array_get(option, place)) for place in (0, 1)]
            shown[pair[0]] = pair[1]
    value = page_annotations.entry(widget, "V")
    chosen = (
        [mupdf.pdf_array_get(value, index) for index in range(mupdf.pdf_array_len(value))]
        if mupdf.pdf_is_array(value)
        else [value]
    )
    for one in map(mupdf.pdf_to_text_string, chosen):
        yield shown.get(one, one)


def _styled_lines(page: Any, box: Rect, texts: list[str]) -> Iterator[StyledLine]:
    """Yield a line of the page for each text in the displayed `box`, from top to bottom."""
    matrix = display_matrix(page)
    direction = (1.0, 0.0) if matrix is None else ((~matrix).a, (~matrix).b)
    height = min((box.y1 - box.y0) / max(1, len(texts)), MAX_LINE_PT)
    top = box.y0 if len(texts) > 1 else (box.y0 + box.y1 - height) / 2
    for number, text in enumerate(texts):
        y0 = top + number * height
        step = min((box.x1 - box.x0) / max(1, len(text)), max(MAX_CHARACTER_EM, 1 / max(1, len(text))) * height)
        places = [Rect(box.x0 + at * step, y0, box.x0 + (at + 1) * step, y0 + height) for at in range(len(text))]
        chars = [
            {"c": char, "bbox": tuple(from_display(place, page)), "origin": tuple(from_display(place, page).bl)}
            for char, place in zip(text, places, strict=True)
        ]
        if text.strip():
            whole = Rect(box.x0, y0, places[-1].x1, y0 + height)
            span = {
                "text": text,
                "chars": chars,
                "size": 0.75 * height,
                "font": "",
                "flags": 0,
                "char_flags": 16,
                "color": 0,
                "alpha": 255,
                "origin": chars[0]["origin"],
            }
            yield StyledLine(tuple(from_display(whole, page)), direction, [span])

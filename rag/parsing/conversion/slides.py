"""Presentations: one page per slide, so that a page's number is its slide's."""

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pptx
from pptx.exc import PythonPptxError
from pptx.shapes.base import BaseShape
from pptx.shapes.group import GroupShape
from pptx.slide import Slide

from rag import errors
from rag.parsing.conversion.source import Conversion
from rag.parsing.mupdf import pymupdf

MARGIN_PT = 36
_CSS = (
    "* {font-family: sans-serif; font-size: 14pt} h1 {font-size: 22pt} .notes * {font-size: 10pt; color: #444}"
    " td {border: 1px solid #888; padding: 3px}"
)


def to_pdf(source: Path) -> Conversion:
    """A PDF with the text, tables and notes of each slide on a page of its own, as large as the slide."""
    try:
        presentation = pptx.Presentation(str(source))
    except (PythonPptxError, KeyError, ValueError, SyntaxError) as error:
        raise errors.UnreadableFileError(
            f"The presentation is damaged ({type(error).__name__}). Open it in another program and save it again."
        ) from error
    width = (presentation.slide_width or 9_144_000) / 12_700  # EMU to points
    height = (presentation.slide_height or 6_858_000) / 12_700
    document = pymupdf.open()
    for slide in presentation.slides:
        page = document.new_page(width=width, height=height)
        box = pymupdf.Rect(MARGIN_PT, MARGIN_PT, width - MARGIN_PT, height - MARGIN_PT)
        page.insert_htmlbox(box, "".join(_slide_html(slide)), css=_CSS)
    title = presentation.core_properties.title
    document.set_metadata({"title": title or "", "author": presentation.core_properties.author or ""})
    return Conversion(document)


def _slide_html(slide: Slide) -> Iterator[str]:
    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        yield f"<h1>{html.escape(title.text_frame.text)}</h1>"
    others = [shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id]
    for shape in sorted(others, key=lambda shape: (shape.top or 0, shape.left or 0)):
        yield from _shape_html(shape)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = list(_paragraphs(slide.notes_slide.notes_text_frame.text))
        if notes:
            yield '<div class="notes"><p>Notes</p>' + "".join(notes) + "</div>"


def _shape_html(shape: BaseShape) -> Iterator[str]:
    if isinstance(shape, GroupShape):
        for member in shape.shapes:
            yield from _shape_html(member)
    elif getattr(shape, "has_table", False):
        yield _table_html(shape)
    elif shape.has_text_frame:
        yield from _paragraphs(shape.text_frame.text)  # type: ignore[attr-defined]  # has_text_frame says so


def _table_html(shape: Any) -> str:
    rows = ("".join(f"<td>{html.escape(cell.text)}</td>" for cell in row.cells) for row in shape.table.rows)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _paragraphs(content: str) -> Iterator[str]:
    for paragraph in content.replace("\v", "\n").split("\n"):
        if paragraph.strip():
            yield f"<p>{html.escape(paragraph)}</p>"

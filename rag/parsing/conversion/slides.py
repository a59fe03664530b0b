"""Presentations: one page per slide, so that a page's number is its slide's, with the notes below the slide."""

import html
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pptx import package
from pptx.exc import PythonPptxError

from rag.parsing.conversion import charts, metadata
from rag.parsing.conversion.canvas import Canvas
from rag.parsing.conversion.packages import Package, damaged, local
from rag.parsing.conversion.slide_drawing import Painter, related
from rag.parsing.conversion.slide_styles import parsed
from rag.parsing.conversion.source import Conversion, SourceText
from rag.parsing.mupdf import pymupdf

_EMU_PER_POINT = 12_700
_USUAL_SIZE_EMU = 9_144_000, 6_858_000
MAX_SIDE_PT = 14_400
"""No page of a PDF is larger."""
_UNSEEN = frozenset({"Fallback"})
_NO_NOTES = frozenset({"sldImg", "hdr", "ftr", "dt", "sldNum"})
"""Of a page of notes, what are not the notes."""


def to_pdf(source: Path) -> Conversion:
    """A PDF in which each slide, hidden ones too, looks as far as it can be drawn as in its program.

    Raises:
        errors.UnreadableFileError: it is damaged.
    """
    with Package(source) as parts:
        about = metadata.read(parts)
    try:
        presentation: Any = package.Package.open(str(source)).main_document_part
        presentation = presentation.presentation  # of shows, templates and files with macros too
        slides = list(presentation.slides)
        size = (presentation.slide_width or _USUAL_SIZE_EMU[0], presentation.slide_height or _USUAL_SIZE_EMU[1])
        width, height = (min(max(side / _EMU_PER_POINT, 72.0), MAX_SIDE_PT) for side in size)
        document = _drawn(slides, width, height)
        texts = tuple(
            SourceText(f"slide {number}", text) for number, slide in enumerate(slides, 1) for text in _texts(slide)
        )
    except (PythonPptxError, KeyError, ValueError, SyntaxError, AttributeError) as error:
        raise damaged("presentation", error) from error
    about.set_on(document)
    return Conversion(document, texts)


def _drawn(slides: list[Any], width: float, height: float) -> Any:
    """Text and what lies under it are written apart and then put together."""
    if not slides:
        return pymupdf.open()
    written = io.BytesIO()
    writer = pymupdf.DocumentWriter(written)
    drawings = []
    for slide in slides:
        canvas = Canvas(width, height)
        Painter(canvas, slide).draw()
        for content in _below(slide):
            canvas.below(content)
        drawings.append(canvas.finish(writer))
    writer.close()
    document = pymupdf.open(stream=written.getvalue(), filetype="pdf")
    for page, drawn in zip(document, drawings, strict=True):
        page.show_pdf_page(pymupdf.Rect(drawn[0].rect), drawn, 0, overlay=False)
        drawn.close()
    return document


def _below(slide: Any) -> Iterator[str]:
    notes = [text for part in related(slide.part, "/notesSlide") for text in _notes(part)]
    comments = [text for part in related(slide.part, "/comments") for text in _comments(parsed(part.blob))]
    for title, texts in (("Notes", notes), ("Comments", comments)):
        if texts:
            yield f"<p><b>{title}</b></p>" + "".join(f"<p>{html.escape(text)}</p>" for text in texts)


def _notes(part: Any) -> Iterator[str]:
    for shape in part._element.iter("{*}sp", "{*}graphicFrame"):
        kinds = {one.get("type", "obj") for one in shape.iter("{*}ph")}
        if not kinds & _NO_NOTES:
            yield from _paragraphs(shape)


def _comments(root: Any) -> Iterator[str]:
    for comment in root.iter("{*}cm", "{*}reply") if root is not None else ():
        text = comment.find("{*}text")
        if text is not None and (text.text or "").strip():
            yield text.text
        for body in comment.findall("{*}txBody"):
            yield from _paragraphs(body)


def _paragraphs(element: Any) -> Iterator[str]:
    for paragraph in element.iter("{*}p"):
        text = "".join(_runs(paragraph))
        if text.strip():
            yield text


def _runs(element: Any) -> Iterator[str]:
    for child in element:
        if local(child) == "t":
            yield child.text or ""
        elif local(child) == "br":
            yield "\n"
        elif local(child) not in _UNSEEN:
            yield from _runs(child)


def _texts(slide: Any) -> Iterator[str]:
    """Every text in the slide's XML, in charts and diagrams too, and in its notes."""
    for paragraph in slide.element.iter("{*}p"):
        if not any(local(above) in _UNSEEN for above in paragraph.iterancestors()):
            yield "".join(_runs(paragraph))
    for part in (*related(slide.part, "/chart"), *related(slide.part, "/diagramData")):
        yield from _data(parsed(part.blob))
    for part in related(slide.part, "/notesSlide"):
        yield from _notes(part)


def _data(root: Any) -> Iterator[str]:
    for element in root.iter("{*}v", "{*}t") if root is not None else ():
        yield charts.number(element.text or "")

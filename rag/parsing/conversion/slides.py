"""Presentations: one page per slide, so that a page's number is its slide's, with the notes below the slide."""

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pptx import package
from pptx.exc import PythonPptxError

from rag.parsing.conversion import charts, metadata, slide_pages
from rag.parsing.conversion.packages import Package, damaged, local
from rag.parsing.conversion.slide_canvas import Canvas
from rag.parsing.conversion.slide_drawing import Painter, related
from rag.parsing.conversion.slide_styles import parsed
from rag.parsing.conversion.source import Conversion, SourceText

_EMU_PER_POINT = 12_700
_USUAL_SIZE_EMU = 9_144_000, 6_858_000
MAX_SIDE_PT = 14_400
"""No page of a PDF is larger."""
_UNSEEN = frozenset({"Fallback"})
_NO_NOTES = frozenset({"sldImg", "hdr", "ftr", "dt", "sldNum"})
"""Of a page of notes, what are not the notes."""


class Deck(NamedTuple):
    """A presentation: what it says of itself, its slides (of python-pptx), and their size in points."""

    about: metadata.Metadata
    slides: list[Any]
    size: tuple[float, float]

    def texts(self) -> tuple[SourceText, ...]:
        """Every text of every slide."""
        return tuple(
            SourceText(f"slide {number}", text) for number, slide in enumerate(self.slides, 1) for text in _texts(slide)
        )


@contextlib.contextmanager
def opened(source: Path) -> Iterator[Deck]:
    """The presentation at `source`: also a show, a template, or one with macros.

    Raises:
        errors.UnreadableFileError: it is damaged; also if that comes out within the block.
    """
    with Package(source) as parts:
        about = metadata.read(parts)
    try:
        main: Any = package.Package.open(str(source)).main_document_part
        width, height = main.presentation.slide_width, main.presentation.slide_height
        size = (_side(width or _USUAL_SIZE_EMU[0]), _side(height or _USUAL_SIZE_EMU[1]))
        yield Deck(about, list(main.presentation.slides), size)
    except (PythonPptxError, KeyError, ValueError, SyntaxError, AttributeError) as error:
        raise damaged("presentation", error) from error


def _side(length: int) -> float:
    return min(max(length / _EMU_PER_POINT, 72.0), MAX_SIDE_PT)


def to_pdf(source: Path) -> Conversion:
    """A PDF in which each slide, hidden ones too, looks as far as it can be drawn as in its program.

    Raises:
        errors.UnreadableFileError: it is damaged.
    """
    with opened(source) as deck:
        document = slide_pages.write(deck.size, [functools.partial(_draw, slide=slide) for slide in deck.slides])
        deck.about.set_on(document)
        return Conversion(document, deck.texts())


def _draw(canvas: Canvas, slide: Any) -> None:
    Painter(canvas, slide).draw()
    for title, texts in below(slide):
        canvas.notes(title, texts)


def below(slide: Any) -> list[tuple[str, list[str]]]:
    """Notes and comments, which are not seen on the slide, each with their title."""
    notes = [text for part in related(slide.part, "/notesSlide") for text in _notes(part)]
    comments = [text for part in related(slide.part, "/comments") for text in _comments(parsed(part.blob))]
    return [("Notes", notes), ("Comments", comments)]


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
    for part in related(slide.part, "/chart"):
        yield from charts.texts(parsed(part.blob))
    for part in related(slide.part, "/diagramData"):
        yield from _paragraphs(parsed(part.blob))
    for part in related(slide.part, "/notesSlide"):
        yield from _notes(part)

"""A page on which things are drawn at their places: first what is drawn, then all text above it."""

import html
from collections.abc import Sequence
from typing import Any, NamedTuple

from rag.parsing.conversion.slide_styles import Colour
from rag.parsing.pdf.mupdf import FAILURES, pymupdf

LEAST_SCALE = 0.4
"""Text that would have to be smaller than this share of its size to fit its place is set below the slide instead."""
_MARGIN_PT = 18.0
_NOTES_CSS = "font-family:sans-serif;font-size:10pt;color:#333"
_CSS = "body {margin: 0} td {border: 0.5pt solid #777; padding: 2pt 4pt} table {border-collapse: collapse}"
_TRIES = 24
"""Steps of 4 % in which text is made smaller."""
_STEP = 0.96
_LARGE_PT = 1e6


class Words(NamedTuple):
    """HTML at a place: `anchor` in 0..1 is where it stands between top and bottom, `turn` degrees clockwise."""

    html: str
    box: Any
    anchor: float = 0.0
    turn: float = 0.0


class Canvas:
    """One slide, and what is said below it: notes, and words that have no room on the slide."""

    def __init__(self, width: float, height: float) -> None:
        self.box = pymupdf.Rect(0, 0, width, height)
        self.drawn = pymupdf.open()
        self._page = self.drawn.new_page(width=width, height=height)
        self._shape = self._page.new_shape()
        self._words: list[Words] = []
        self._below: list[str] = []

    def rectangle(self, box: Any, fill: Colour | None, line: Colour | None, width: float = 1.0, kind: str = "") -> None:
        """A rectangle or, of the kind "ellipse", what fits into it."""
        if box.is_empty or box.is_infinite or (fill is None and line is None):
            return
        draw = self._shape.draw_oval if kind == "ellipse" else self._shape.draw_rect
        draw(box)
        self._shape.finish(color=line, fill=fill, width=width if line else 0)

    def line(self, start: Any, end: Any, colour: Colour, width: float = 1.0) -> None:
        """A straight line."""
        self._shape.draw_line(start, end)
        self._shape.finish(color=colour, width=width)

    def picture(self, box: Any, content: bytes, description: str = "", turn: float = 0.0) -> None:
        """A picture; of one that cannot be drawn, an empty frame with its description."""
        if box.is_empty or box.is_infinite:
            return
        self._commit()
        try:
            quarter = round(turn / 90) * 90 % 360
            self._page.insert_image(box, stream=content, keep_proportion=False, rotate=-quarter)
        except FAILURES:
            self.rectangle(box, (0.93, 0.93, 0.93), (0.7, 0.7, 0.7), 0.5)
            if description:
                escaped = html.escape(description)
                self.words(Words(f'<p style="font-family:sans-serif;font-size:9pt">{escaped}</p>', box))

    def _commit(self) -> None:
        """Puts on the page what was drawn since the last picture, all at once: each time costs."""
        self._shape.commit()
        self._shape = self._page.new_shape()

    def words(self, words: Words) -> None:
        """Text in its place; smaller if it does not fit, and below the slide if it would become too small."""
        self._words.append(words)

    def notes(self, title: str, paragraphs: Sequence[str]) -> None:
        """Paragraphs below the slide, with a title."""
        if paragraphs:
            lines = (html.escape(text).replace("\v", "\n").replace("\n", "<br>") for text in paragraphs)
            self._below.append(f"<p><b>{title}</b></p>" + "".join(f"<p>{line}</p>" for line in lines))

    def finish(self, writer: Any) -> None:
        """Writes the page's text by a `pymupdf.DocumentWriter`; `drawn` then has what lies under it.

        The page is as wide as the slide and as high as slide and notes.
        """
        placed = [(words, _fitted(words)) for words in map(self._moved_in, self._words)]
        for words, fit in placed:
            if fit is None:
                self._below.append(words.html)
        story, notes_height = self._set_notes()
        height = self.box.height + notes_height
        device = writer.begin_page(pymupdf.Rect(0, 0, self.box.width, height))
        for words, fit in placed:
            if fit is not None:
                _draw(words, fit, device)
        if story is not None:
            self.line(self.box.bl, self.box.br, (0.7, 0.7, 0.7), 0.5)
            story.draw(device)
        writer.end_page()
        self._commit()

    def _moved_in(self, words: Words) -> Words:
        """Words that stand partly or wholly beside the slide are moved onto it, or nobody would see them."""
        if words.turn:
            return words
        box = pymupdf.Rect(words.box)
        box.x1, box.y1 = box.x0 + min(box.width, self.box.width), box.y0 + min(box.height, self.box.height)
        right, down = max(-box.x0, 0.0), max(-box.y0, 0.0)
        left, up = max(box.x1 - self.box.x1, 0.0), max(box.y1 - self.box.y1, 0.0)
        return words._replace(box=box + (right - left, down - up) * 2)

    def _set_notes(self) -> tuple[Any, float]:
        if not self._below:
            return None, 0.0
        story = pymupdf.Story(f'<div style="{_NOTES_CSS}">{"".join(self._below)}</div>', user_css=_CSS)
        top = self.box.height + _MARGIN_PT / 2
        where = pymupdf.Rect(_MARGIN_PT, top, self.box.width - _MARGIN_PT, top + _LARGE_PT)
        _, filled = story.place(where)
        return story, pymupdf.Rect(filled).y1 - self.box.height + _MARGIN_PT


class _Fit(NamedTuple):
    story: Any
    scale: float
    height: float


def _fitted(words: Words) -> _Fit | None:
    """The text set as large as its place allows; None if that is too small."""
    scale = 1.0
    if words.box.width < 1 or words.box.height < 1:
        return None
    for _ in range(_TRIES):
        width, height = words.box.width / scale, words.box.height / scale
        story = pymupdf.Story(words.html, user_css=_CSS)
        _, filled = story.place(pymupdf.Rect(0, 0, width, _LARGE_PT))
        filled = pymupdf.Rect(filled)
        if filled.y1 <= height + 1 and filled.x1 <= width + 1:
            return _Fit(story, scale, filled.y1 * scale)
        scale *= max(_STEP * min(1.0, (height / filled.y1) ** 0.5, width / filled.x1), 0.5)
        if scale < LEAST_SCALE:
            return None
    return None


def text_height(content: str, width: float) -> float:
    """How high HTML becomes in so many points of width."""
    _, filled = pymupdf.Story(content, user_css=_CSS).place(pymupdf.Rect(0, 0, width, _LARGE_PT))
    return float(pymupdf.Rect(filled).y1)


def _draw(words: Words, fit: _Fit, device: Any) -> None:
    top = words.box.y0 + max(words.box.height - fit.height, 0.0) * words.anchor
    matrix = pymupdf.Matrix(fit.scale, 0, 0, fit.scale, words.box.x0, top)
    if words.turn:
        middle = (words.box.tl + words.box.br) * 0.5
        matrix = matrix * pymupdf.Matrix(1, 0, 0, 1, -middle.x, -middle.y)
        matrix = matrix * pymupdf.Matrix(-words.turn) * pymupdf.Matrix(1, 0, 0, 1, middle.x, middle.y)
    fit.story.draw(device, matrix)

"""A document beside the text about it, with the words in question lit on its pages.

The browser lays out every page, empty, and asks for the ones around the reader; they come as pictures, sharp
at the present zoom, with a layer of transparent text over them. Highlights are elements of their own, placed in
points of the displayed page. So the first page of a document of 5,000 pages is as near as
the last, nothing of the file but pictures and text reaches the browser, and what is lit can be measured.
"""

import base64
import functools
import math
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from rag import errors
from rag.types import (
    Chunk,
    Citation,
    Document,
    Hit,
    LaterPlace,
    Line,
    ParagraphText,
    Passage,
    Rect,
    Region,
)
from rag.ui import session
from rag.ui.frame import ASSETS

PAGES_AROUND = 1
"""Pages sent before and after the one being read. A jump brings its page alone, and the browser asks for the others."""
FIRST_SCALE = 1.5
"""Pixels per point until the browser has told its own."""
SCALE_RANGE = (0.2, 6.0)
CACHED_PAGES = 96


class Mark(NamedTuple):
    """A place on the pages: the words themselves and the passage they stand in."""

    label: str
    title: str
    quote: tuple[Region, ...]
    passage: tuple[Region, ...]

    @classmethod
    def of_citation(cls, citation: Citation, hit: Hit, label: str) -> "Mark":
        """A cited quote and, softer, what stands around it."""
        around = Passage(document_id=hit.passage.document_id, lines=surroundings(citation, hit))
        return cls(label, citation.quote or "", citation.regions, around.regions)

    @classmethod
    def of_hit(cls, hit: Hit, label: str) -> "Mark":
        """The chunk that was found."""
        return cls(label, f"Score {hit.final_score:.2f}", (), hit.chunk.regions)

    @classmethod
    def of_later(cls, place: LaterPlace) -> "Mark":
        """Where a quote of an older version stands now."""
        return cls(f"v{place.latest_version}", place.text or "", place.regions, ())

    @classmethod
    def of_paragraph(cls, paragraph: ParagraphText, label: str) -> "Mark":
        """A paragraph that differs from another version."""
        return cls(label, "", paragraph.regions, ())

    @classmethod
    def of_chunk(cls, chunk: Chunk) -> "Mark":
        """A chunk's lines."""
        return cls(f"#{chunk.ordinal + 1}", chunk.section or "", (), chunk.regions)

    def shapes(self, number: int, *, active: bool) -> list[dict[str, Any]]:
        """What to draw: the active mark filled, quote over passage; another one as outlines."""
        if not active:
            return [self._shape(number, "other", region, outlines(region.rects)) for region in self.place]
        passage = [self._shape(number, "passage", region, region.rects) for region in self.passage]
        return passage + [self._shape(number, "quote", region, region.rects) for region in self.quote]

    @property
    def place(self) -> tuple[Region, ...]:
        """The quote, or the passage where there is none."""
        return self.quote or self.passage

    def _shape(self, number: int, kind: str, region: Region, rects: Sequence[Rect]) -> dict[str, Any]:
        label = self.label if region is self.place[0] else ""
        return {
            "id": number,
            "kind": kind,
            "label": label,
            "title": self.title,
            "page": region.page_number,
            "rects": rects,
        }


def surroundings(citation: Citation, hit: Hit) -> tuple[Line, ...]:
    """What to light softly around a quote: the chunk it was found by, or else its paragraph.

    The passage that was handed to the answerer may be two pages long.
    """
    quoted = {line.number for line in citation.lines}
    lines = hit.passage.lines
    if quoted <= {line.number for line in hit.chunk.lines}:
        return hit.chunk.lines
    first = max((line.number for line in lines if line.starts_block and line.number <= min(quoted)), default=0)
    after = min((line.number for line in lines if line.starts_block and line.number > max(quoted)), default=math.inf)
    return tuple(line for line in lines if first <= line.number < after)


def outlines(rects: Sequence[Rect]) -> list[Rect]:
    """Boxes around consecutive lines; a line that stands higher than the one before begins the next column's box."""
    boxes: list[Rect] = []
    for before, rect in zip([None, *rects], rects, strict=False):
        if before is None or rect.y1 < before.y0:
            boxes.append(rect)
        else:
            boxes[-1] = boxes[-1].union(rect)
    return boxes


def show_pdf(
    document: Document,
    marks: Sequence[Mark],
    active: int | None,
    *,
    jump: int = 0,
    page_number: int | None = None,
    key: str = "viewer",
    on_pick: Callable[[int], None] | None = None,
) -> None:
    """Show `document` with `marks`, the active one lit.

    The reader is taken to the active mark, on `page_number` if it stands there too, or to that page without one, when
    any of these or `jump` changes, and is otherwise left where they are. `on_pick` is called with the number of a
    mark that was clicked.
    """
    token = f"{document.id}:{active}:{jump}:{page_number}"
    page, y = _target(marks, active, page_number)
    view = st.session_state.get(key, {}).get("view") or {}
    scale = min(max(view.get("scale", FIRST_SCALE), SCALE_RANGE[0]), SCALE_RANGE[1])
    arrived = view.get("token") == token
    numbers = _around(document, view["page"], PAGES_AROUND) if arrived else _around(document, page, 0)

    def picked() -> None:
        choice = st.session_state[key].get("pick")
        if on_pick and choice is not None:
            on_pick(choice)

    _component()(
        key=key,
        data={
            "document": str(document.id),
            "name": document.name,
            "sizes": [(page.width, page.height) for page in document.pages],
            "labels": document.page_labels,
            "pages": [_page(document, number, scale) for number in numbers],
            "marks": [shape for i, mark in enumerate(marks) for shape in mark.shapes(i, active=i == active)],
            "target": {"token": token, "page": page, "y": y},
        },
        on_view_change=lambda: None,
        on_pick_change=picked,
    )


@functools.cache
def _component() -> ComponentRenderer:
    html, css, js = ((ASSETS / f"viewer.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    return st.components.v2.component("pagelight.viewer", html=html, css=css, js=js)


def _target(marks: Sequence[Mark], active: int | None, page_number: int | None) -> tuple[int, float]:
    """The page to go to and how far down, in points."""
    regions = () if active is None else marks[active].place
    if not regions:
        return page_number or 1, 0.0
    region = next((region for region in regions if region.page_number == page_number), regions[0])
    return region.page_number, min(rect.y0 for rect in region.rects)


def _around(document: Document, number: int, distance: int) -> range:
    last = len(document.pages)
    number = min(max(number, 1), last)
    return range(max(number - distance, 1), min(number + distance, last) + 1)


def _page(document: Document, number: int, scale: float) -> dict[str, Any]:
    """One page for the browser: a picture and its lines, or why there is none."""
    try:
        image = _picture(document.user_id, document.id, number, scale)
    except errors.Error as error:
        return {"number": number, "error": error.message}
    lines = _lines(document.user_id, document.id, number, document.chunk_count)
    return {"number": number, "scale": scale, "image": image, "lines": lines}


@st.cache_data(max_entries=CACHED_PAGES, show_spinner=False)
def _picture(user_id: str, document_id: uuid.UUID, number: int, scale: float) -> str:
    """A page as a data URL. `user_id` keeps the users apart in the cache."""
    png = session.engine().pages.image(document_id, number, zoom=scale)
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


@st.cache_data(max_entries=CACHED_PAGES, show_spinner=False)
def _lines(user_id: str, document_id: uuid.UUID, number: int, chunk_count: int) -> list[tuple[float | str, ...]]:
    """The page's lines, each once: box and text. `chunk_count` tells a document from its later self."""
    passages: Sequence[Passage] = session.engine().chunks.list(document_id, page_number=number)
    lines = {line.number: line for passage in passages for line in passage.lines if line.page_number == number}
    return [(*lines[key].bbox, lines[key].text) for key in sorted(lines)]

"""A document beside the text about it, with the words in question lit on its pages.

The browser has every page, empty, and asks the door in `rag.ui.viewer.page_server` for the ones around the reader;
they come as pictures, sharp at the present zoom, with a layer of transparent text over them. Highlights are
elements of their own, placed in points of the displayed page. So the first page of a document of 5,000 pages is as
near as the last, nothing of the file but pictures and text reaches the browser, and what is lit can be measured.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import streamlit as st

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
from rag.ui.components import component
from rag.ui.formatting import decimal
from rag.ui.language import _
from rag.ui.viewer import page_server

SCRIPTS = tuple(
    f"viewer/{part}"
    for part in ("source", "sheet", "stack", "badges", "strip", "finder", "panel", "selection", "keys", "viewer")
)
"""Parts of the viewer's script, in `assets/viewer`, in this order: the browser gets them as one."""
NEAR_LINES = 8
"""Of a long paragraph so many lines before and after a quote are lit softly."""


class Mark(NamedTuple):
    """A place on the pages: the words themselves and the passage they stand in."""

    label: str
    title: str
    quote: tuple[Region, ...]
    passage: tuple[Region, ...]
    key: str = ""
    """By which the rest of the page knows it, as `answer:number`."""

    @classmethod
    def of_citation(cls, citation: Citation, hit: Hit, label: str) -> "Mark":
        """A cited quote and, softer, what stands around it."""
        around = Passage(document_id=hit.passage.document_id, lines=surroundings(citation, hit))
        return cls(label, citation.quote or "", citation.regions, around.regions)

    @classmethod
    def of_hit(cls, hit: Hit, label: str) -> "Mark":
        """The chunk that was found."""
        return cls(label, _("Score {score}").format(score=decimal(hit.final_score, 2)), (), hit.chunk.regions)

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

    def drawn(self) -> dict[str, Any]:
        """For the browser: what to draw while it is lit, quote over passage; what else; its places, page by page."""
        lit = [_shape("passage", region, region.rects) for region in self.passage]
        return {
            "label": self.label,
            "title": self.title,
            "key": self.key,
            "lit": lit + [_shape("quote", region, region.rects) for region in self.quote],
            "outlined": [_shape("other", region, outlines(region.rects)) for region in self.place],
            "places": [[region.page_number, min(rect.y0 for rect in region.rects)] for region in self.place],
        }

    @property
    def place(self) -> tuple[Region, ...]:
        """The quote, or the passage where there is none."""
        return self.quote or self.passage


def _shape(kind: str, region: Region, rects: Sequence[Rect]) -> dict[str, Any]:
    return {"kind": kind, "page": region.page_number, "rects": rects}


def surroundings(citation: Citation, hit: Hit) -> tuple[Line, ...]:
    """What to light softly around a quote: its paragraph, or what is near in a long one.

    Not the chunk it was found by, and not what was handed to the answerer: of a short file that is all there is. Where
    nothing is quoted it is the chunk, and nothing where the paragraph is all that the passage has.
    """
    if not citation.lines:
        return hit.chunk.lines
    quoted = {line.number for line in citation.lines}
    lines = hit.passage.lines
    first = max((line.number for line in lines if line.starts_block and line.number <= min(quoted)), default=0)
    after = min((line.number for line in lines if line.starts_block and line.number > max(quoted)), default=math.inf)
    near = range(min(quoted) - NEAR_LINES, max(quoted) + NEAR_LINES + 1)
    around = tuple(line for line in lines if first <= line.number < after and line.number in near)
    return around if len(around) < len(lines) else ()


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
    click: int = 0,
    page_number: int | None = None,
    found: Sequence[int] | None = None,
    key: str = "viewer",
    on_pick: Callable[[int, int], None] | None = None,
) -> None:
    """Show `document` with `marks`, the active one lit.

    The reader is taken to the active mark, on `page_number` if it stands there too, or to that page without one, when
    any of these or `jump` changes, and is otherwise left where they are. The browser lights what is clicked by itself
    and then tells of it: `click` says which click this answers, so that a late answer takes nobody back. `on_pick` is
    called with the number of a mark that was clicked in the viewer, and of that click. `found` are the pages that the
    search for an answer found, which a strip shows.
    """
    page, y = _target(marks, active, page_number)

    def picked() -> None:
        choice = st.session_state[key].get("pick")
        if on_pick and choice is not None:
            on_pick(choice["number"], choice["click"])

    component("viewer", SCRIPTS)(
        key=key,
        data={
            "document": page_server.description(document),
            "name": document.name,
            "door": {
                "path": home() + page_server.PATH,
                "home": home() + "/",
                "header": page_server.TICKET,
                "ticket": session.ticket(),
            },
            "marks": [mark.drawn() for mark in marks],
            "active": active,
            "found": found,
            "target": {"token": f"{document.id}:{active}:{jump}:{page_number}", "page": page, "y": y, "click": click},
        },
        on_pick_change=picked,
    )


def home() -> str:
    """The path below which the app is served, without a slash at its end."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""


def _target(marks: Sequence[Mark], active: int | None, page_number: int | None) -> tuple[int, float]:
    """The page to go to and how far down, in points."""
    regions = () if active is None else marks[active].place
    if not regions:
        return page_number or 1, 0.0
    region = next((region for region in regions if region.page_number == page_number), regions[0])
    return region.page_number, min(rect.y0 for rect in region.rects)

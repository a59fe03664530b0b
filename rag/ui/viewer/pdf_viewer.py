"""The PDF viewer: a document with highlighted quotes.

The browser lays out all pages empty and requests those near the reader from `rag.ui.viewer.page_server`, as images
at the current zoom with a transparent text layer. Highlights are separate elements in PDF points. So every page of
a document of 5,000 pages loads equally fast, the file itself never reaches the browser, and highlights can be
measured.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from rag import errors, types
from rag.ui import session
from rag.ui.components import component
from rag.ui.formatting import decimal, escape, local_time
from rag.ui.language import _
from rag.ui.page_frame import empty_state
from rag.ui.translated_messages import translate_message
from rag.ui.viewer import page_server

SCRIPTS = tuple(
    f"viewer/{part}"
    for part in ("source", "sheet", "stack", "badges", "strip", "finder", "panel", "selection", "keys", "viewer")
)
"""Parts of the viewer's script in `assets/viewer`, concatenated in this order."""


class Mark(NamedTuple):
    """A place on the pages: a quote and the lines that it stands in."""

    label: str
    title: str
    quote: tuple[types.Region, ...]
    passage: tuple[types.Region, ...]
    key: str = ""
    """Identifies the mark to the rest of the page, as `answer:number`."""

    @classmethod
    def of_citation(cls, citation: types.Citation, hit: types.Hit, label: str) -> "Mark":
        """Return the mark of a citation: the quote, and softly its lines, so that the quote stands out."""
        around = types.Passage(document_id=hit.passage.document_id, lines=citation.lines_in(hit))
        return cls(label, _labelled(citation.quote or "", around), citation.regions, around.regions)

    @classmethod
    def of_hit(cls, hit: types.Hit, label: str) -> "Mark":
        """Return the mark of a search hit's chunk."""
        score = _("Score {score}", score=decimal(hit.final_score, 2))
        return cls(label, _labelled(score, hit.chunk), (), hit.chunk.regions)

    @classmethod
    def of_later(cls, place: types.LaterPlace) -> "Mark":
        """Return the mark of a quote's place in a later version."""
        return cls(f"v{place.latest_version}", place.text or "", place.regions, ())

    @classmethod
    def of_paragraph(cls, paragraph: types.ParagraphText, label: str) -> "Mark":
        """Return the mark of a paragraph that differs between versions."""
        return cls(label, "", paragraph.regions, ())

    @classmethod
    def of_chunk(cls, chunk: types.Chunk) -> "Mark":
        """Return the mark of a chunk."""
        return cls(f"#{chunk.ordinal + 1}", _labelled(chunk.section or "", chunk), (), chunk.regions)

    def drawn(self) -> dict[str, Any]:
        """Return the mark for the browser: shapes when highlighted, outlines otherwise, and its places by page."""
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
    def place(self) -> tuple[types.Region, ...]:
        """The quote, or the passage if there is no quote."""
        return self.quote or self.passage


def _labelled(title: str, passage: types.Passage) -> str:
    """Return the title of a mark, and that its text is struck out, say."""
    return " · ".join(filter(None, [*map(translate_message, types.set_apart_labels(passage.lines)), title]))


def _shape(kind: str, region: types.Region, rects: Sequence[types.Rect]) -> dict[str, Any]:
    return {"kind": kind, "page": region.page_number, "rects": rects}


def outlines(rects: Sequence[types.Rect]) -> list[types.Rect]:
    """Return boxes around consecutive lines; a line above the previous one starts a new column's box."""
    boxes: list[types.Rect] = []
    for before, rect in zip([None, *rects], rects, strict=False):
        if before is None or rect.y1 < before.y0:
            boxes.append(rect)
        else:
            boxes[-1] = boxes[-1].union(rect)
    return boxes


def show_pdf(
    document: types.Document,
    marks: Sequence[Mark],
    active: int | None,
    *,
    jump: int = 0,
    click: int = 0,
    page_number: int | None = None,
    found: Sequence[int] | None = None,
    key: str = "viewer",
    on_pick: Callable[[int, int], None] | None = None,
    on_take: Callable[[Mapping[str, Any]], None] | None = None,
) -> None:
    """Show `document` with `marks`, the active one highlighted.

    The viewer scrolls to the active mark (on `page_number` if it is there) or to that page whenever any of these or
    `jump` changes. The browser highlights clicks itself and then reports them: `click` tells which click this
    answers, so that a late answer does not scroll back. `on_pick` receives the number of a mark clicked in the
    viewer, and of the click. `on_take` receives selected words (`quote` and `regions`) that the user takes over.
    `found` are the pages found by the search, shown in a strip.
    """
    page, y = page_number or 1, 0.0
    if regions := () if active is None else marks[active].place:
        region = next((region for region in regions if region.page_number == page_number), regions[0])
        page, y = region.page_number, min(rect.y0 for rect in region.rects)

    def picked() -> None:
        choice = st.session_state[key].get("pick")
        if on_pick and choice is not None:
            on_pick(choice["number"], choice["click"])

    def took() -> None:
        words = st.session_state[key].get("take")
        if on_take and words is not None:
            on_take(words)

    component("viewer", SCRIPTS)(
        key=key,
        data={
            "document": page_server.description(document),
            "name": document.name,
            "door": {
                "path": base_path() + page_server.PATH,
                "home": base_path() + "/",
                "header": page_server.TICKET,
                "ticket": session.ticket(),
            },
            "marks": [mark.drawn() for mark in marks],
            "active": active,
            "found": found,
            "takes": on_take is not None,
            "target": {"token": f"{document.id}:{active}:{jump}:{page_number}", "page": page, "y": y, "click": click},
        },
        on_pick_change=picked,
        on_take_change=took,
    )


def base_path() -> str:
    """Return the path below which the app is served, without a trailing slash."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""


# --- deleted documents ------------------------------------------------------------------------------


def show_trash_note(document: types.Document) -> None:
    """Say that a document is in the trash, if it is, and offer to restore it."""
    if document.deleted_at is None:
        return
    with st.container(key=f"in-trash-{document.id}", horizontal=True, vertical_alignment="center"):
        st.caption(
            _(
                ":material/delete: {name} is in the trash since {time}. It is not searched.",
                name=escape(document.name),
                time=local_time(document.deleted_at),
            )
        )
        refusal = session.read_only_reason()
        if st.button(_("Restore"), icon=":material/restore_from_trash:", disabled=bool(refusal), help=refusal):
            session.engine().documents.restore([document.id])
            st.rerun()


def show_purged(name: str, error: errors.NotFoundError) -> None:
    """Say in place of a document that it was deleted; `name` is how the answer that cites it calls it."""
    title = _("“{name}” was deleted", name=name) if name else _("This document was deleted")
    text = _("It was permanently deleted, or it is not shared with you any more.")
    if isinstance(error, errors.PurgedError):  # this user may know when
        text = _(
            "It was permanently deleted on {time}. Its pages are gone; answers keep the words that they quote.",
            time=local_time(error.purged_at),
        )
    empty_state("delete_forever", title, text, key="empty-document")

"""A page with one document in one viewer, and a button for each place to light: `?viewer=…&document=…&places=1,7`."""

import uuid
from collections.abc import Sequence

import streamlit as st
from streamlit_pdf_viewer import pdf_viewer

from rag.types import Document, Region
from rag.ui import session
from rag.ui.viewer import Mark, show_pdf

HEIGHT_PX = 760


def main() -> None:
    """All of it, on each click."""
    st.set_page_config(layout="wide")
    engine = session.engine()
    document = engine.documents.get(uuid.UUID(st.query_params["document"]))
    places = _places(document, st.query_params["places"])
    for number, column in enumerate(st.columns(len(places))):
        if column.button(f"Place {number}"):
            st.session_state["lit"] = number
    show = _ours if st.query_params["viewer"] == "ours" else _theirs
    show(document, places, st.session_state.get("lit"))


@st.cache_data
def _places(_document: Document, pages: str) -> list[Region]:
    """A line in the middle of each of `pages`."""
    chunks = session.engine().chunks
    lines = [
        [
            line
            for chunk in chunks.list(_document.id, page_number=page)
            for line in chunk.lines
            if line.page_number == page
        ]
        for page in map(int, pages.split(","))
    ]
    return [Region(page_number=own[0].page_number, rects=(own[len(own) // 2].bbox,)) for own in lines]


def _ours(document: Document, places: Sequence[Region], lit: int | None) -> None:
    st.html(f"<style>:root {{ --viewer-height: {HEIGHT_PX}px; }}</style>")
    show_pdf(document, [Mark(f"S{number}", "", (place,), ()) for number, place in enumerate(places)], lit)


def _theirs(document: Document, places: Sequence[Region], lit: int | None) -> None:
    annotations = [
        {"page": place.page_number, "x": x0, "y": y0, "width": x1 - x0, "height": y1 - y0, "color": "orange"}
        for place in places
        for x0, y0, x1, y1 in place.rects
    ]
    pdf_viewer(
        session.engine().files.rendition(document.id),
        height=HEIGHT_PX,
        key=f"theirs-{lit}",  # it goes to another place under another key only
        annotations=annotations,
        scroll_to_annotation=None if lit is None else lit + 1,
        scroll_behavior="instant",
        render_text=True,
    )


main()

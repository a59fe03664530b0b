"""Highlight places of documents in one viewer: `?viewer=…&places=document:page,document:page`.

Our viewer is next to an answer that cites the places; the other is below a button for each and shows the first document
only.
"""

import uuid
from collections.abc import Sequence

import streamlit as st
from streamlit_pdf_viewer import pdf_viewer

from rag.types import AnswerResponse, Chunk, Citation, Document, Hit, Line, Passage, Region, Sentence, Verdict
from rag.ui import session
from rag.ui.chat.answer import keyed_marks, show_answer
from rag.ui.viewer.pdf_viewer import show_pdf

HEIGHT_PX = 760
MESSAGE = uuid.UUID(int=1)


def main() -> None:
    """Draw the page, on each click."""
    st.set_page_config(layout="wide")
    places = [(uuid.UUID(document), int(page)) for document, page in _asked()]
    hits = [_hit(document_id, page) for document_id, page in places]
    if st.query_params["viewer"] == "ours":
        _ours(hits)
        return
    for number, column in enumerate(st.columns(len(hits))):
        if column.button(f"Place {number}"):
            st.session_state["lit"] = number
    document = session.engine().documents.get(places[0][0])
    _theirs(document, [_place(hit) for hit in hits], st.session_state.get("lit"))


def _asked() -> list[list[str]]:
    return [place.split(":") for place in st.query_params["places"].split(",")]


@st.cache_data
def _hit(document_id: uuid.UUID, page: int) -> Hit:
    """Return a hit for a line in the middle of a page."""
    document = session.engine().documents.get(document_id)
    passage = session.engine().pages.text(document_id, [page])
    chunk = Chunk(document_id=document_id, lines=(_quoted(passage),), id=uuid.uuid4(), ordinal=0)
    return Hit(chunk=chunk, passage=passage, document_name=document.name, mime_type="application/pdf", final_score=1)


def _quoted(passage: Passage) -> Line:
    return passage.lines[len(passage.lines) // 2]


def _place(hit: Hit) -> Region:
    line = hit.chunk.lines[0]
    return Region(page_number=line.page_number, rects=(line.bbox,))


def _answer(hits: Sequence[Hit]) -> AnswerResponse:
    """Return an answer with one sentence for each place."""
    sentences: list[Sentence] = []
    text = ""
    for number, hit in enumerate(hits):
        own = hit.chunk.lines[0].text
        ids = (f"S{number + 1}",)
        sentences.append(Sentence(text=own, citation_ids=ids, start=len(text), end=len(text) + len(own)))
        text += f"{own} [{ids[0]}] "
    cited = [
        Citation(
            citation_id=f"S{number + 1}",
            sentence=number,
            quote=hit.chunk.lines[0].text,
            lines=hit.chunk.lines,
            regions=(_place(hit),),
            verdict=Verdict.VERIFIED,
        )
        for number, hit in enumerate(hits)
    ]
    sources = {f"S{number + 1}": hit for number, hit in enumerate(hits)}
    return AnswerResponse(
        status="ok", answer=text, sentences=tuple(sentences), citations=tuple(cited), sources=sources, model="none"
    )


def _ours(hits: Sequence[Hit]) -> None:
    st.html(f"<style>:root {{ --viewer-height: {HEIGHT_PX}px; }}</style>")
    response = _answer(hits)

    def cite(number: int, click: int) -> None:
        st.session_state["lit"] = (number, click)

    left, right = st.columns(2)
    number, click = st.session_state.get("lit", (0, 0))
    with left:
        show_answer(response, MESSAGE, lit=number, on_cite=cite)
    found = keyed_marks(response, MESSAGE)
    here = [(i, mark) for i, (document_id, mark) in enumerate(found) if document_id == found[number][0]]
    document = session.engine().documents.get(found[number][0])
    with right:
        show_pdf(document, [mark for _, mark in here], [i for i, _ in here].index(number), jump=click, click=click)


def _theirs(document: Document, places: Sequence[Region], lit: int | None) -> None:
    annotations = [
        {"page": place.page_number, "x": x0, "y": y0, "width": x1 - x0, "height": y1 - y0, "color": "orange"}
        for place in places
        for x0, y0, x1, y1 in place.rects
    ]
    pdf_viewer(
        session.engine().files.rendition(document.id),
        height=HEIGHT_PX,
        key=f"theirs-{lit}",  # it jumps to another place only under a new key
        annotations=annotations,
        scroll_to_annotation=None if lit is None else lit + 1,
        scroll_behavior="instant",
        render_text=True,
    )


main()

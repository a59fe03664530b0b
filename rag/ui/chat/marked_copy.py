"""Marked copies of what an answer quotes: a preview of the few pages, and the file to keep."""

import functools
import uuid
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import streamlit as st

from rag.engine.library.pages import MarkedCopy
from rag.types import AnswerResponse
from rag.ui import session
from rag.ui.formatting import listed
from rag.ui.language import N_, _, either
from rag.ui.page_frame import dialog, door
from rag.ui.translated_messages import said

ABOUT = N_("The quoted pages as a PDF: each quote is highlighted, with its sentence and verdict as a note.")


def offer_copy(response: AnswerResponse, message_id: uuid.UUID) -> None:
    """A button that opens the marked copies of the documents that `response` quotes; none if it quotes nothing."""
    names = {hit.passage.document_id: hit.document_name for citation, hit in response.cited if citation.regions}
    icon = ":material/ink_highlighter:"
    if names and st.button(_("Marked copy"), icon=icon, key=f"marked-{message_id}", type="tertiary", help=_(ABOUT)):
        _preview(response, names, message_id)


@dialog("Marked copy", width="medium")
def _preview(response: AnswerResponse, names: Mapping[uuid.UUID, str], message_id: uuid.UUID) -> None:
    from streamlit_pdf_viewer import pdf_viewer  # it declares its component, for which the app must be running

    with door():
        document_id = next(iter(names))
        if len(names) > 1:
            document_id = st.selectbox(
                _("Document"), list(names), format_func=names.__getitem__, label_visibility="collapsed"
            )
        pages = session.engine().pages
        copy = taken = pages.marked(response, document_id, say=said)
        with st.container(key="copy", height=400):
            pdf_viewer(
                copy.content,
                key=f"copy-{message_id}-{document_id}",  # under the same key it would go on showing another copy
                render_text=True,
                annotations=[_target(copy)],
                scroll_to_annotation=1,
                scroll_behavior="instant",
            )
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.text(f"{names[document_id]} · {where(copy.page_numbers)}")
            if st.toggle(
                _("All pages"), help=_("The whole document with these highlights, not the quoted pages alone.")
            ):
                taken = pages.marked(response, document_id, whole=True, say=said)
            st.download_button(
                _("Download"),
                functools.partial(pages.taken, document_id, taken),
                f"{PurePath(names[document_id]).stem} – {_('marked')}.pdf",
                "application/pdf",
                icon=":material/download:",
                type="primary",
                on_click="ignore",
            )


def _target(copy: MarkedCopy) -> dict[str, Any]:
    """An unseen box at the first quote, which the viewer can scroll to: the real annotations it only draws."""
    page = copy.page_numbers[0]
    regions = [highlight.region for highlight in copy.highlights if highlight.region.page_number == page]
    x0, y0, x1, y1 = min((rect for region in regions for rect in region.rects), key=lambda rect: rect.y0)
    return {"page": 1, "x": x0, "y": y0, "width": x1 - x0, "height": y1 - y0, "color": "transparent"}


def where(page_numbers: tuple[int, ...]) -> str:
    """The pages of a copy: `page 4`, `pages 4, 12 and 40`."""
    return either(len(page_numbers), "page {pages}", "pages {pages}").format(pages=listed([*map(str, page_numbers)]))

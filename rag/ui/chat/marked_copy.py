"""Marked copies of the documents that an answer quotes: preview and download."""

import functools
import uuid
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import streamlit as st

from rag import types
from rag.engine.library.pages import MarkedCopy
from rag.ui import session
from rag.ui.formatting import join_names
from rag.ui.language import N_, _, ngettext
from rag.ui.page_frame import dialog, error_boundary
from rag.ui.translated_messages import translate_message

HELP = N_("The quoted pages as a PDF, with the quotes highlighted.")


def offer_copy(response: types.AnswerResponse, message_id: uuid.UUID) -> None:
    """Show a button for the marked copies, unless `response` quotes nothing."""
    names = {hit.passage.document_id: hit.document_name for citation, hit in response.cited if citation.regions}
    icon = ":material/ink_highlighter:"
    if names and st.button(_("Marked copy"), icon=icon, key=f"marked-{message_id}", type="tertiary", help=_(HELP)):
        _preview(response, names, message_id)


@dialog("Marked copy", width="medium")
def _preview(response: types.AnswerResponse, names: Mapping[uuid.UUID, str], message_id: uuid.UUID) -> None:
    from streamlit_pdf_viewer import pdf_viewer  # importing declares its component, for which the app must run

    with error_boundary():
        document_id = next(iter(names))
        if len(names) > 1:
            document_id = st.selectbox(
                _("Document"), list(names), format_func=names.__getitem__, label_visibility="collapsed"
            )
        pages = session.engine().pages
        copy = taken = pages.marked(response, document_id, say=translate_message)
        with st.container(key="copy", height=400):
            pdf_viewer(
                copy.content,
                key=f"copy-{message_id}-{document_id}",  # the same key would keep showing another copy
                render_text=True,
                annotations=[_scroll_target(copy)],
                scroll_to_annotation=1,
                scroll_behavior="instant",
            )
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.text(f"{names[document_id]} · {page_range(copy.page_numbers)}")
            if st.toggle(_("All pages"), help=_("The whole document, not only the quoted pages.")):
                taken = pages.marked(response, document_id, whole=True, say=translate_message)
            st.download_button(
                _("Download"),
                functools.partial(pages.download, document_id, taken),
                f"{PurePath(names[document_id]).stem} – " + _("marked") + ".pdf",
                "application/pdf",
                icon=":material/download:",
                type="primary",
                on_click="ignore",
            )


def _scroll_target(copy: MarkedCopy) -> dict[str, Any]:
    """Return an invisible box at the first quote: the preview cannot scroll to real PDF annotations."""
    page = copy.page_numbers[0]
    regions = [highlight.region for highlight in copy.highlights if highlight.region.page_number == page]
    x0, y0, x1, y1 = min((rect for region in regions for rect in region.rects), key=lambda rect: rect.y0)
    return {"page": 1, "x": x0, "y": y0, "width": x1 - x0, "height": y1 - y0, "color": "transparent"}


def page_range(page_numbers: tuple[int, ...]) -> str:
    """Return the pages of a copy: `page 4`, `pages 4, 12 and 40`."""
    return ngettext(len(page_numbers), "page {pages}", "pages {pages}").format(
        pages=join_names([*map(str, page_numbers)])
    )

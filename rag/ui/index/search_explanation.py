"""Explain why a passage was or was not found, below a search."""

import streamlit as st

from rag import errors
from rag.types import Explanation, SearchRequest
from rag.ui import session
from rag.ui.formatting import escape
from rag.ui.language import _
from rag.ui.translated_messages import translate_message

ICONS = {True: ":material/check_circle:", False: ":material/help:"}


def why_not(request: SearchRequest) -> None:
    """Ask for words of an expected passage and explain what became of it in this search."""
    with st.form("why-form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        passage = st.text_input(
            _("Missing a passage?"),
            placeholder=_("Missing a passage? Enter some of its words as in the document"),
            label_visibility="collapsed",
            key="why-passage",
        )
        asked = st.form_submit_button(_("Why?"), icon=":material/route:")
    if asked and passage.strip():
        try:
            st.session_state["why"] = session.engine().questions.explain(request, passage)
        except errors.Error as error:
            st.error(escape(translate_message(error.message)), icon=":material/error:")
            return
    explanation: Explanation | None = st.session_state.get("why")
    if explanation:
        _show(explanation)


def _show(explanation: Explanation) -> None:
    place = (
        _("{name}, page {number}: ").format(name=explanation.document_name, number=explanation.page_number)
        if explanation.document_name
        else ""
    )
    st.info(escape(place + translate_message(explanation.message)), icon=ICONS[explanation.stage == "given"])

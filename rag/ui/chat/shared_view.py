"""Answers and conversations that others share with the user, read-only beside their documents."""

import uuid
from functools import partial

import streamlit as st

from rag import errors, types
from rag.ui import session
from rag.ui.chat import conversation
from rag.ui.chat.answer import show_answer
from rag.ui.formatting import escape
from rag.ui.language import _
from rag.ui.page_frame import empty_state, error_boundary
from rag.ui.viewer.citation_viewer import highlighted


def choose_link() -> types.SharedAnswer | None:
    """Choose a shared answer, at first the one in the address; None if there is none."""
    links = session.own_engine().store.answer_links.shared_with_me()
    link_id = st.query_params.get("link", "")
    chosen = next((link for link in links if str(link.id) == link_id), None)
    if link_id and chosen is None:
        text = _("The link was revoked, or its documents are not shared with you.")
        empty_state("lock", _("Not shared with you"), text)
        return None
    if not links:
        empty_state("group", _("Nothing is shared with you"), _("Answers that others share with you appear here."))
        return None
    picked = st.selectbox(
        _("Shared with you"),
        links,
        index=links.index(chosen) if chosen else 0,
        format_func=lambda link: f"{link.title} · {link.owner_name or link.owner}",
        label_visibility="collapsed",
    )
    collection = session.collection_of(picked.index_id)
    if session.collection() != collection:
        address = dict(st.query_params)
        session.open_collection(collection)
        st.query_params.from_dict(address)
        st.rerun()
    return picked


@st.fragment(key="chat")
def transcript(shown: types.SharedAnswer) -> None:
    """Show the shared turns; a click on a citation highlights it in its document."""
    with error_boundary(), st.container(key="transcript", height=400, border=False):
        for turn in session.own_engine().answers.shared_turns(shown.id):
            if turn.role == "user":
                st.container(key=f"question-{turn.id}").text(turn.content)
            elif turn.response is None:
                st.caption(escape(turn.content))
            else:
                show_answer(turn.response, turn.id, lit=highlighted(turn.id), on_cite=partial(conversation.cite, turn))


def first_document(shown: types.SharedAnswer) -> uuid.UUID | None:
    """Return the first cited document that can be read."""
    engine = session.engine()
    for turn in session.own_engine().answers.shared_turns(shown.id):
        for hit in turn.response.contexts if turn.response else ():
            try:
                return engine.documents.get(hit.passage.document_id).id
            except errors.NotFoundError:
                continue
    return None

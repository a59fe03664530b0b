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
    links = session.own_engine().answers.shared_with_me()
    asked = st.query_params.get("link", "")
    chosen = next((one for one in links if str(one.id) == asked), None)
    if asked and chosen is None:
        with empty_state(
            "lock", _("Not shared with you"), _("The link was revoked, or its documents are not shared with you.")
        ):
            return None
    if not links:
        with empty_state(
            "group", _("Nothing is shared with you"), _("Answers that others share with you appear here.")
        ):
            return None
    picked = st.selectbox(
        _("Shared with you"),
        links,
        index=links.index(chosen) if chosen else 0,
        format_func=lambda one: f"{one.title} · {one.owner_name or one.owner}",
        label_visibility="collapsed",
    )
    _open_collection(picked)
    return picked


def _open_collection(shown: types.SharedAnswer) -> None:
    """Open the collection of a shared answer."""
    collection = session.collection_of(shown.index_id)
    if session.collection() != collection:
        asked = dict(st.query_params)
        session.open_collection(collection)
        st.query_params.from_dict(asked)
        st.rerun()


@st.fragment(key="chat")
def transcript(shown: types.SharedAnswer) -> None:
    """Show the shared turns; a click on a citation highlights it in its document."""
    with error_boundary(), st.container(key="transcript", height=400, border=False):
        for turn in session.own_engine().answers.shared_turns(shown.id):
            _turn(turn)


def _turn(turn: types.ChatMessage) -> None:
    if turn.role == "user":
        with st.container(key=f"question-{turn.id}"):
            st.text(turn.content)
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

"""What the viewer beside the chat shows: the document of the citation that was looked at last, and its marks."""

import uuid
from dataclasses import dataclass, replace

import streamlit as st

from rag import errors
from rag.types import ChatMessage, LaterPlace
from rag.ui import session
from rag.ui.chat.answer import found_pages, keyed_marks, marks
from rag.ui.formatting import plain
from rag.ui.language import _
from rag.ui.page_frame import door
from rag.ui.viewer import place_links
from rag.ui.viewer.pdf_viewer import Mark, show_pdf

LOOKED_THROUGH = 20
"""Turns, from the last on, among which an answer is looked for that can be shown on a page."""


@dataclass(frozen=True)
class Viewing:
    """What the viewer shows: a document and, when they come from an answer, its marks there."""

    document_id: uuid.UUID
    marks: tuple[Mark, ...] = ()
    numbers: tuple[int, ...] = ()
    active: int | None = None
    message_id: uuid.UUID | None = None
    jump: int = 0
    click: int = 0
    found: tuple[int, ...] | None = None


def look_at(message: ChatMessage, number: int, click: int = 0) -> None:
    """Light citation `number` of an answer; `click` tells the browser, which has done so, that this is its answer."""
    if message.response is None:
        return
    found = keyed_marks(message.response, message.id)
    document_id = found[number][0]
    here = [(i, mark) for i, (document, mark) in enumerate(found) if document == document_id]
    before = st.session_state.get("viewing")
    st.session_state["viewing"] = Viewing(
        document_id=document_id,
        marks=tuple(mark for _, mark in here),
        numbers=tuple(i for i, _ in here),
        active=[i for i, _ in here].index(number),
        message_id=message.id,
        jump=before.jump + 1 if before else 1,
        click=click,
        found=tuple(found_pages(message.response).get(str(document_id), ())),
    )


def begin(conversation: uuid.UUID | None) -> None:
    """Light the first citation of a conversation's last answer that has one, unless something of it is lit already."""
    if conversation is None or st.session_state.get("viewing"):
        return
    try:
        turns = session.engine().chats.messages(conversation, last=LOOKED_THROUGH)
    except errors.NotFoundError:  # which is told where its turns would be
        return
    for turn in reversed(turns):
        places = marks(turn.response) if turn.response else []
        if places and _is_there(places[0][0]):
            look_at(turn, 0)
            return


def _is_there(document_id: uuid.UUID) -> bool:
    """Whether a document can still be shown."""
    try:
        return session.engine().documents.get(document_id).deleted_at is None
    except errors.NotFoundError:
        return False


def follow(place: LaterPlace) -> None:
    """Go to where a quote of an older version stands now."""
    before: Viewing | None = st.session_state.get("viewing")
    mark = Mark.of_later(place)
    st.session_state["viewing"] = Viewing(
        place.document_id, marks=(mark,), active=0, jump=before.jump + 1 if before else 1
    )
    st.rerun("viewer")


@st.fragment(key="viewer")
def viewer(first: uuid.UUID) -> None:
    """The document of the citation clicked last; before any, the document `first`."""
    with door():
        if (place := place_links.asked()) and place_links.show(place):
            return
        viewing: Viewing = st.session_state.get("viewing") or Viewing(first)
        document = session.engine().documents.get(viewing.document_id)
        if document.superseded_by is not None:
            st.caption(
                _("Version {version} of {name}, replaced by a later version.").format(
                    version=document.version, name=plain(document.name)
                )
            )
        show_pdf(
            document,
            viewing.marks,
            viewing.active,
            jump=viewing.jump,
            click=viewing.click,
            found=viewing.found,
            on_pick=_pick,
        )


def _pick(position: int, click: int) -> None:
    """Light another mark of the same answer, clicked on the page."""
    viewing: Viewing = st.session_state["viewing"]
    if position < len(viewing.marks):
        st.session_state["viewing"] = replace(viewing, active=position, jump=viewing.jump + 1, click=click)

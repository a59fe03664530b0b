"""Show the cited document beside the chat with its marks, or the place that the address links to.

Links are `/?document=…&page=12&place=x0,y0,x1,y1;…`.
"""

import contextlib
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import streamlit as st

from rag import errors, types
from rag.ui import session
from rag.ui.chat.answer import found_pages, keyed_marks, marks
from rag.ui.formatting import escape
from rag.ui.language import _
from rag.ui.page_frame import error_boundary
from rag.ui.viewer.pdf_viewer import Mark, show_pdf, show_purged, show_trash_note

MAX_TURNS_SEARCHED = 20
"""Last turns among which `show_first_citation` looks for a citation."""
MAX_BOXES = 20
MAX_PAGE = 2**31 - 1


@dataclass(frozen=True)
class Viewing:
    """State of the viewer: a document and the marks of an answer in it."""

    document_id: uuid.UUID
    name: str = ""
    """The document's name in the answer, which remains when the document is purged."""
    marks: tuple[Mark, ...] = ()
    numbers: tuple[int, ...] = ()
    active: int | None = None
    message_id: uuid.UUID | None = None
    jump: int = 0
    click: int = 0
    found: tuple[int, ...] | None = None

    @property
    def citation(self) -> int | None:
        """The number of the highlighted citation, None if there is none."""
        return None if self.active is None else self.numbers[self.active]


def highlighted(message_id: uuid.UUID) -> int | None:
    """Return the number of an answer's highlighted citation; None if none of it is highlighted."""
    viewing: Viewing | None = st.session_state.get("viewing")
    return viewing.citation if viewing and viewing.message_id == message_id else None


def show_citation(message: types.ChatMessage, number: int, click: int = 0) -> None:
    """Highlight citation `number` of an answer; `click` identifies the browser's click that this answers."""
    if message.response is None:
        return
    every = keyed_marks(message.response, message.id)
    document_id = every[number][0]
    here = {i: mark for i, (document, mark) in enumerate(every) if document == document_id}
    before = st.session_state.get("viewing")
    st.session_state["viewing"] = Viewing(
        document_id=document_id,
        name=next(
            hit.document_name
            for hit in (*message.response.contexts, *message.response.nearest)
            if hit.passage.document_id == document_id
        ),
        marks=tuple(here.values()),
        numbers=tuple(here),
        active=[*here].index(number),
        message_id=message.id,
        jump=before.jump + 1 if before else 1,
        click=click,
        found=tuple(found_pages(message.response).get(str(document_id), ())),
    )


def update_marks(message: types.ChatMessage, before: types.AnswerResponse) -> None:
    """Show the marks of an answer whose verdicts are final where those of the answer `before` are shown.

    The same quote stays highlighted, or the first of its sentence; the viewer stays where it is.
    """
    viewing: Viewing | None = st.session_state.get("viewing")
    if viewing is None or viewing.citation is None or viewing.message_id != message.id or message.response is None:
        return
    old = before.citations[viewing.citation]
    now = message.response.citations
    of_sentence = [number for number, citation in enumerate(now) if citation.sentence == old.sentence]
    if of_sentence:
        show_citation(message, min(of_sentence, key=lambda number: now[number].quote != old.quote), viewing.click)
        st.session_state["viewing"] = replace(st.session_state["viewing"], jump=viewing.jump)


def show_first_citation(conversation: uuid.UUID | None) -> None:
    """Highlight the first citation of the latest answer that has one, unless something is highlighted."""
    if conversation is None or st.session_state.get("viewing"):
        return
    try:
        turns = session.engine().chats.messages(conversation, last=MAX_TURNS_SEARCHED)
    except errors.NotFoundError:  # the transcript reports it
        return
    for turn in reversed(turns):
        places = marks(turn.response) if turn.response else []
        if places:
            with contextlib.suppress(errors.NotFoundError):
                if session.engine().documents.get(places[0][0]).deleted_at is None:
                    show_citation(turn, 0)
                    return


def show_mark(document_id: uuid.UUID, marks: tuple[Mark, ...], number: int) -> None:
    """Highlight one of the marks of a document that no answer cites, such as those of its key facts."""
    before: Viewing | None = st.session_state.get("viewing")
    jump = before.jump + 1 if before else 1
    numbers = tuple(range(len(marks)))
    st.session_state["viewing"] = Viewing(document_id, marks=marks, numbers=numbers, active=number, jump=jump)
    st.rerun("viewer")


def show_later_place(place: types.LaterPlace) -> None:
    """Go to the place of an older version's quote in the current version."""
    show_mark(place.document_id, (Mark.of_later(place),), 0)


@st.fragment(key="viewer")
def viewer(first: uuid.UUID) -> None:
    """Show the document of the last clicked citation; at first the document `first`."""
    with error_boundary():
        if (place := requested_place()) and _show_place(place):
            return
        viewing: Viewing = st.session_state.get("viewing") or Viewing(first)
        try:
            document = session.engine().documents.get(viewing.document_id)
        except errors.NotFoundError as error:
            show_purged(viewing.name, error)
            return
        show_trash_note(document)
        if document.superseded_by is not None:
            st.caption(
                _(
                    "Version {version} of {name}, replaced by a later version.",
                    version=document.version,
                    name=escape(document.name),
                )
            )

        def pick(position: int, click: int) -> None:
            """Highlight another mark of the same answer that was clicked on the page."""
            latest: Viewing = st.session_state["viewing"]
            if position < len(latest.marks):
                st.session_state["viewing"] = replace(latest, active=position, jump=latest.jump + 1, click=click)

        show_pdf(
            document,
            viewing.marks,
            viewing.active,
            jump=viewing.jump,
            click=viewing.click,
            found=viewing.found,
            on_pick=pick,
        )


# --- links to places --------------------------------------------------------------------------------


class Place(NamedTuple):
    """Target of a link: a document, a page and optional boxes in points."""

    document_id: uuid.UUID
    page_number: int = 1
    rects: tuple[types.Rect, ...] = ()

    @classmethod
    def of(cls, address: Mapping[str, str]) -> "Place | None":
        """Parse an address; malformed parts are ignored, and None means no document is named."""
        try:
            document_id = uuid.UUID(address.get("document", ""))
        except ValueError:
            return None
        page = address.get("page", "")
        boxes = [box for box in address.get("place", "").split(";")[:MAX_BOXES] if re.fullmatch(types.BOX, box)]
        number = min(max(int(page), 1), MAX_PAGE) if re.fullmatch(r"[0-9]{1,10}", page) else 1
        return cls(document_id, number, tuple(types.Rect(*map(float, box.split(","))) for box in boxes))

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The boxes as a mark to highlight."""
        return (
            (Mark("", "", (types.Region(page_number=self.page_number, rects=self.rects),), ()),) if self.rects else ()
        )


def open_linked_collection() -> None:
    """Open the own or shared collection of the document in the address."""
    place = requested_place()
    if place is None:
        return
    try:
        reached = session.own_engine().for_document(place.document_id)
        document = reached.documents.get(place.document_id)
    except errors.NotFoundError:
        return
    st.session_state[session.COLLECTION] = session.collection_of(document.index_id)


def requested_place() -> Place | None:
    """Return the place in the address, until something else is shown."""
    return None if st.session_state.get("viewing") else Place.of(st.query_params.to_dict())


def _show_place(place: Place) -> bool:
    """Show the place, or say that its document was deleted; return False if the address may be wrong."""
    try:
        document: types.Document = session.engine().documents.get(place.document_id)
    except errors.PurgedError as error:
        show_purged("", error)
        return True
    except errors.NotFoundError:
        st.caption(_(":material/link_off: The document of this link was deleted or is not shared with you."))
        return False
    show_trash_note(document)
    active = 0 if place.marks else None
    show_pdf(document, place.marks, active, page_number=place.page_number)
    return True

"""Links to a place in a document: `/?document=…&page=12&place=x0,y0,x1,y1;…`."""

import re
import uuid
from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from rag import errors, types
from rag.ui import session
from rag.ui.language import _
from rag.ui.viewer.deleted_documents import show_purged, show_trash_note
from rag.ui.viewer.pdf_viewer import Mark, show_pdf

MAX_BOXES = 20
MAX_PAGE = 2**31 - 1


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


def show_place(place: Place) -> bool:
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

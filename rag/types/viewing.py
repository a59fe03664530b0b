"""What readers have of a document beside its pages: an outline, what is found in it, and their own marks."""

import datetime as dt
import uuid
from typing import Annotated

import pydantic

from rag.types.base import STORABLE, Input, Model
from rag.types.text import Rect, Region

_Note = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, max_length=4000, pattern=STORABLE)]


class OutlineEntry(Model):
    """A heading to go to: its depth from 1, its page, and how far down it stands there, in points."""

    level: int
    title: str
    page_number: int
    y: float


class PageCount(Model):
    """How often something stands on a page."""

    page_number: int
    count: int


class Annotation(Model):
    """A place in a document that a user has marked, the words there, and the user's note, which may be empty."""

    id: uuid.UUID
    document_id: uuid.UUID
    regions: tuple[Region, ...]
    quote: str
    note: str
    created_at: dt.datetime


class MarkedRegion(Model):
    """Boxes on one page, in points as displayed, from its top left corner."""

    page_number: int = pydantic.Field(ge=1, le=2**31 - 1)
    rects: tuple[Rect, ...] = pydantic.Field(min_length=1, max_length=500)

    @pydantic.field_validator("rects")
    @classmethod
    def _are_boxes(cls, rects: tuple[Rect, ...]) -> tuple[Rect, ...]:
        if not all(-1e5 < side < 1e5 for rect in rects for side in rect):
            raise ValueError("a box has sides that are no places on a page")
        return rects


class AnnotationRequest(Input):
    """A place to mark, page by page, the words there, and a note."""

    regions: tuple[MarkedRegion, ...] = pydantic.Field(min_length=1, max_length=20)
    quote: Annotated[str, pydantic.StringConstraints(max_length=8000, pattern=STORABLE)] = ""
    note: _Note = ""


class AnnotationEdit(Input):
    """Another note for a mark."""

    note: _Note

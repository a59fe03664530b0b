"""Outline entries, search counts by page, and annotations of a document."""

import datetime as dt
import uuid
from typing import Annotated

import pydantic

from rag.types.base import STORABLE, Input, Model
from rag.types.text import Rect, Region

_Note = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, max_length=4000, pattern=STORABLE)]


class OutlineEntry(Model):
    """A heading of the outline: its depth from 1, page, and vertical position in points."""

    level: int
    title: str
    page_number: int
    y: float


class PageCount(Model):
    """The number of search matches on a page."""

    page_number: int
    count: int


class Annotation(Model):
    """A user's annotation: a marked region, its text, and a note, which may be empty."""

    id: uuid.UUID
    document_id: uuid.UUID
    regions: tuple[Region, ...]
    quote: str
    note: str
    created_at: dt.datetime


class MarkedRegion(Model):
    """Marked boxes on one page, in points from its top left corner as displayed."""

    page_number: int = pydantic.Field(ge=1, le=2**31 - 1)
    rects: tuple[Rect, ...] = pydantic.Field(min_length=1, max_length=500)

    @pydantic.field_validator("rects")
    @classmethod
    def _are_boxes(cls, rects: tuple[Rect, ...]) -> tuple[Rect, ...]:
        if not all(-1e5 < side < 1e5 for rect in rects for side in rect):
            raise ValueError("a box has sides that are no places on a page")
        return rects


class AnnotationRequest(Input):
    """A request to annotate a region, with its text and a note."""

    regions: tuple[MarkedRegion, ...] = pydantic.Field(min_length=1, max_length=20)
    quote: Annotated[str, pydantic.StringConstraints(max_length=8000, pattern=STORABLE)] = ""
    note: _Note = ""


class AnnotationEdit(Input):
    """A new note for an annotation."""

    note: _Note

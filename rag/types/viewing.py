"""What is shown of a document: outline, matches, annotations, and differences between its versions."""

import datetime as dt
import uuid
from enum import StrEnum
from typing import Annotated, Literal

import pydantic

from rag.messages import N_
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


OnSameName = Literal["keep", "version", "ask"]
"""The handling of a file whose name exists already: a separate document, a new version, or ask the user."""


class Change(StrEnum):
    """The state of a text in a later version."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    REMOVED = "removed"


CHANGE_LABELS = {
    (Change.UNCHANGED, False): N_("v{version}; unchanged in v{latest}"),
    (Change.UNCHANGED, True): N_("v{version}; unchanged in v{latest} (page {page})"),
    (Change.CHANGED, False): N_("v{version}; changed in v{latest}"),
    (Change.CHANGED, True): N_("v{version}; changed in v{latest} (page {page})"),
    (Change.REMOVED, False): N_("v{version}; removed in v{latest}"),
}
"""Display texts by the state of a text and whether its new page is known."""


class LaterPlace(Model):
    """The state of a quote from an older `version` in the `latest_version`, whose id is `document_id`.

    `text`, `regions` and `page_number` are those of the latest version; None or empty if it was removed.
    """

    document_id: uuid.UUID
    version: int
    latest_version: int
    change: Change
    page_number: int | None = None
    text: str | None = None
    regions: tuple[Region, ...] = ()

    @property
    def label(self) -> str:
        """The display text: "v1; changed in v2 (page 12)"."""
        template = CHANGE_LABELS[self.change, bool(self.page_number)]
        return template.format(version=self.version, latest=self.latest_version, page=self.page_number)


class ParagraphText(Model):
    """A paragraph or table row and its position."""

    page_number: int
    text: str
    regions: tuple[Region, ...]


class ParagraphChange(Model):
    """A changed paragraph: `old` is None if it was added, `new` if it was removed."""

    kind: Literal["added", "removed", "changed"]
    old: ParagraphText | None = None
    new: ParagraphText | None = None


class VersionDiff(Model):
    """The differences between two versions, in the order of the new one; `unchanged` counts equal paragraphs."""

    old_id: uuid.UUID
    new_id: uuid.UUID
    old_version: int
    new_version: int
    changes: tuple[ParagraphChange, ...]
    unchanged: int

    def count(self, kind: Literal["added", "removed", "changed"]) -> int:
        """Return the number of paragraphs added, removed or changed."""
        return sum(change.kind == kind for change in self.changes)

"""Versions of a document: what became of what an older one says, and what is new in a later one."""

import uuid
from enum import StrEnum
from typing import Literal

from rag.types.base import Model
from rag.types.text import Region

OnSameName = Literal["keep", "version", "ask"]
"""What becomes of a file whose name a document has: a document of its own, its new version, or its sender is asked."""


class Change(StrEnum):
    """What became of a text in a later version."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    REMOVED = "removed"


class LaterPlace(Model):
    """What became of words of an older `version` in the `latest_version`, whose id is `document_id`.

    `text` and `regions` are what stands there now, and `page_number` is where; None and empty of what was removed.
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
        """As people read it: "v1; changed in v2 (page 12)"."""
        place = f" (page {self.page_number})" if self.page_number else ""
        return f"v{self.version}; {self.change.value} in v{self.latest_version}{place}"


class ParagraphText(Model):
    """A paragraph, or a row of a table, and where it stands."""

    page_number: int
    text: str
    regions: tuple[Region, ...]


class ParagraphChange(Model):
    """A paragraph that differs between two versions: `old` is None of what was added, `new` of what was removed."""

    kind: Literal["added", "removed", "changed"]
    old: ParagraphText | None = None
    new: ParagraphText | None = None


class VersionDiff(Model):
    """What differs between two versions, in the order of the new one; `unchanged` counts the paragraphs that do not."""

    old_id: uuid.UUID
    new_id: uuid.UUID
    old_version: int
    new_version: int
    changes: tuple[ParagraphChange, ...]
    unchanged: int

    def count(self, kind: Literal["added", "removed", "changed"]) -> int:
        """How many paragraphs were added, removed or changed."""
        return sum(change.kind == kind for change in self.changes)

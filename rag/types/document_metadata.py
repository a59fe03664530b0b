"""Editable document metadata, document queries and saved filters."""

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, Literal

import pydantic

from rag.types.base import IN_READING_ORDER, SEGMENT, Input, Model, visible_text
from rag.types.documents import DocumentStatus
from rag.types.search import MAX_TAGS, Filters
from rag.types.text import Subject

DocumentOrder = Literal[
    "added", "name", "title", "author", "dated", "tags", "kind", "version", "pages", "chunks", "size", "status"
]
"""The sort key of a document list; in the trash, "added" is the time of deletion."""


def _unique_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Remove tags that differ only in case, keeping the first."""
    return tuple({tag.casefold(): tag for tag in reversed(tags)}.values())[::-1]


Tag = Annotated[str, visible_text(64), IN_READING_ORDER]
Tags = Annotated[tuple[Tag, ...], pydantic.Field(max_length=MAX_TAGS), pydantic.AfterValidator(_unique_tags)]
FilterName = Annotated[str, visible_text(100, SEGMENT), IN_READING_ORDER]
_Name = Annotated[str, visible_text(255)]
_Text = Annotated[str, visible_text(500), IN_READING_ORDER]


class DocumentEdit(Input):
    """Changes to a document's metadata; omitted fields stay unchanged.

    A `title`, `author`, `dated` or `subject` of None restores what was read in the file. `tags` replaces all tags; tags
    keep their case but are compared without it.
    """

    name: _Name = pydantic.Field(default="", description="What the file is called. It keeps the ending it has.")
    title: _Text | None = pydantic.Field(default=None, description="Null: as the file has it.")
    author: _Text | None = pydantic.Field(default=None, description="Null: as the file has it.")
    dated: dt.date | None = pydantic.Field(default=None, description="The day it is of. Null: as the file has it.")
    subject: Subject | None = pydantic.Field(default=None, description="What it is about. Null: as it was learned.")
    tags: Tags = pydantic.Field(default=(), description="All that it has from now on.")
    disabled: bool = pydantic.Field(default=False, description="Kept, and left out of every search.")

    @property
    def given(self) -> frozenset[str]:
        """The names of the given fields."""
        return frozenset(self.model_fields_set)


class DocumentQuery(Model):
    """A query for documents of an index, or of its trash.

    `search` is matched in names, titles, authors and tags, ignoring case. `disabled` None includes disabled documents,
    True returns only these, False none.
    """

    search: str | None = None
    filters: Filters = Filters()
    status: DocumentStatus | None = None
    disabled: bool | None = None
    in_trash: bool = False


class TagCount(Model):
    """A tag and its number of documents outside the trash."""

    name: str
    documents: int


class SavedFilter(Model):
    """Search filters saved under a name."""

    name: str
    filters: Filters

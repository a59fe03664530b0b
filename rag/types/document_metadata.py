"""How an owner keeps documents in order: names, tags, and filters under a name."""

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, Literal

import pydantic

from rag.types.base import LINE, SEGMENT, Input, Model
from rag.types.documents import DocumentStatus
from rag.types.search import Filters

DocumentOrder = Literal[
    "added", "name", "title", "author", "dated", "tags", "kind", "version", "pages", "chunks", "size", "status"
]
"""What a list of documents is ordered by; in the trash, "added" is when it came there."""

MOST_TAGS = 50
"""Of one document."""


def _each_once(tags: Sequence[str]) -> tuple[str, ...]:
    """Of tags that differ only in upper and lower case the first."""
    return tuple({tag.casefold(): tag for tag in reversed(tags)}.values())[::-1]


Tag = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=64, pattern=LINE)]
Tags = Annotated[tuple[Tag, ...], pydantic.Field(max_length=MOST_TAGS), pydantic.AfterValidator(_each_once)]
FilterName = Annotated[
    str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=SEGMENT)
]
_Name = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=255, pattern=LINE)]
_Text = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=LINE)]


class DocumentEdit(Input):
    """What its owner changes of a document. What is left out stays as it is.

    With `title`, `author` or `dated` None, what the file says of itself counts again. `tags` replace those there are.
    Tags keep their upper and lower case, and are the same without it.
    """

    name: _Name = pydantic.Field(default="", description="What the file is called. It keeps the ending it has.")
    title: _Text | None = pydantic.Field(default=None, description="Null: as the file has it.")
    author: _Text | None = pydantic.Field(default=None, description="Null: as the file has it.")
    dated: dt.date | None = pydantic.Field(default=None, description="The day it is of. Null: as the file has it.")
    tags: Tags = pydantic.Field(default=(), description="All that it has from now on.")
    disabled: bool = pydantic.Field(default=False, description="Kept, and left out of every search.")

    @property
    def given(self) -> frozenset[str]:
        """The names of the fields that were given."""
        return frozenset(self.model_fields_set)


class DocumentQuery(Model):
    """Which documents of an index are asked for: of its trash, or those that are not there.

    `search` is looked for in names and titles, in any case. Disabled ones are there, too, unless `disabled` is False;
    with True, only these.
    """

    search: str | None = None
    filters: Filters = Filters()
    status: DocumentStatus | None = None
    disabled: bool | None = None
    in_trash: bool = False


class TagCount(Model):
    """A tag, and how many documents have it; those in the trash do not count."""

    name: str
    documents: int


class SavedFilter(Model):
    """Filters under a name."""

    name: str
    filters: Filters

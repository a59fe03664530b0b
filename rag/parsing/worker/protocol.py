"""Encode and decode the messages of parsing processes: one JSON object per line."""

import json
from typing import Any

import pydantic

from rag import types
from rag.parsing.metadata import Metadata
from rag.parsing.pdf.pages import PageContent

SIZE_BYTES = 4
"""Bytes of a request's length prefix."""


class Message(pydantic.BaseModel):
    """One or more results of a parsing process; None are missing. The last message has the `metadata` or an `error`."""

    worker: int | None = None
    """The number of the process."""
    pages: int | None = None
    recognised: int | None = None
    page: PageContent | None = None
    parts: tuple[types.UnpackedPart, ...] | None = None
    picture_pages: tuple[int, ...] | None = None
    note: str | None = None
    completeness: types.Completeness | None = None
    metadata: Metadata | None = None
    error: tuple[str, str, dict[str, Any]] | None = None
    """Code, message and details."""


def dump(**values: Any) -> bytes:
    """Encode a message as a line; `values` are those of `Message`."""
    message = Message.model_construct(**values)
    return json.dumps(message.model_dump(mode="json", exclude_none=True)).encode() + b"\n"


def load(line: bytes) -> Message:
    """Decode a message."""
    return Message.model_validate(json.loads(line))

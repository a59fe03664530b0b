"""A mail as read from a file of any format."""

import datetime as dt
from typing import NamedTuple

from rag.parsing.html import source_text


class Body(NamedTuple):
    """A text of a mail."""

    text: str
    is_html: bool = False

    def paragraphs(self) -> list[str]:
        """Return the visible text."""
        return [part.text for part in source_text.read_html(self.text)] if self.is_html else [self.text]


class Attachment(NamedTuple):
    """A file in a mail. HTML may show it as a picture by its `content_id`."""

    name: str
    content: bytes
    mime_type: str = "application/octet-stream"
    content_id: str | None = None


class Message(NamedTuple):
    """A mail with its decoded `headers` in display order; `author` is the sender's name."""

    headers: tuple[tuple[str, str], ...]
    bodies: tuple[Body, ...]
    attachments: tuple[Attachment, ...]
    subject: str = ""
    author: str = ""
    dated: dt.datetime | None = None

"""A mail, whatever program saved it."""

import datetime as dt
from typing import NamedTuple


class Body(NamedTuple):
    """A text of a mail as it was sent."""

    text: str
    is_html: bool = False


class Attachment(NamedTuple):
    """A file in a mail. One with a `content_id` may be shown in the text by that name."""

    name: str
    content: bytes
    mime_type: str = "application/octet-stream"
    content_id: str | None = None


class Message(NamedTuple):
    """`headers` are those that a reader wants to see, decoded, in their order; `author` is the sender's name."""

    headers: tuple[tuple[str, str], ...]
    bodies: tuple[Body, ...]
    attachments: tuple[Attachment, ...]
    subject: str = ""
    author: str = ""
    dated: dt.datetime | None = None

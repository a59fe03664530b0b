"""What a file says of itself: title, author and the day it was made.

The day is that of the PDF's creation. A converted file has one only if its converter found it in the file: the day of
the conversion says nothing. That of the last change is left out, since programs set it that only copy a file.
"""

import datetime as dt
import re
from typing import Any, NamedTuple

MAX_AUTHOR_CHARS = 300
FIRST_YEAR = 1990
"""PDF is of 1993; earlier years are those in which clocks begin."""

_DATE = re.compile(r"\s*(?:D:)?(\d{4})(\d\d)(\d\d)")
"""ISO 32000-1, 7.9.4. What has no day is not of the first of a month for that."""
_NOBODY = re.compile(
    r"\W*(unknown|anonymous|nobody|(default |microsoft office |windows )?user|owner|(the )?author|admin(istrator)?|root"
    r"|n/?a|none|null|untitled|scanner|python-docx|.*@localhost)?\W*",
    re.IGNORECASE,
)
"""What programs write where nobody told them a name."""


class Metadata(NamedTuple):
    """What a file says of itself; None where it says nothing."""

    title: str | None = None
    author: str | None = None
    dated: dt.date | None = None


def of(document: Any) -> Metadata:
    """What the PDF `document` (a `pymupdf.Document`) says of itself."""
    said = document.metadata or {}
    title = said.get("title")
    return Metadata(
        title=title if isinstance(title, str) and title else None,
        author=author(said.get("author")),
        dated=day(said.get("creationDate")),
    )


def author(text: object) -> str | None:
    """The author that `text` names; None if it is none, or what programs write."""
    name = " ".join(str(text or "").replace("\x00", " ").split())[:MAX_AUTHOR_CHARS].strip()
    return None if _NOBODY.fullmatch(name) else name


def day(text: object) -> dt.date | None:
    """The day of a date in a PDF; None if there is none."""
    found = _DATE.match(str(text or ""))
    if not found:
        return None
    try:
        dated = dt.date(*map(int, found.groups()))
    except ValueError:
        return None
    return dated if dated.year >= FIRST_YEAR else None

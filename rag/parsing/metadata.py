"""Read title, author and creation date from a PDF's metadata.

Converted files have a date only if the converter found it in the file. The date of the last change is not used, since
programs that copy a file set it.
"""

import datetime as dt
import re
from typing import Any, NamedTuple

from rag import types

MAX_AUTHOR_CHARS = 300
FIRST_YEAR = 1990
"""PDF is of 1993; earlier years come from unset clocks."""

_DATE = re.compile(r"\s*(?:D:)?(\d{4})(\d\d)(\d\d)")
"""ISO 32000-1, 7.9.4; dates without a day are ignored."""
_NOBODY = re.compile(
    r"\W*(unknown|anonymous|nobody|(default |microsoft office |windows )?user|owner|(the )?author|admin(istrator)?|root"
    r"|n/?a|none|null|untitled|scanner|python-docx|.*@localhost)?\W*",
    re.IGNORECASE,
)
"""Placeholder names that programs write."""


class Metadata(NamedTuple):
    """A file's title, author and creation date; None where unknown."""

    title: str | None = None
    author: str | None = None
    dated: dt.date | None = None


def read_metadata(document: Any) -> Metadata:
    """Read the metadata of a `pymupdf.Document`."""
    entries = document.metadata or {}
    title = entries.get("title")
    return Metadata(
        title=title if isinstance(title, str) and title else None,
        author=parse_author(entries.get("author")),
        dated=parse_date(entries.get("creationDate")),
    )


def parse_author(text: object) -> str | None:
    """Return the author; None for placeholders."""
    words = types.without_direction_controls(str(text or "")).replace("\x00", " ").split()
    name = " ".join(words)[:MAX_AUTHOR_CHARS].strip()
    return None if _NOBODY.fullmatch(name) else name


def parse_date(text: object) -> dt.date | None:
    """Return the day of a PDF date; None if it is invalid."""
    found = _DATE.match(str(text or ""))
    if not found:
        return None
    try:
        dated = dt.date(*map(int, found.groups()))
    except ValueError:
        return None
    return dated if dated.year >= FIRST_YEAR else None

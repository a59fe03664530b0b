"""What office files and books say of themselves."""

import datetime as dt
import re
from typing import Any, NamedTuple

from rag.parsing.conversion import books
from rag.parsing.conversion.packages import Package, local

_TITLES = frozenset({"title"})
_AUTHORS = ("creator", "initial-creator")
_DATES = ("created", "creation-date", "date", "modified")
_NAMES = frozenset({*_TITLES, *_AUTHORS, *_DATES})


class Metadata(NamedTuple):
    """Title, author and the time at which a file was made; empty and None if it does not say."""

    title: str = ""
    author: str = ""
    created: dt.datetime | None = None

    def set_on(self, document: Any) -> None:
        """Makes it the metadata of the PDF `document`."""
        stamp = f"D:{self.created:%Y%m%d%H%M%S}Z" if self.created else ""
        document.set_metadata({"title": self.title, "author": self.author, "creationDate": stamp})


def read(package: Package) -> Metadata:
    """By whichever of the parts that DOCX and PPTX, ODF, and EPUB have for it."""
    for name in ("docProps/core.xml", "meta.xml"):
        if name in package.names:
            return _of(package.xml(name))
    if "META-INF/container.xml" in package.names:
        return _of(package.xml(books.package_part(package)))
    return Metadata()


def _of(root: Any) -> Metadata:
    said: dict[str, list[str]] = {}
    for element in root.iter():
        text = " ".join((element.text or "").split())
        if text and local(element) in _NAMES:
            said.setdefault(local(element), []).append(text)
    authors = next((said[name] for name in _AUTHORS if name in said), [])
    dates = [_time(text) for name in _DATES for text in said.get(name, ())]
    return Metadata(said.get("title", [""])[0], ", ".join(authors), next(filter(None, dates), None))


def _time(text: str) -> dt.datetime | None:
    if not re.match(r"\d{4}-\d\d-\d\d", text):
        return None
    try:
        time = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is None else time.astimezone(dt.UTC)

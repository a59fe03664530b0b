"""Read title, author and creation time of office files and epub."""

import datetime as dt
import re
from typing import Any, NamedTuple

from rag import errors
from rag.parsing.office import epub
from rag.parsing.office.package import Package, local

_AUTHORS = ("creator", "initial-creator")
_DATES = ("created", "creation-date", "date", "modified")


class Metadata(NamedTuple):
    """Title, author and creation time of a file; "" and None if missing."""

    title: str = ""
    author: str = ""
    created: dt.datetime | None = None

    def set_on(self, document: Any) -> None:
        """Set the metadata of the PDF `document`."""
        stamp = f"D:{self.created:%Y%m%d%H%M%S}Z" if self.created else ""
        made_by = {name: (document.metadata or {}).get(name) or "" for name in ("producer", "creator")}
        document.set_metadata({**made_by, "title": self.title, "author": self.author, "creationDate": stamp})


def read(package: Package) -> Metadata:
    """Read the metadata part of an Office Open XML, OpenDocument or EPUB package; a damaged one has none."""
    try:
        parts: list[str] = [name for name in ("docProps/core.xml", "meta.xml") if name in package.names]
        if not parts and epub.CONTAINER in package.names:
            parts = [epub.package_part(package)]
        root = package.xml(parts[0]) if parts else None
    except errors.UnreadableFileError:
        return Metadata()
    texts: dict[str, list[str]] = {}
    for element in root.iter() if root is not None else ():
        text = " ".join((element.text or "").split())
        if text:
            texts.setdefault(local(element), []).append(text)
    authors = next((texts[name] for name in _AUTHORS if name in texts), [])
    dates = [_time(text) for name in _DATES for text in texts.get(name, ())]
    return Metadata(texts.get("title", [""])[0], ", ".join(authors), next(filter(None, dates), None))


def _time(text: str) -> dt.datetime | None:
    if not re.match(r"\d{4}-\d\d-\d\d", text):
        return None
    try:
        time = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is None else time.astimezone(dt.UTC)

"""Format the list of the files in a mail or an archive, with what became of each."""

import html
from collections.abc import Sequence
from typing import NamedTuple

from rag import types
from rag.parsing.conversion import Conversion, SourceText
from rag.parsing.html.layout import lay_out


def to_pdf(
    name: str, noun: str, parts: Sequence[types.UnpackedPart], *, note: str = "", preformatted: str = ""
) -> Conversion:
    """Show the name of an archive, how many parts it has, what `noun` calls each, and their list.

    A `note`, and `preformatted` text that keeps its lines, stand before the list.
    """
    head = [count(len(parts), noun), *([note] if note else ())]
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in head)
    text = f"<pre>\n{html.escape(preformatted)}</pre>" if preformatted else ""
    document = lay_out(f"<h1>{html.escape(name)}</h1>{lines}{text}{listing(parts)}")
    document.set_metadata({"title": name})
    source = "\n".join([name, *head, preformatted, *listed(parts)])
    return Conversion(document, (SourceText("the list of files", source),))


def count(number: int, noun: str) -> str:
    """Format "1 file" or "2,000 files"."""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


class FileList(NamedTuple):
    """The list of the files in a document as HTML and as texts; both empty if there are none."""

    html: str = ""
    texts: tuple[SourceText, ...] = ()


def section(title: str, parts: Sequence[types.UnpackedPart]) -> FileList:
    """Return the list of files below a title."""
    if not parts:
        return FileList()
    text = "\n".join([title, *listed(parts)])
    return FileList(f"<h2>{html.escape(title)}</h2>{listing(parts)}", (SourceText("the list of files", text),))


def listing(parts: Sequence[types.UnpackedPart]) -> str:
    """Return the files as an HTML table: name, size, and whether they are read."""
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in (part.name, _size(part.size), _outcome(part)))
        + "</tr>"
        for part in parts
    )
    return f"<table><tr><th>File</th><th>Size</th><th>Read as</th></tr>{rows}</table>" if parts else ""


def listed(parts: Sequence[types.UnpackedPart]) -> list[str]:
    """Return the rows of `listing` as plain text."""
    return [f"{part.name} {_size(part.size)} {_outcome(part)}" for part in parts]


def _outcome(part: types.UnpackedPart) -> str:
    return f"left out: {part.reason}" if part.reason else "a document of its own"


def _size(size: int) -> str:
    if not size:
        return "–"
    return f"{size / 1024 / 1024:,.1f} MB" if size >= 100 * 1024 else f"{max(1, size // 1024):,} KB"

"""Format the list of the files in a mail or an archive, with what became of each."""

import html
from collections.abc import Sequence

from rag.types import UnpackedPart


def listing(parts: Sequence[UnpackedPart]) -> str:
    """Return the files as an HTML table: name, size, and whether they are read."""
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in (part.name, _size(part.size), _outcome(part)))
        + "</tr>"
        for part in parts
    )
    return f"<table><tr><th>File</th><th>Size</th><th>Read as</th></tr>{rows}</table>" if parts else ""


def listed(parts: Sequence[UnpackedPart]) -> list[str]:
    """Return the rows of `listing` as plain text."""
    return [f"{part.name} {_size(part.size)} {_outcome(part)}" for part in parts]


def _outcome(part: UnpackedPart) -> str:
    return f"left out: {part.reason}" if part.reason else "a document of its own"


def _size(size: int) -> str:
    if not size:
        return "–"
    return f"{size / 1024 / 1024:,.1f} MB" if size >= 100 * 1024 else f"{max(1, size // 1024):,} KB"

"""The result of converting a file to PDF."""

from collections.abc import Callable
from typing import Any, NamedTuple

OnPages = Callable[[int], None]
"""Callback that receives the (estimated) number of pages."""


class SourceText(NamedTuple):
    """A part of a file's text, and its place in words: "slide 3", "Balance!A7", "line 120"."""

    place: str
    text: str


class Conversion(NamedTuple):
    """The PDF made from a file (a `pymupdf.Document`), and the file's own text.

    `texts` are read from the file independently of the PDF. Whatever they have that the PDF lacks is reported as lost
    (`rag.parsing.completeness`). `note` tells the document's owner what else matters, such as unaccepted changes.
    """

    document: Any
    texts: tuple[SourceText, ...] = ()
    note: str | None = None

"""What every converter gives."""

from collections.abc import Callable
from typing import Any, NamedTuple

OnPages = Callable[[int], None]


def ignore_pages(_count: int) -> None:
    """Nobody wants to know."""


class SourceText(NamedTuple):
    """A part of a file's text as the file has it, and its place in words: "slide 3", "Balance!A7", "line 120"."""

    place: str
    text: str


class Conversion(NamedTuple):
    """The PDF that a file became (a `pymupdf.Document`), and the file's own text, read by another way than the PDF's.

    What of `texts` does not stand in the PDF is lost, and told (`rag.parsing.completeness`).
    """

    document: Any
    texts: tuple[SourceText, ...] = ()

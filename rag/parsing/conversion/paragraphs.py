"""What files of text say, paragraph by paragraph, and where in the file it stands."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rag.parsing.conversion.source import SourceText

HEADER, BODY, BOX, NOTE, COMMENT, FOOTER = "header", "body", "text box", "footnotes", "comments", "footer"
MARGINAL = frozenset({HEADER, COMMENT, FOOTER})
START = "start of the document"
PLACE_CHARACTERS = 60
"""So much of a heading names what stands below it."""


class Paragraph(NamedTuple):
    """A paragraph as the file has it, in one of the parts above; `heading` says that it names what follows."""

    part: str
    text: str
    heading: bool = False


def located(paragraphs: Iterable[Paragraph]) -> Iterator[SourceText]:
    """Each paragraph with its place in words: the heading that it stands below, or the part that it is of."""
    place = START
    for paragraph in paragraphs:
        if paragraph.heading:
            place = f"section “{' '.join(paragraph.text.split())[:PLACE_CHARACTERS]}”"
        yield SourceText(place if paragraph.part in {BODY, BOX} else paragraph.part, paragraph.text)


def once(paragraphs: Iterable[Paragraph]) -> list[Paragraph]:
    """The paragraphs, those of headers and footers, which each section repeats, once each."""
    seen: set[Paragraph] = set()
    kept = []
    for paragraph in paragraphs:
        if paragraph.part not in {HEADER, FOOTER} or paragraph not in seen:
            kept.append(paragraph)
        seen.add(paragraph)
    return kept


def left_out(paragraphs: Iterable[Paragraph], converted: str, *, never: frozenset[str] = MARGINAL) -> list[Paragraph]:
    """Those of `paragraphs` that the text `converted` lacks, each text once.

    `never` are the parts that the converter does not take, wherever the same words stand.
    """
    kept = bare(converted)
    lost: dict[str, Paragraph] = {}
    for paragraph in paragraphs:
        text = bare(paragraph.text)
        if paragraph.part in never or (text and text not in kept):
            lost.setdefault(text, paragraph)
    return list(lost.values())


def bare(text: str) -> str:
    """Text without white space and marks that have no width, its ligatures and full-width forms taken apart."""
    return re.sub(r"[\s\u00ad\u200b-\u200f\u2060\ufeff]+", "", unicodedata.normalize("NFKC", text))

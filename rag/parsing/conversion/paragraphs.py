"""What files of text say, paragraph by paragraph, and where in the file it stands."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from rag.parsing.conversion.source import SourceText

HEADER, BODY, BOX, NOTE, COMMENT, FOOTER = "header", "body", "text box", "footnotes", "comments", "footer"
START = "start of the document"
PLACE_CHARACTERS = 60
"""So much of a heading names what stands below it."""


class Paragraph(NamedTuple):
    """A paragraph as the file has it, in one of the parts above; `heading` says that it names what follows."""

    part: str
    text: str
    heading: bool = False


def sections(paragraphs: Iterable[Paragraph]) -> tuple[SourceText, ...]:
    """The text by section: what stands below each heading, and each of the other parts."""
    return tuple(
        SourceText(place, "\n".join(paragraph.text for _, paragraph in group))
        for place, group in groupby(_placed(paragraphs), key=lambda placed: placed[0])
    )


def _placed(paragraphs: Iterable[Paragraph]) -> Iterator[tuple[str, Paragraph]]:
    place = START
    for paragraph in paragraphs:
        if paragraph.heading:
            place = f"section “{' '.join(paragraph.text.split())[:PLACE_CHARACTERS]}”"
        yield (place if paragraph.part in {BODY, BOX} else paragraph.part), paragraph


def left_out(paragraphs: Iterable[Paragraph], converted: str) -> list[Paragraph]:
    """Those of `paragraphs` whose text does not stand in the text `converted`, each text once."""
    kept = bare(converted)
    lost = {bare(paragraph.text): paragraph for paragraph in reversed(list(paragraphs))}
    return [paragraph for text, paragraph in reversed(lost.items()) if text and text not in kept]


def bare(text: str) -> str:
    """Text without white space and marks that have no width, its ligatures and full-width forms taken apart."""
    return re.sub(r"[\s\u00ad\u200b-\u200f\u2060\ufeff]+", "", unicodedata.normalize("NFKC", text))

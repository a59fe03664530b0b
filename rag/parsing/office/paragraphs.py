"""What a document says, read without Pandoc: its paragraphs with their places, and which a converter left out."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rag.messages import N_
from rag.parsing.conversion import SourceText
from rag.parsing.office.charts import Chart
from rag.parsing.office.embedded import EmbeddedFile
from rag.parsing.office.package import Metadata

HEADER, BODY, BOX, NOTE, COMMENT, FOOTER = "header", "body", "text box", "footnotes", "comments", "footer"
HIDDEN = "hidden text"
MARGINAL = frozenset({HEADER, COMMENT, FOOTER, HIDDEN})
START = "start of the document"
PLACE_CHARACTERS = 60
"""Longer headings are cut in the names of places."""


class Paragraph(NamedTuple):
    """A paragraph in one of the parts above, such as BODY; `heading` tells whether it is a heading."""

    part: str
    text: str
    heading: bool = False


def located(paragraphs: Iterable[Paragraph]) -> Iterator[SourceText]:
    """Yield each paragraph with its place in words: the heading above it, or its part."""
    place = START
    for paragraph in paragraphs:
        if paragraph.heading:
            place = N_("section “{title}”").format(title=" ".join(paragraph.text.split())[:PLACE_CHARACTERS])
        yield SourceText(place if paragraph.part in {BODY, BOX} else paragraph.part, paragraph.text)


def once(paragraphs: Iterable[Paragraph]) -> list[Paragraph]:
    """Remove repeated headers and footers, which each section has again."""
    seen: set[Paragraph] = set()
    kept = []
    for paragraph in paragraphs:
        if paragraph.part not in {HEADER, FOOTER} or paragraph not in seen:
            kept.append(paragraph)
        seen.add(paragraph)
    return kept


def left_out(paragraphs: Iterable[Paragraph], converted: str, *, never: frozenset[str] = MARGINAL) -> list[Paragraph]:
    """Return the `paragraphs` that the text `converted` lacks, each text once.

    `never` are parts that the converter always leaves out, even if the same words occur elsewhere.
    """
    kept = bare(converted)
    lost: dict[str, Paragraph] = {}
    for paragraph in paragraphs:
        text = bare(paragraph.text)
        if paragraph.part in never or (text and text not in kept):
            lost.setdefault(text, paragraph)
    return list(lost.values())


def bare(text: str) -> str:
    """Normalize text for comparison: NFKC, without white space and zero width characters."""
    return re.sub(r"[\s\u00ad\u200b-\u200f\u2060\ufeff]+", "", unicodedata.normalize("NFKC", text))


class Changes(NamedTuple):
    """The numbers of unaccepted changes; moved text is deleted at one place and inserted at another."""

    insertions: int = 0
    deletions: int = 0

    @property
    def note(self) -> str | None:
        """What the owner of the document is told, None if there are no changes."""
        if not any(self):
            return None
        return N_(
            "It has unaccepted changes (insertions: {insertions}, deletions: {deletions}). Inserted text is read as "
            "valid, deleted text as struck out."
        ).format(insertions=f"{self.insertions:,}", deletions=f"{self.deletions:,}")


class Contents(NamedTuple):
    """The paragraphs of a document, a note for its owner, the files and charts in it, and its title and author.

    `prepared` is the document as Pandoc understands it, with places for `imports`: other documents and their names.
    """

    paragraphs: list[Paragraph]
    note: str | None = None
    files: tuple[EmbeddedFile, ...] = ()
    prepared: bytes = b""
    imports: tuple[tuple[str, bytes], ...] = ()
    charts: tuple[Chart, ...] = ()
    about: Metadata = Metadata()

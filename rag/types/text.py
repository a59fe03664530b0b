"""Text and its position on a page: boxes, lines, blocks, passages and chunks."""

import datetime as dt
import math
import uuid
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import pydantic

from rag.types.base import Model


class Landmark(NamedTuple):
    """A page of a document by a name: "balance sheet", "table 4", "page 12"; `strength` says how surely, in 0..1."""

    name: str
    page_number: int
    strength: float


class PageText(NamedTuple):
    """A page as its words are searched: its whole text, and of this what says what the page is about."""

    text: str
    title: str


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int


class Rect(NamedTuple):
    """A box on a displayed page, in points: left, top, right, bottom."""

    x0: float
    y0: float
    x1: float
    y1: float

    def union(self, other: "Rect") -> "Rect":
        """The smallest box around both."""
        return Rect(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))


class Region(Model):
    """Boxes on one page. On that of a sheet, `cells` are those that they touch: “Balance!B14:D14”."""

    page_number: int
    rects: tuple[Rect, ...]
    cells: str | None = pydantic.Field(default=None, exclude_if=lambda cells: cells is None)


class Highlight(Model):
    """Words to mark on a page of a copy, and the note that whoever points at them reads."""

    region: Region
    note: str


class BlockKind(StrEnum):
    """What a block is to a reader."""

    TEXT = "text"
    HEADING = "heading"
    TABLE = "table"
    PICTURE = "picture"
    """Words in a picture, which were recognised."""


class Line(Model):
    """One line of text as it stands on a page. A table's row is one line, its cells parted by tabs.

    Of text that stands in several lines which nobody told apart, `number` is the first and `last_number` the last.
    """

    number: int
    last_number: int | None = pydantic.Field(default=None, exclude_if=lambda number: number is None)
    page_number: int
    bbox: Rect
    text: str
    kind: BlockKind = BlockKind.TEXT
    starts_block: bool = False

    @property
    def end(self) -> int:
        """The number of the last line that it is."""
        return self.last_number or self.number


class TextBlock(Model):
    """A paragraph, heading or table on one page.

    `lines` may be left out by callers who bring their own blocks; then `text` is split at line breaks, the last part
    is all lines that are left, and every line has the block's box. `level` is a heading's depth from 1.
    """

    page_number: int = pydantic.Field(ge=1)
    bbox: Rect
    line_start: int = pydantic.Field(ge=1)
    line_end: int = pydantic.Field(ge=1)
    text: str
    kind: BlockKind = BlockKind.TEXT
    level: int | None = None
    lines: tuple[Line, ...] = ()

    def to_lines(self) -> tuple[Line, ...]:
        """The block's lines, made from its text when it has none."""
        if self.lines:
            return self.lines
        texts = self.text.split("\n")
        numbers = [min(self.line_start + offset, self.line_end) for offset in range(len(texts))]
        more = self.line_end if numbers[-1] < self.line_end else None
        return tuple(
            Line(
                number=number,
                last_number=more if offset == len(texts) - 1 else None,
                page_number=self.page_number,
                bbox=self.bbox,
                text=text,
                kind=self.kind,
                starts_block=offset == 0,
            )
            for offset, (number, text) in enumerate(zip(numbers, texts, strict=True))
        )


class PageInfo(Model):
    """A page's size as displayed, in points, and the number printed on it, if the file names one."""

    number: int
    width: float
    height: float
    label: str | None = None
    error: str | None = None
    ocr: bool = False


class Missing(Model):
    """Text of a file that its rendition lacks: the place in the file in words ("slide 3", "line 120"), and how much.

    `text` is how it begins.
    """

    place: str
    characters: int
    text: str


class WordError(Model):
    """Words that were glued together or a word that was split: the place, what was read, and what stands there."""

    place: str
    read: str
    expected: str


MAX_WORD_ERROR_SHARE = 0.001
"""Fewer words than this share may be glued or split without the document being called incomplete."""


class Completeness(Model):
    """How many characters the file's text has, and how many of them its rendition has; white space is not counted.

    `words` is how many words the rendition has, `glued_words` how many times words were read as one, `split_words` how
    many were read as several, and `word_errors` are examples.
    """

    source_characters: int
    kept_characters: int
    missing: tuple[Missing, ...] = ()
    words: int = 0
    glued_words: int = 0
    split_words: int = 0
    word_errors: tuple[WordError, ...] = ()

    @property
    def share(self) -> float:
        """What is kept, in 0..1; nothing lacks in a file without text."""
        return self.kept_characters / self.source_characters if self.source_characters else 1.0

    @property
    def is_complete(self) -> bool:
        """Whether every character is kept, and next to no words are glued or split."""
        return self.kept_characters == self.source_characters and not self.has_word_errors

    @property
    def has_word_errors(self) -> bool:
        """Whether more words are glued or split than can be neglected."""
        return self.glued_words + self.split_words > MAX_WORD_ERROR_SHARE * self.words

    @property
    def word_summary(self) -> str:
        """In words: "12 glued and 3 split of 3,400"."""
        return f"{self.glued_words:,} glued and {self.split_words:,} split of {self.words:,}"

    @property
    def summary(self) -> str:
        """In words: "12,345 of 12,345 (100 %)". A share below 100 % is never rounded up to it."""
        percent = f"{math.floor(self.share * 1000) / 10:g}"
        return f"{self.kept_characters:,} of {self.source_characters:,} ({percent} %)"


class Unpacked(Model):
    """What was taken out of the outermost of the containers that a file is in: so many files, their bytes together.

    `depth` is in how many containers the file is.
    """

    depth: int = 0
    files: int = 0
    size: int = 0


class UnpackedPart(Model):
    """A file that was in another one, by its path in there, and its size in bytes.

    `file` has its content, on this machine and for as long as the folder of parts is there; None: it was left out, and
    `reason` says why.
    """

    name: str
    size: int
    file: Path | None = None
    reason: str | None = None


class ParsedDocument(Model):
    """What parsing makes of a file: the pages and blocks of its rendition in reading order.

    `author` and `dated` are what the file says of itself. `completeness` is None if it was not measured. `parts` are
    the files in it, if it is a mail or an archive. `picture_pages` have text of their own and pictures whose words are
    still to be read; `note` is for the owner.
    """

    title: str | None
    pages: tuple[PageInfo, ...]
    blocks: tuple[TextBlock, ...]
    author: str | None = None
    dated: dt.date | None = None
    completeness: Completeness | None = None
    parts: tuple[UnpackedPart, ...] = ()
    picture_pages: tuple[int, ...] = ()
    note: str | None = None

    @property
    def line_count(self) -> int:
        """Lines in the whole document."""
        return self.blocks[-1].line_end if self.blocks else 0


def lines_text(lines: Sequence[Line]) -> str:
    """The text of `lines`: a blank line before each new block, a line break before each other line."""
    parts = [part for line in lines for part in ("\n\n" if line.starts_block else "\n", line.text)]
    return "".join(parts[1:])


def are_in_picture(lines: Sequence[Line]) -> bool:
    """Whether any of `lines` is words that were recognised in a picture."""
    return any(line.kind is BlockKind.PICTURE for line in lines)


def pages_by_share(lines: Sequence[Line]) -> list[int]:
    """The pages of `lines`, the one with most of their characters first."""
    characters: Counter[int] = Counter()
    for line in lines:
        characters[line.page_number] += len(line.text)
    return sorted(characters, key=lambda page: (-characters[page], page))


class Passage(Model):
    """Consecutive lines of one document. Text, pages, boxes and line numbers all derive from the lines."""

    document_id: uuid.UUID
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The characters as they stand in the document."""
        return lines_text(self.lines)

    @property
    def pages(self) -> tuple[int, ...]:
        """Numbers of the pages it stands on, ascending."""
        return tuple(sorted({line.page_number for line in self.lines}))

    @property
    def page_number(self) -> int:
        """The page it begins on."""
        return self.lines[0].page_number

    @property
    def main_page(self) -> int:
        """The page with most of its characters, the first of several."""
        return pages_by_share(self.lines)[0]

    @property
    def line_start(self) -> int:
        """First line, counted through the document."""
        return self.lines[0].number

    @property
    def line_end(self) -> int:
        """Last line, counted through the document."""
        return self.lines[-1].end

    @property
    def bbox(self) -> Rect:
        """The box around its part on its first page."""
        box, *rest = [line.bbox for line in self.lines if line.page_number == self.page_number]
        for other in rest:
            box = box.union(other)
        return box

    @property
    def regions(self) -> tuple[Region, ...]:
        """The boxes of its lines, page by page."""
        return tuple(
            Region(page_number=page, rects=tuple(line.bbox for line in self.lines if line.page_number == page))
            for page in self.pages
        )

    def lines_of(self, start: int, end: int) -> tuple[Line, ...]:
        """The lines that `text[start:end]` touches."""
        touched: list[Line] = []
        position = 0
        for index, line in enumerate(self.lines):
            position += (2 if line.starts_block else 1) if index else 0
            if position < end and start < position + len(line.text):
                touched.append(line)
            position += len(line.text)
        return tuple(touched)

    def regions_of(self, start: int, end: int) -> tuple[Region, ...]:
        """The boxes of the lines that `text[start:end]` touches, each as a whole, page by page."""
        return Passage(document_id=self.document_id, lines=self.lines_of(start, end)).regions


class Chunk(Passage):
    """What is embedded and found.

    `context` is the header (title, section path, a table's header row) that the embedder and the lexical index see
    before the text; it is not part of the text.
    """

    id: uuid.UUID
    ordinal: int = pydantic.Field(ge=0)
    section: str | None = None
    context: str = ""


def page_name(number: int, label: str | None = None, count: int = 0) -> str:
    """A page as people find it: "page 54", or where another number is printed on it "p. 53 (page 54 of 203)".

    The label of a sheet's page, "Balance!A1:H40", is no number: its cells are named beside.
    """
    if label is None or label == str(number) or "!" in label:
        return f"page {number}"
    return f"p. {label} (page {number} of {count})" if count else f"p. {label} (page {number})"

"""Text and its position on a page: boxes, lines, blocks, passages and chunks, and which raised characters are marks."""

import datetime as dt
import math
import re
import unicodedata
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import pydantic

from rag.messages import N_
from rag.types.base import IN_READING_ORDER, Model


class Landmark(NamedTuple):
    """A named page of a document: "balance sheet", "table 4", "page 12"; `strength` is the confidence, in 0..1."""

    name: str
    page_number: int
    strength: float


class PageText(NamedTuple):
    """The searchable text of a page: its whole text, and the part that serves as its title."""

    text: str
    title: str


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text."""

    start: int
    end: int


class SpanScores(NamedTuple):
    """How likely a text answers a question, in 0..1, and the logits of some of its spans less the one of the best."""

    score: float
    spans: Sequence[float]


class Rect(NamedTuple):
    """A box on a displayed page, in points: left, top, right, bottom."""

    x0: float
    y0: float
    x1: float
    y1: float

    def union(self, other: "Rect") -> "Rect":
        """Return the smallest box around both."""
        return Rect(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    def contains_center(self, other: "Rect", tolerance: float = 0.0) -> bool:
        """Whether the center of `other` is inside, or outside by at most `tolerance` points."""
        x, y = (other.x0 + other.x1) / 2, (other.y0 + other.y1) / 2
        return self.x0 - tolerance <= x <= self.x1 + tolerance and self.y0 - tolerance <= y <= self.y1 + tolerance

    def is_level_with(self, other: "Rect") -> bool:
        """Whether the two share at least half the height of the lower one."""
        return 2 * (min(self.y1, other.y1) - max(self.y0, other.y0)) >= min(self.y1 - self.y0, other.y1 - other.y0)


class Region(Model):
    """Boxes on one page; on a sheet `cells` are the cells they touch: “Balance!B14:D14”."""

    page_number: int
    rects: tuple[Rect, ...]
    cells: str | None = pydantic.Field(default=None, exclude_if=lambda cells: cells is None)


class Highlight(Model):
    """A highlight in a copy of a document, with a pop-up note."""

    region: Region
    note: str


class BlockKind(StrEnum):
    """What a piece of text is. No block, line or chunk mixes the kinds `SET_APART` with others."""

    TEXT = "text"
    HEADING = "heading"
    TABLE = "table"
    PICTURE = "picture"
    """Words recognised in a picture."""
    NOTE = "note"
    """A comment on the page, with its author if known."""
    STRUCK = "struck"
    """Words that are struck out."""
    HIDDEN = "hidden"
    """Words in the file that nobody sees on the page."""


SET_APART = frozenset({BlockKind.PICTURE, BlockKind.NOTE, BlockKind.STRUCK, BlockKind.HIDDEN})
"""Kinds of text beside the running text of a page."""

NO_EVIDENCE = frozenset({BlockKind.STRUCK, BlockKind.HIDDEN})
"""Kinds of text that are shown with a label, and prove nothing."""

EVIDENCE = frozenset(BlockKind) - NO_EVIDENCE

PAGE_TEXT = EVIDENCE - {BlockKind.NOTE}
"""Kinds of text that the page itself says."""

_LABELS = {
    BlockKind.PICTURE: N_("recognised in a picture"),
    BlockKind.NOTE: N_("comment"),
    BlockKind.STRUCK: N_("struck out"),
    BlockKind.HIDDEN: N_("not visible on the page"),
}


class TableCell(NamedTuple):
    """The columns that a cell of a table covers, numbered from 0 over the whole table, and what its column heads say.

    Heads above one another are joined: "H2 2024 · North". Cells of head rows have no head of their own.
    """

    first: int
    last: int
    head: str = ""


class TableRow(Model):
    """What a row of a table means: one cell for each tab-separated field of its line.

    `section` names the rows without figures that it stands under ("Assets · Current assets"), `caption` is what the
    table says above its columns, mostly its unit; what stands above the labels is the head of their cells. Heads,
    section and caption go on over pages.
    """

    cells: tuple[TableCell, ...]
    is_head: bool = pydantic.Field(default=False, exclude_if=lambda is_head: not is_head)
    section: str = pydantic.Field(default="", exclude_if=lambda section: not section)
    caption: str = pydantic.Field(default="", exclude_if=lambda caption: not caption)


class Line(Model):
    """One line of text on a page. A table row is one line with tab-separated cells, which `row` explains if known.

    If several lines could not be told apart, `number` is the first and `last_number` the last. `is_bold` is known of
    text in PDFs only; that of headings is not.
    """

    number: int
    last_number: int | None = pydantic.Field(default=None, exclude_if=lambda number: number is None)
    page_number: int
    bbox: Rect
    text: str
    kind: BlockKind = BlockKind.TEXT
    starts_block: bool = False
    is_bold: bool = pydantic.Field(default=False, exclude_if=lambda is_bold: not is_bold)
    row: TableRow | None = pydantic.Field(default=None, exclude_if=lambda row: row is None)

    @property
    def end(self) -> int:
        """The number of the last line."""
        return self.last_number or self.number


class TextBlock(Model):
    """A paragraph, heading or table on one page.

    Callers may omit `lines`; then `text` is split at line breaks, the last part takes the remaining line numbers, and
    every line gets the block's box. `level` is the depth of a heading from 1.
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
        """Return the block's lines, derived from its text if it has none."""
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
    """The displayed size of a page in points, and its printed page number, if known."""

    number: int
    width: float
    height: float
    label: str | None = None
    error: str | None = None
    ocr: bool = False


class Missing(Model):
    """Text of a file missing in its rendition: its place ("slide 3", "line 120"), length and beginning (`text`)."""

    place: str
    characters: int
    text: str


RemarkKind = Literal["hidden", "struck"]


class Remark(Model):
    """How many characters of a document are hidden or struck out, and the pages that have them, the first fifty."""

    kind: RemarkKind
    characters: int
    pages: tuple[int, ...]

    @property
    def summary(self) -> str:
        """In words: "12 characters that are struck out on pages 3, 4"."""
        what = "not visible" if self.kind == "hidden" else "struck out"
        pages = f"page{'s' if len(self.pages) > 1 else ''} {', '.join(map(str, self.pages))}"
        return f"{self.characters:,} characters that are {what} on {pages}"


MAX_REMARK_PAGES = 50


MAX_NEGLIGIBLE_LOSS = 0.001
"""Up to this share of missing characters a document counts as complete; the loss is still reported."""


class Completeness(Model):
    """How truly a file's text was read, in characters without white space.

    Missing are also glyphs whose character no font tells, and what only another program read, with which
    `compared_pages` were compared. `remarks` count what was kept and is no evidence.
    """

    source_characters: int
    kept_characters: int
    missing: tuple[Missing, ...] = ()
    remarks: tuple[Remark, ...] = ()
    compared_pages: int = 0

    @property
    def share(self) -> float:
        """The share of characters kept, in 0..1; 1 for a file without text."""
        return self.kept_characters / self.source_characters if self.source_characters else 1.0

    @property
    def missing_characters(self) -> int:
        """The number of characters that were not kept."""
        return self.source_characters - self.kept_characters

    @property
    def is_complete(self) -> bool:
        """Whether missing characters, if any, are negligible."""
        return self.missing_characters <= MAX_NEGLIGIBLE_LOSS * self.source_characters

    @property
    def summaries(self) -> tuple[str, ...]:
        """What was not read as a person sees it, a line for each matter; nothing of a file that was read truly."""
        return (
            *([f"characters kept: {self.summary}"] if self.missing_characters else []),
            *(remark.summary for remark in self.remarks),
        )

    @property
    def summary(self) -> str:
        """In words: "12,345 of 12,345 (100 %)". A share below 100 % is never rounded up to it."""
        percent = f"{math.floor(self.share * 1000) / 10:g}"
        return N_("{kept} of {total} ({share} %)").format(
            kept=f"{self.kept_characters:,}", total=f"{self.source_characters:,}", share=percent
        )


class Unpacked(Model):
    """Number and total bytes of the files extracted from the outermost container so far.

    `depth` is the nesting depth.
    """

    depth: int = 0
    files: int = 0
    size: int = 0


class UnpackedPart(Model):
    """An extracted attachment: its path inside the container and its size in bytes.

    `file` is the path of its content in a temporary folder; None if it was left out, as `reason` explains.
    """

    name: str
    size: int
    file: Path | None = None
    reason: str | None = None


class Subject(Model):
    """Who or what a document is about: `names` in any form, its `kind` and the `period` that it reports on.

    `kind` is one of the packaged kinds of documents, such as "paper"; `period` is as written, "third quarter 2023".
    """

    names: tuple[str, ...] = ()
    kind: str | None = None
    period: str | None = None


class ParsedDocument(Model):
    """The result of parsing a file: the pages and blocks of its rendition in reading order.

    `author` and `dated` are the file's own metadata; `subject` is learned from its text. `completeness` is None if not
    measured. `parts` are the attachments of a mail or a PDF, or members of an archive. `picture_pages` have text and
    pictures that OCR has not read yet; `note` is for the owner.
    """

    title: Annotated[str | None, IN_READING_ORDER]
    pages: tuple[PageInfo, ...]
    blocks: tuple[TextBlock, ...]
    author: Annotated[str | None, IN_READING_ORDER] = None
    dated: dt.date | None = None
    subject: Subject | None = None
    completeness: Completeness | None = None
    parts: tuple[UnpackedPart, ...] = ()
    picture_pages: tuple[int, ...] = ()
    note: str | None = None

    @property
    def line_count(self) -> int:
        """The number of lines."""
        return self.blocks[-1].line_end if self.blocks else 0


def lines_text(lines: Sequence[Line]) -> str:
    """Join `lines`, with a blank line before each new block."""
    parts = [part for line in lines for part in ("\n\n" if line.starts_block else "\n", line.text)]
    return "".join(parts[1:])


def set_apart_labels(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return what a reader must be told of the kinds of `lines`: ("struck out",); () for ordinary text."""
    kinds = {line.kind for line in lines}
    return tuple(label for kind, label in _LABELS.items() if kind in kinds)


def pages_by_share(lines: Sequence[Line]) -> list[int]:
    """Return the page numbers of `lines`, the page with most characters first."""
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
        """The text of the lines."""
        return lines_text(self.lines)

    @property
    def pages(self) -> tuple[int, ...]:
        """The page numbers, ascending."""
        return tuple(sorted({line.page_number for line in self.lines}))

    @property
    def page_number(self) -> int:
        """The first page."""
        return self.lines[0].page_number

    @property
    def main_page(self) -> int:
        """The page with most characters, the first of equals."""
        return pages_by_share(self.lines)[0]

    @property
    def line_start(self) -> int:
        """The first line number."""
        return self.lines[0].number

    @property
    def line_end(self) -> int:
        """The last line number."""
        return self.lines[-1].end

    @property
    def bbox(self) -> Rect:
        """The bounding box on the first page."""
        box, *rest = [line.bbox for line in self.lines if line.page_number == self.page_number]
        for other in rest:
            box = box.union(other)
        return box

    @property
    def kinds(self) -> frozenset[BlockKind]:
        """The kinds of its lines."""
        return frozenset(line.kind for line in self.lines)

    @property
    def regions(self) -> tuple[Region, ...]:
        """The boxes of the lines, page by page."""
        return tuple(
            Region(page_number=page, rects=tuple(line.bbox for line in self.lines if line.page_number == page))
            for page in self.pages
        )

    def labelled_text(self, say: Callable[[str], str] = str) -> str:
        """The text on one line; what is set apart says so: "(struck out) 30 days"; `say` translates."""
        labels = ", ".join(map(say, set_apart_labels(self.lines)))
        return " ".join([*([f"({labels})"] if labels else []), *self.text.split()])

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


class Chunk(Passage):
    """A chunk: the unit that is embedded and searched.

    `context` (title, section path, a table's header row) is prepended for embedding and lexical search, but is not part
    of the text.
    """

    id: uuid.UUID
    ordinal: int = pydantic.Field(ge=0)
    section: str | None = None
    context: str = ""


def line_counts(chunks: Iterable[Chunk]) -> dict[BlockKind, int]:
    """Count the lines of chunks by kind; what two chunks share counts once."""
    lines = {(line.page_number, line.number, line.text): line.kind for chunk in chunks for line in chunk.lines}
    counts = Counter(lines.values())
    return {kind: counts[kind] for kind in BlockKind if counts[kind]}


def page_name(number: int, label: str | None = None, count: int = 0) -> str:
    """Format a page name: "page 54", or with another printed number "p. 53 (page 54 of 203)".

    The label of a sheet's page, "Balance!A1:H40", is ignored.
    """
    if label is None or label == str(number) or "!" in label:
        return N_("page {page}").format(page=number)
    return (
        N_("p. {label} (page {page} of {count})").format(label=label, page=number, count=count)
        if count
        else N_("p. {label} (page {page})").format(label=label, page=number)
    )


SUPERSCRIPTS = {
    character: unicodedata.normalize("NFKC", character)
    for character in map(chr, range(0xAA, 0x2100))
    if re.fullmatch("<super> [0-9A-F]+", unicodedata.decomposition(character))
}
"""The character on the line for each superscript that Unicode has."""

RAISED = str.maketrans({plain: raised for raised, plain in SUPERSCRIPTS.items()} | {"-": "⁻"})
"""Translates characters to superscripts; "a" and "o" to letters, not to the ordinal signs ª and º."""

_SUPERSCRIPT = f"[{''.join(set(RAISED.values()))}]"
_KEPT = rf"(?:(?<![^\W\d_])(?:[kcdmµnhG]?m|ft|in|yd|mi|s|g|kg|L|l)|(?<![\d.,])10){_SUPERSCRIPT}+"
_MARK = re.compile(rf"{_KEPT}|(?P<mark>{_SUPERSCRIPT}+)")


def without_raised_marks(text: str) -> str:
    """Replace raised marks by spaces: those of notes say nothing about the word or figure that they stand at.

    Powers of ten ("10⁶") and of units ("m²", "s⁻¹") stay.
    """
    return _MARK.sub(lambda match: " " * len(match[0]) if match["mark"] else match[0], text)

"""Sentences of passages and of answers, as spans of the text they stand in.

A passage's sentences are the smallest things that can be quoted. Line breaks inside a block are spaces, a
new block is a boundary, and each row of a table is a sentence of its own.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag.types import BlockKind, Line, Passage, Span

MAX_SENTENCE_CHARS = 600
"""Text without full stops (contents pages, labels of a drawing) is cut before it gets longer than this."""

MAX_CAPTION_CHARS = 200
"""A longer line above a table is text, not the names of its columns."""

ROW_NUMBER_SHARE = 0.4
"""A line of which at least this share of words are numbers, and at least two, is a row of a table without rules."""


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CLOSERS = r"[\"'”’»›)\]}）」』】〉》*_]*"
_END = re.compile(rf"(?<![.!?…؟۔])[.!?…؟۔]++{_CLOSERS}(?=\s)|[。！？｡．।॥]+{_CLOSERS}")
_BULLET = re.compile(r"[ \t]*(?:(?:[•‣◦▪▸●○■□–—*+\-·]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|#{1,6})(?=\s)[ \t]*)+")
_ENUMERATOR = re.compile(r"\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})\.$")
_NEXT_WORD = re.compile(r"[\s\"'“‘«(\[*_]*([^\W\d_]+|\S)")
_NUMERIC_WORD = re.compile(r"[($€£¥+\-–—−]*\d[\d.,]*[)%]*|[$€£¥%—–-]")

_AMOUNT = re.compile(r"[-($€£¥+–—−\s]*\d[\d.,\s]*[)%\s]*")
_YEAR = re.compile(r"(?:19|20)\d\d")

_NEVER_LAST = _word_set(
    "mr mrs ms dr prof messrs gen col sgt capt lt rev hon sen rep gov pres vs viz e.g i.e cf approx ca dept bzw z.b "
    "d.h u.a evtl ggf vgl mme mlle sra srta resp"
)
"""Abbreviations that a sentence practically never ends with."""

_SOMETIMES_LAST = _word_set(
    "fig figs eq eqs sec sect ch chap no nos nr vol vols pp p art arts para abs ziff tab app ed eds pág núm st mt ft "
    "inc ltd co corp plc llc bros jr sr etc al usw est jan feb mar apr jun jul aug sep sept oct nov dec ph.d"
)
"""Abbreviations after which only a common first word begins a sentence."""

_FIRST_WORDS = _word_set(
    "the a an this that these those it its he she they we i you his her their our in on at as if when while although "
    "however but and or for from with after before since there here such all some many most no not our both during "
    "der die das ein eine es er sie wir im in le la les un une il elle nous el los las una en por"
)
_MONTHS = _word_set("januar februar märz april mai juni juli august september oktober november dezember")


def split_sentences(text: str) -> list[Span]:
    """Sentences of running text; a line break counts as a space. Spans never begin or end with white space."""
    spans: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, start, match):
            spans.append(Span(start, match.end()))
            start = match.end()
    spans.append(Span(start, len(text)))
    return [span for span in (_trim(text, span) for span in spans) if span.start < span.end]


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match.group()[0]
    if mark not in ".!?…":
        return True
    following = _NEXT_WORD.match(text, match.end())
    if following is None:
        return True
    word = following.group(1)
    if word[0].islower():
        return False
    return mark != "." or not _is_abbreviation(text[start : match.start()], word)


def _is_abbreviation(before: str, following: str) -> bool:
    """Whether the full stop after `before` belongs to its last word. `following` begins with no lower-case letter."""
    if not before or before[-1].isspace():
        return False
    *earlier, word = before.rsplit(maxsplit=1)
    last = word.lstrip("\"'“‘«([").casefold()
    if not earlier and _ENUMERATOR.fullmatch(last + "."):
        return True
    if last in _NEVER_LAST:
        return True
    if last.isdigit():
        return len(last) <= 2 and following.casefold() in _MONTHS
    is_initial = len(last) == 1 and last.isalpha()
    is_acronym = re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", last) is not None
    return (is_initial or is_acronym or last in _SOMETIMES_LAST) and following.casefold() not in _FIRST_WORDS


def _trim(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


class Unit(NamedTuple):
    """A sentence, heading or table row of a passage. `header` is where the row's columns are named, if they are."""

    span: Span
    kind: BlockKind
    header: Span | None = None


def split_passage(passage: Passage) -> list[Unit]:
    """The passage's sentences, headings and table rows in order, as spans of `passage.text`."""
    units: list[Unit] = []
    for block in _blocks(passage):
        if block[0][1].kind is BlockKind.TABLE:
            units.extend(_rows(passage.text, block, units[-1] if units else None))
        else:
            units.extend(_sentences(passage.text, block))
    return units


_Placed = tuple[int, Line]


def _blocks(passage: Passage) -> Iterator[list[_Placed]]:
    """Lines with their offsets in the passage's text, block by block.

    A paragraph that a column or page break cut in two is one block: its first part ends in mid-sentence and
    the next begins with a small letter.
    """
    block: list[_Placed] = []
    offset = 0
    for index, line in enumerate(passage.lines):
        offset += (2 if line.starts_block else 1) if index else 0
        if block and (line.starts_block or line.kind is not block[-1][1].kind) and not _continues(block[-1][1], line):
            yield block
            block = []
        block.append((offset, line))
        offset += len(line.text)
    if block:
        yield block


def _continues(line: Line, following: Line) -> bool:
    before, after = line.text.rstrip(), following.text.lstrip()
    return (
        line.kind is following.kind is BlockKind.TEXT
        and bool(before and after)
        and after[0].islower()
        and before[-1] not in ".!?:;。！？"
    )


def _rows(text: str, block: list[_Placed], before: Unit | None) -> Iterator[Unit]:
    header = before.span if before and _is_caption(text[before.span.start : before.span.end]) else None
    for offset, line in block:
        span = _trim_line(offset, line)
        if span.start == span.end:
            continue
        if line is block[0][1] and _is_header(line.text):
            header = span
        yield Unit(span, BlockKind.TABLE, header if header != span else None)


def _is_header(row: str) -> bool:
    """A table's first row names its columns, unless it holds amounts already or the table lists names and values."""
    first, *names = row.split("\t")
    if not names or (len(names) == 1 and first.strip()):
        return False
    return not any(_AMOUNT.fullmatch(name.strip()) and not _YEAR.fullmatch(name.strip()) for name in names)


def _is_caption(text: str) -> bool:
    """A short line above a table that ends no sentence: names of columns that stand outside of its rules."""
    return len(text) <= MAX_CAPTION_CHARS and text[-1] not in ".!?;。！？"


def _trim_line(offset: int, line: Line) -> Span:
    trimmed = _trim(line.text, Span(0, len(line.text)))
    return Span(offset + trimmed.start, offset + trimmed.end)


def _sentences(text: str, block: list[_Placed]) -> Iterator[Unit]:
    kind = block[0][1].kind
    for start, end in _paragraphs(block):
        if kind is BlockKind.HEADING:
            yield Unit(Span(start, end), kind)
            continue
        for span in split_sentences(text[start:end]):
            for part in _bounded(text, Span(start + span.start, start + span.end)):
                yield Unit(part, kind)


def _paragraphs(block: list[_Placed]) -> Iterator[Span]:
    """Runs of lines of a block that may hold several sentences: list items and rows of numbers stand alone."""
    run: Span | None = None
    was_row = False
    for offset, line in block:
        span = _trim_line(offset, line)
        if span.start == span.end:
            continue
        is_row = _is_row(line.text)
        bullet = _BULLET.match(line.text)
        if run is not None and not (is_row or was_row or bullet):
            run = Span(run.start, span.end)
        else:
            if run is not None:
                yield run
            run = span
        was_row = is_row
    if run is not None:
        yield run


def _is_row(text: str) -> bool:
    words = text.split()
    numbers = sum(1 for word in words if _NUMERIC_WORD.fullmatch(word))
    return numbers >= 2 and numbers >= ROW_NUMBER_SHARE * len(words)


def _bounded(text: str, span: Span) -> Iterator[Span]:
    start = span.start
    while span.end - start > MAX_SENTENCE_CHARS:
        limit = start + MAX_SENTENCE_CHARS
        cut = max(text.rfind(mark, start + MAX_SENTENCE_CHARS // 2, limit) for mark in ("\n", " "))
        cut = cut + 1 if cut > start else limit
        yield _trim(text, Span(start, cut))
        start = cut
    last = _trim(text, Span(start, span.end))
    if last.start < last.end:
        yield last


def without_bullet(text: str, span: Span) -> Span:
    """`span` without the bullet, number or heading marks it begins with, unless nothing else is there."""
    bullet = _BULLET.match(text, span.start, span.end)
    if bullet is None or bullet.end() >= span.end:
        return span
    return Span(bullet.end(), span.end)


_HYPHEN_BREAK = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\s*\n(?=[^\W\d_A-Z])")


def flowing(text: str) -> str:
    """`text` as one line: words hyphenated at a line's end joined, cells of a row parted by a dot."""
    joined = _HYPHEN_BREAK.sub("", text)
    cells = [" ".join(cell.split()) for cell in joined.split("\t")]
    return " · ".join(cell for cell in cells if cell)

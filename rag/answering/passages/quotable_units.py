"""Split a passage into quotable units (sentences, headings, label–value pairs, table rows), and chunks into blocks.

A row knows its cells and their column names: a figure without its year says nothing.
"""

import re
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rag import types
from rag.answering.passages.table_text import (
    PERIOD,
    VALUE,
    column_names,
    is_caption,
    join_signs,
    label_and_figures,
    split_figures,
    split_row,
)
from rag.answering.text.sentences import CHECK_BOX, has_bullet, one_line, split_long, split_sentences, trimmed
from rag.ingestion.chunking import SECTION_SEPARATOR

MAX_HEADER_CHARS = 200
"""Maximum length of a header line above a table."""

HEADER_REACH = 6
"""Lines above a table that are searched for column names and units."""

ROW_NUMBER_SHARE = 0.4
"""Minimum share of numbers among the words of a row in a table without rules; at least two."""

LABEL_INDENT = 20.0
"""Maximum indent, in points, of the label column's name against a label."""
_CHECKED_ITEM = re.compile(rf"(?P<label>[^\W_](?:(?!{CHECK_BOX})[^\n\t])*?)(?<!\s)\s+(?P<box>{CHECK_BOX})\s*")
_DIALLED = re.compile(r"(?<![\d.,])0\d|:\s+\(?\+\d")
_PAIR = re.compile(r"\s*[A-Z][\w()/&.'’-]*(?:\s+[\w()/&.'’-]+){0,4}\s?:\s+\S")


Placed = tuple[int, types.Line]
"""The offset of a line in its passage, and the line."""


def placed_lines(passage: types.Passage) -> Iterator[Placed]:
    """Yield each line with its offset in the passage's text."""
    offset = 0
    for index, line in enumerate(passage.lines):
        offset += (2 if line.starts_block else 1) if index else 0
        yield offset, line
        offset += len(line.text)


def trim_line(offset: int, line: types.Line) -> types.Span:
    """Return the span of a line without surrounding white space."""
    span = trimmed(line.text, types.Span(0, len(line.text)))
    return types.Span(offset + span.start, offset + span.end)


class Cell(NamedTuple):
    """A cell of a row and its column name, "" if unknown."""

    span: types.Span
    column: str = ""


class Unit(NamedTuple):
    """A sentence, heading or table row of a passage, as spans of its text.

    Of a row, `header` is the line of column names, `caption` the line with its unit, `section` the row it stands under.
    `is_boilerplate` marks boilerplate.
    """

    span: types.Span
    kind: types.BlockKind
    header: types.Span | None = None
    caption: types.Span | None = None
    section: types.Span | None = None
    label: types.Span | None = None
    cells: tuple[Cell, ...] = ()
    is_boilerplate: bool = False

    @property
    def spans(self) -> tuple[types.Span, ...]:
        """The spans quoted with it, itself first."""
        return tuple(span for span in (self.span, self.header, self.caption) if span)


def split_passage(passage: types.Passage) -> list[Unit]:
    """Return the passage's sentences, headings and table rows in order."""
    text = passage.text
    boilerplate = boilerplate_lines(passage)
    units: list[Unit] = []
    lines_above: dict[types.BlockKind | None, list[Placed]] = {}  # text that is set apart stands above nothing else
    for block in _blocks(passage, boilerplate):
        kind = block[0][1].kind
        layer = kind if kind in types.SET_APART else None
        above = lines_above.get(layer, [])
        rows = kind is types.BlockKind.TABLE
        found = _Table(text, above, block).rows() if rows else _sentences(text, above, block, boilerplate)
        units += [unit._replace(is_boilerplate=unit.is_boilerplate or unit.span.start in boilerplate) for unit in found]
        lines_above[layer] = (above + block)[-HEADER_REACH:]
    return units


def _blocks(passage: types.Passage, boilerplate: Container[int]) -> Iterator[list[Placed]]:
    """Yield the lines of each block with their offsets.

    Paragraphs cut by a column or page break are joined: the first part ends in mid-sentence and the next begins in
    lower case. Nothing continues a line of `boilerplate`.
    """
    block: list[Placed] = []
    for offset, line in placed_lines(passage):
        if block and (line.starts_block or line.kind is not block[-1][1].kind):
            last = block[-1]
            if trim_line(*last).start in boilerplate or not continues(last[1], line):
                yield block
                block = []
        block.append((offset, line))
    if block:
        yield block


def continues(line: types.Line, following: types.Line) -> bool:
    """Return whether a line ends in the middle of a sentence that the following one goes on with."""
    before, after = line.text.rstrip(), following.text.lstrip()
    return (
        line.kind is following.kind is types.BlockKind.TEXT
        and bool(before and after)
        and after[0].islower()
        and before[-1] not in ".!?:;。！？"
    )


# --- tables -------------------------------------------------------------------------------------------


class _Table:
    """The lines of a table, and those above it that may name its columns."""

    def __init__(self, text: str, above: Sequence[Placed], block: Sequence[Placed]) -> None:
        self._text = text
        self._block = block
        self._above = [trim_line(*placed) for placed in above]
        self._left = {trim_line(*placed).start: placed[1].bbox.x0 for placed in (*above, *block)}
        self._header: types.Span | None = None
        self._in_header = False
        # short lines above the table that end no sentence: its title is right above it, its scale ("in millions") above
        lines = {span: text[slice(*span)] for span in self._above}
        titles = [span for span, line in lines.items() if 0 < len(line) <= MAX_HEADER_CHARS and line[-1] not in ".;"]
        self._caption = next((span for span in reversed(titles) if is_caption(lines[span])), None)
        self._section = next((span for span in self._above[-1:] if span in titles), None)
        self._has_figures = any(VALUE.fullmatch(field.strip()) for _, line in block for field in line.text.split("\t"))

    def rows(self) -> Iterator[Unit]:
        """Yield all non-empty lines, header lines included."""
        for offset, line in self._block:
            span = trim_line(offset, line)
            if span.start < span.end:
                yield from _checked_items(self._text, span) or [self._known_row(offset, line) or self._row(span)]

    def _known_row(self, offset: int, line: types.Line) -> Unit | None:
        """Return a row whose cells are known by the columns of the whole table; None without heads of its cells."""
        if line.row is None:
            return None
        span = trim_line(offset, line)
        if line.row.is_head:
            self._header = types.Span(self._header.start, span.end) if self._header and self._in_header else span
            self._in_header = True
            return Unit(span, types.BlockKind.TABLE)
        fields: list[tuple[types.TableCell, types.Span]] = []
        for cell, field in zip(line.row.cells, line.text.split("\t"), strict=True):
            if field.strip():
                fields.append((cell, trimmed(self._text, types.Span(offset, offset + len(field)))))
            offset += len(field) + 1
        has_label = fields[0][0].first == 0
        cells = fields[1:] if has_label else fields
        if not any(cell.head for cell, _ in cells):
            return None
        self._in_header = False
        return Unit(
            span,
            types.BlockKind.TABLE,
            header=self._header,
            caption=None if self._caption == self._header else self._caption,
            section=self._section,
            label=fields[0][1] if has_label else None,
            cells=tuple(Cell(part, cell.head) for cell, field in cells for part in split_figures(self._text, field)),
            is_boilerplate=is_contents_line(self._text[slice(*span)]),
        )

    def _row(self, span: types.Span) -> Unit:
        row = self._text[span.start : span.end]
        label, cells = split_row(self._text, span)
        named = self._text[slice(*label)] if label else None
        if self._names_columns(row, named, [self._text[c.start : c.end] for c in cells]):
            self._header = types.Span(self._header.start, span.end) if self._header and self._in_header else span
            self._in_header = True
            return Unit(span, types.BlockKind.TABLE, is_boilerplate=is_contents_line(row))
        if not cells:
            if is_caption(row):
                self._caption = span
            else:
                self._section = span
            return Unit(span, types.BlockKind.TABLE, label=label)
        self._in_header = False
        header = self._header or self._header_above(len(cells))
        columns = self._columns(header, self._whole_line(span), span, len(cells)) if header else ()
        is_named = header is not None and "\t" in self._text[slice(*header)] and not self._spanning_periods(header)
        if header and is_named and not columns and len(cells) % 2 == 0:  # each figure with its deviation, or its share
            columns = self._columns(header, "", span, len(cells) // 2)
            if columns:
                cells = [types.Span(a.start, b.end) for a, b in zip(cells[::2], cells[1::2], strict=True)]
        return Unit(
            span,
            types.BlockKind.TABLE,
            header=header,
            caption=None if self._caption == header else self._caption,
            section=self._section,
            label=label,
            cells=tuple(Cell(c, columns[i] if columns else "") for i, c in enumerate(cells)),
            is_boilerplate=is_contents_line(row),
        )

    def _columns(self, header: types.Span, row: str, span: types.Span, count: int) -> tuple[str, ...]:
        """Return the names of `count` columns, joined over several header lines; a period may span several columns."""
        is_above = self._left[header.start] < self._left[span.start] + LABEL_INDENT
        lines = self._whole_line(header).splitlines()  # with the empty field above the labels
        told = [column_names(line, row, count, begins_with_label=is_above) for line in lines]
        if periods := self._spanning_periods(header):
            below = [_fields(line) for line in lines[1:]]
            each, rest = divmod(count, len(periods))
            is_full = count >= max(map(len, below)) - 1  # it may name the labels, too
            if rest or not (is_full or each == 1):  # which period a cell is of cannot be told
                return ()
            told = [tuple(period for period in periods for _ in range(each))]
            told += [tuple(names[-count:]) for names in below if is_full and count <= len(names) <= count + 1]
        named = [names for names in told if names]
        return tuple(" ".join(dict.fromkeys(parts)) for parts in zip(*named, strict=True)) if named else ()

    def _whole_line(self, span: types.Span) -> str:
        """Return whole lines with empty first and last fields, which show cell positions."""
        start = self._text.rfind("\n", 0, span.start) + 1
        end = self._text.find("\n", span.end)
        return self._text[start : end if end >= 0 else len(self._text)]

    def _names_columns(self, row: str, label: str | None, cells: Sequence[str]) -> bool:
        """Return whether a row is a header: names or periods without figures."""
        if not cells:
            return label is None
        if any(re.fullmatch(CHECK_BOX, cell) for cell in cells):  # a form
            return False
        if any(VALUE.fullmatch(cell) and not PERIOD.search(cell) for cell in cells) or _is_sentence(row):
            return False
        has_periods = self._header is not None and PERIOD.search(self._text, *self._header) is not None
        if self._in_header and self._has_figures and not has_periods:  # else further lines of words are rows
            return not any(char.isdigit() for cell in cells if not PERIOD.search(cell) for char in cell)
        if all(PERIOD.search(cell) for cell in cells):
            is_period = PERIOD.fullmatch(cells[0].strip()) is not None
            return len(cells) > 1 or label is None or is_period or _is_alike(label, cells[0])
        header = self._whole_line(self._header) if self._header else ""
        # columns that each period of the header has
        is_below = self._in_header and _repeats(_fields(row), len(_periods(header.split("\n", 1)[0])))
        return is_below or (self._header is None and (self._has_figures or len(cells) > 1))

    def _spanning_periods(self, header: types.Span) -> list[str]:
        """Return the periods of a header that span several columns each, which its next lines name."""
        first, *others = self._whole_line(header).splitlines()
        periods = _periods(first)
        return periods if any(_repeats(_fields(line), len(periods)) for line in others) else []

    def _header_above(self, count: int) -> types.Span | None:
        """Return the nearest line above with `count` periods, or a short line right above the table."""
        for span in reversed(self._above):
            line = self._text[span.start : span.end]
            if len(line) > MAX_HEADER_CHARS:
                break
            if len(PERIOD.findall(line)) == count:
                return span
        if not self._above:
            return None
        last = self._above[-1]
        line = self._text[last.start : last.end]
        return last if 0 < len(line) <= MAX_HEADER_CHARS and line[-1] not in ".!?;:。！？" else None


def _fields(line: str) -> list[str]:
    return [field.strip() for field in line.split("\t") if field.strip()]


def _periods(line: str) -> list[str]:
    """Return the fields of a line that consists of at least two periods, and perhaps the name of the labels."""
    fields = _fields(line)
    periods = [field for field in fields if PERIOD.search(field)]
    return periods if len(periods) > 1 and periods in (fields, fields[1:]) else []


def _repeats(fields: list[str], times: int) -> bool:
    """Return whether the fields, but for the name of the labels, are the same ones several times."""
    if times < 2 or len(fields) < times:
        return False
    own = fields[len(fields) % times :] if len(fields) % times < 2 else []
    return bool(own) and own == own[: len(own) // times] * times


def _is_alike(label: str, cell: str) -> bool:
    """Return whether two periods differ in their numbers alone, and neither is the name of a row."""
    return PERIOD.search(label) is not None and re.sub(r"\d", "0", label) == re.sub(r"\d", "0", cell)


def _checked_items(text: str, row: types.Span) -> list[Unit]:
    """Return each item of a form's row with its check box behind it; none if the row has anything else."""
    items: list[Unit] = []
    position = row.start
    while item := _CHECKED_ITEM.match(text, position, row.end):
        label, box = types.Span(*item.span("label")), types.Span(*item.span("box"))
        items.append(Unit(types.Span(label.start, box.end), types.BlockKind.TABLE, label=label, cells=(Cell(box),)))
        position = item.end()
    return items if position == row.end else []


def _is_sentence(row: str) -> bool:
    return row.rstrip()[-1:] in ".;" and len(row) > MAX_HEADER_CHARS // 2


# --- page numbers, running headers and footers, tables of contents ---

CONTENTS_ROWS = 5
"""Minimum number of successive lines ending with rising page numbers in a table of contents."""

MAX_RUNNING_CHARS = 120
"""Maximum length of running headers and footers."""
LEADERS = re.compile(r"(?:(?<!\.)(?<!\.\s)(?:\.\s?){4,}|(?<!…)…{2,})\s*+(?:\d+\s*)?$")
_CONTENTS = re.compile(r"\s*(?:table of )?contents\s*", re.IGNORECASE)
"""A link that filings repeat on each page."""
_PAGE_AT_END = re.compile(r"(?=[^\t]*?[^\W\d_])[^\t]*\s(\d{1,4})\s*")
_LETTERS = re.compile(r"[^\W\d_]{2,}")


def is_contents_line(text: str) -> bool:
    """Return whether a line has the leaders of a table of contents, or no word at all."""
    return LEADERS.search(text) is not None or not (_LETTERS.search(text) or any(map(str.isdigit, text)))


def boilerplate_lines(passage: types.Passage) -> set[int]:
    """Return the offsets of boilerplate lines: page numbers, running headers and footers, tables of contents."""
    placed = [(trim_line(offset, line), line) for offset, line in placed_lines(passage) if line.text.strip()]
    offsets: set[int] = set()
    for page in passage.pages:
        lines = [(span, line) for span, line in placed if line.page_number == page and line.kind in types.PAGE_TEXT]
        for edge in (
            lines[:1],
            lines[1:2] if len(lines) > 2 else [],
            lines[-1:],
            lines[-2:-1] if len(lines) > 2 else [],
        ):
            offsets |= {
                span.start
                for span, line in edge
                if _CONTENTS.fullmatch(line.text) or (_is_running(line.text) and not _flows(lines, span))
            }
    numbered = [(span, _PAGE_AT_END.fullmatch(line.text)) for span, line in placed]
    run: list[tuple[types.Span, int]] = []
    for span, match in [*numbered, (types.Span(0, 0), None)]:
        number = int(match[1]) if match else None
        if number is not None and (not run or run[-1][1] <= number <= run[-1][1] + 60) and not _is_period(number):
            run.append((span, number))
            continue
        if len(run) >= CONTENTS_ROWS and run[-1][1] > run[0][1]:
            offsets |= {contents.start for contents, _ in run}
        run = [(span, number)] if number is not None and not _is_period(number) else []
    return offsets


def _flows(lines: Sequence[tuple[types.Span, types.Line]], span: types.Span) -> bool:
    """Return whether the line or the next begins in lower case, that is within a sentence."""
    index = next(index for index, (other, _) in enumerate(lines) if other == span)
    return any(line.text.lstrip()[0].islower() for _, line in lines[index : index + 2])


def _is_period(number: int) -> bool:
    return 1900 <= number < 2100


def _is_running(text: str) -> bool:
    """Return whether the first or last line of a page is a page number, or a header or footer with one."""
    text = text.strip()
    if len(text) > MAX_RUNNING_CHARS or text[-1:] in "!?:;":
        return False
    if re.fullmatch(r"\W*(?:page\s*)?[A-Z]{0,2}[-.]?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?\W*", text, re.IGNORECASE):
        return True
    return "|" in text or (
        not text.endswith(".") and re.search(r"(?:^\d{1,3}\s+\D|\D\s\d{1,3}$)", text) is not None and "\t" not in text
    )


# --- running text ---------------------------------------------------------------------------------------


def _sentences(
    text: str, above: Sequence[Placed], block: Sequence[Placed], boilerplate: Container[int]
) -> Iterator[Unit]:
    kind = block[0][1].kind
    for run, is_row in _paragraphs(block, boilerplate):
        if kind is types.BlockKind.HEADING:
            yield Unit(run, kind)
            continue
        if is_row and kind not in types.NO_EVIDENCE:
            yield _bare_row(text, [*above, *block], run)
            continue
        for span in split_sentences(text[run.start : run.end]):
            for part in split_long(text, types.Span(run.start + span.start, run.start + span.end)):
                yield Unit(part, kind, is_boilerplate=is_contents_line(text[part.start : part.end]))


def _bare_row(text: str, lines: Sequence[Placed], span: types.Span) -> Unit:
    """Return a row of a table without rules, found in running text."""
    label, figures = label_and_figures(text, span)
    cells = [cell for part in figures for cell in join_signs(text, split_figures(text, part))]
    above = [placed for placed in lines if placed[0] < span.start][-HEADER_REACH:]
    header = columns = None
    for offset, line in reversed(above):
        names = column_names(line.text, "", len(cells)) if len(line.text) <= MAX_HEADER_CHARS else ()
        if names and all(map(PERIOD.search, names)):
            header, columns = trim_line(offset, line), names
            break
    return Unit(
        span,
        types.BlockKind.TABLE if cells and label else types.BlockKind.TEXT,
        header=header if header != span else None,
        label=label if cells else None,
        cells=tuple(Cell(c, columns[i] if columns else "") for i, c in enumerate(cells)) if label else (),
        is_boilerplate=is_contents_line(text[span.start : span.end]),
    )


def _paragraphs(block: Sequence[Placed], boilerplate: Container[int]) -> Iterator[tuple[types.Span, bool]]:
    """Yield runs of lines that may hold several sentences, and whether they are a row.

    List items, pairs, rows of numbers and boilerplate stand alone.
    """
    run: types.Span | None = None
    was_row = was_pair = False
    for offset, line in block:
        span = trim_line(offset, line)
        if span.start == span.end:
            continue
        is_row = _is_row(line.text) or LEADERS.search(line.text) is not None or span.start in boilerplate
        is_pair = (run is None or was_pair) and _PAIR.match(line.text) is not None
        if run is not None and not (is_row or was_row or (is_pair and was_pair) or has_bullet(line.text)):
            run = types.Span(run.start, span.end)
        else:
            if run is not None:
                yield run, was_row
            run = span
        was_row, was_pair = is_row, is_pair
    if run is not None:
        yield run, was_row


_NUMERIC_WORD = re.compile(r"[($€£¥+\-–—−]*\d[\d.,]*[)%]*|[$€£¥%—–-]")


def _is_row(text: str) -> bool:
    if _DIALLED.search(text):
        return False
    words = [word for word in text.split() if word.strip(".…")]
    numbers = sum(1 for word in words if _NUMERIC_WORD.fullmatch(word))
    return numbers >= 2 and numbers >= ROW_NUMBER_SHARE * len(words)


class Block(NamedTuple):
    """A paragraph, heading or bullet of a chunk."""

    chunk: types.Chunk
    span: types.Span
    kind: types.BlockKind
    is_bold: bool
    is_bullet: bool
    number: int

    @property
    def text(self) -> str:
        """Its text on one line."""
        return one_line(self.chunk.text[slice(*self.span)])

    @property
    def is_heading(self) -> bool:
        """Whether it is a heading."""
        return self.kind is types.BlockKind.HEADING

    @property
    def path(self) -> tuple[str, ...]:
        """The headings of its chunk, the highest first."""
        return tuple((self.chunk.section or "").split(SECTION_SEPARATOR))


def read_blocks(chunks: Sequence[types.Chunk]) -> list[Block]:
    """Return the blocks of a document in reading order; of one in overlapping chunks the longest version."""
    longest: dict[int, Block] = {}
    for chunk in chunks:
        for block in _blocks_of(chunk):
            known = longest.get(block.number)
            if known is None or len(known.text) < len(block.text):
                longest[block.number] = block
    return [longest[number] for number in sorted(longest)]


def _blocks_of(chunk: types.Chunk) -> Iterator[Block]:
    """Yield the blocks of a chunk; a bullet begins one. What is left of a block that began before is skipped."""
    lines = [*placed_lines(types.Passage(document_id=chunk.document_id, lines=chunk.lines))]
    begins = []
    for index, (_, line) in enumerate(lines):
        before = lines[index - 1][1] if index else None
        is_apart = line.starts_block and (before is None or not continues(before, line))
        if is_apart or has_bullet(line.text) or (before is not None and before.kind is not line.kind):
            begins.append(index)
    for start, end in pairwise([*begins, len(lines)]):
        first, last = lines[start], lines[end - 1]
        span = types.Span(trim_line(*first).start, trim_line(*last).end)
        if span.start < span.end and first[1].kind in {types.BlockKind.TEXT, types.BlockKind.HEADING}:
            is_bold = all(line.is_bold for _, line in lines[start:end])
            is_bullet = first[1].kind is types.BlockKind.TEXT and has_bullet(first[1].text)
            yield Block(chunk, span, first[1].kind, is_bold, is_bullet, first[1].number)

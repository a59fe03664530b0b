"""What a passage can be quoted by: its sentences, headings, pairs of label and value, and whole rows of tables.

A row knows its cells and under which name each of them stands: a figure without its year says nothing.
"""

import re
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from rag.answering.sentences import bounded, flowing, has_bullet, split_sentences, trimmed
from rag.types import BlockKind, Line, Passage, Span

MAX_HEADER_CHARS = 200
"""A longer line above a table is text, not the names of its columns."""

HEADER_REACH = 6
"""Lines above a table in which the names of its columns and its unit are looked for."""

ROW_NUMBER_SHARE = 0.4
"""A line of which at least this share of words are numbers, and at least two, is a row of a table without rules."""

LABEL_INDENT = 20.0
"""Points: the name of the labels' column begins no farther right of a label than this."""

CONTENTS_ROWS = 5
"""So many lines one after the other that end with rising page numbers are a table of contents."""

MAX_FURNITURE_CHARS = 120
"""Running heads and feet are shorter."""

_CURRENCY = r"(?:US\$|A\$|C\$|HK\$|[$€£¥₹]|USD|EUR|GBP|CHF|Rs\.?)"
_FIGURE = (
    rf"(?:{_CURRENCY}\s*)?[(\[]?\s*[-–−+]?\s*(?:{_CURRENCY}\s*)?\d[\d.,]*(?:\s*[)\]])?"
    r"(?:\s*(?:%|pp|bps|x\b|million\b|billion\b))?(?:\s*[)\]])?"
)
_NOTHING = r"(?:[—–−-]{1,3}(?![\w(])|N/?A\b|n\.?m\.?(?!\w))"
_VALUE = re.compile(rf"(?:{_CURRENCY}\s*)?{_NOTHING}\s*%?|{_FIGURE}")
_VALUES = re.compile(rf"\s*(?:(?:{_VALUE.pattern})(?:\s+|$)){{2,}}")
_SIGN = re.compile(rf"(?:{_CURRENCY}|[(\[])")
_SIGN_BEHIND = re.compile(rf"{_FIGURE}\s*(?P<sign>{_CURRENCY})")
_TRAILING_SIGN = re.compile(rf"(?<=\d)[\d.,)\]]*\s+({_CURRENCY})$")
_CLOSING = re.compile(r"[)\]%]+|%\s*\)")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*\.?"
_PERIOD = re.compile(
    rf"(?:{_MONTH}\s+\d{{1,2}}\s*,\s*|{_MONTH}\s+|[QH][1-4]\s*['’]?\s*|FY\s*['’]?)?(?:19|20)\d\d(?:\s*[-–/]\s*\d{{2,4}})?"
    r"|FY\s*['’]?\d\d|[QH][1-4](?:\s*['’]?\d\d)?",
    re.IGNORECASE,
)
_SCALE = re.compile(
    r"(?<!\d)(?<!\d[\s-])\b(?:thousand|million|billion|crore|lakh)s?\b|(?<![\d.,])\b000s?\b|[$€£]\s*['’]?000",
    re.IGNORECASE,
)
"""What figures are given in; not what counts one, as in "35 million" and "17,000"."""
_LEADERS = re.compile(r"(?:\.\s?){4,}\s*\d*\s*$|…{2,}\s*\d*\s*$")
_LEADERS_AT_END = re.compile(r"\s*(?:(?:\.\s?){4,}|…{2,})\s*$")
_PAGE_AT_END = re.compile(r"[^\t]*[^\W\d_][^\t]*\s(\d{1,4})\s*")
_DIALLED = re.compile(r"(?<![\d.,])0\d|:\s+\(?\+\d")
_PAIR = re.compile(r"\s*[A-Z][\w()/&.'’-]*(?:\s+[\w()/&.'’-]+){0,4}\s?:\s+\S")
_WORD = re.compile(r"[^\W\d_]{2,}")


class Cell(NamedTuple):
    """A cell of a row and the name of its column, empty where none is given."""

    span: Span
    column: str = ""


class Unit(NamedTuple):
    """A sentence, heading or table row of a passage, as spans of its text.

    Of a row: `header` is the line that names its columns, `caption` the one that gives its unit, `section` the row
    that it stands under, `label` what it is called. `is_furniture` marks what belongs to the page and says nothing.
    """

    span: Span
    kind: BlockKind
    header: Span | None = None
    caption: Span | None = None
    section: Span | None = None
    label: Span | None = None
    cells: tuple[Cell, ...] = ()
    is_furniture: bool = False

    @property
    def spans(self) -> tuple[Span, ...]:
        """What is quoted with it, itself first."""
        return tuple(span for span in (self.span, self.header, self.caption) if span)


def split_passage(passage: Passage) -> list[Unit]:
    """The passage's sentences, headings and table rows in order."""
    text = passage.text
    furniture = _furniture(passage)
    units: list[Unit] = []
    above: list[_Placed] = []
    for block in _blocks(passage):
        rows = block[0][1].kind is BlockKind.TABLE
        found = _Table(text, above, block).rows() if rows else _sentences(text, above, block, furniture)
        units += [unit._replace(is_furniture=unit.is_furniture or unit.span.start in furniture) for unit in found]
        above = (above + block)[-HEADER_REACH:]
    return units


_Placed = tuple[int, Line]


def _placed(passage: Passage) -> Iterator[_Placed]:
    offset = 0
    for index, line in enumerate(passage.lines):
        offset += (2 if line.starts_block else 1) if index else 0
        yield offset, line
        offset += len(line.text)


def _blocks(passage: Passage) -> Iterator[list[_Placed]]:
    """Lines with their offsets in the passage's text, block by block.

    A paragraph that a column or page break cut in two is one block: its first part ends in mid-sentence and
    the next begins with a small letter.
    """
    block: list[_Placed] = []
    for offset, line in _placed(passage):
        if block and (line.starts_block or line.kind is not block[-1][1].kind) and not _continues(block[-1][1], line):
            yield block
            block = []
        block.append((offset, line))
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


def _trim_line(offset: int, line: Line) -> Span:
    span = trimmed(line.text, Span(0, len(line.text)))
    return Span(offset + span.start, offset + span.end)


# --- tables -------------------------------------------------------------------------------------------


class _Table:
    """A table's lines, and those above it that may name its columns."""

    def __init__(self, text: str, above: Sequence[_Placed], block: Sequence[_Placed]) -> None:
        self._text = text
        self._block = block
        self._above = [_trim_line(*placed) for placed in above]
        self._left = {_trim_line(*placed).start: placed[1].bbox.x0 for placed in (*above, *block)}
        self._header: Span | None = None
        self._in_header = False
        self._caption = self._scale_above()
        self._section = self._title_above()
        self._has_figures = any(_VALUE.fullmatch(field.strip()) for _, line in block for field in line.text.split("\t"))

    def rows(self) -> Iterator[Unit]:
        """Each line that is not empty, the names of columns too."""
        for offset, line in self._block:
            span = _trim_line(offset, line)
            if span.start < span.end:
                yield self._row(span)

    def _row(self, span: Span) -> Unit:
        row = self._text[span.start : span.end]
        label, cells = _cells(self._text, span)
        if self._names_columns(row, label is not None, [self._text[c.start : c.end] for c in cells]):
            self._header = Span(self._header.start, span.end) if self._header and self._in_header else span
            self._in_header = True
            return Unit(span, BlockKind.TABLE, is_furniture=_is_contents(row))
        if not cells:
            if _SCALE.search(row):
                self._caption = span
            else:
                self._section = span
            return Unit(span, BlockKind.TABLE, label=label)
        self._in_header = False
        header = self._header or self._header_above(len(cells))
        columns = self._columns(header, self._whole_line(span), span, len(cells)) if header else ()
        is_named = header is not None and "\t" in self._text[slice(*header)]
        if header and is_named and not columns and len(cells) % 2 == 0:  # each figure with its deviation, or its share
            columns = self._columns(header, "", span, len(cells) // 2)
            if columns:
                cells = [Span(a.start, b.end) for a, b in zip(cells[::2], cells[1::2], strict=True)]
        return Unit(
            span,
            BlockKind.TABLE,
            header=header,
            caption=None if self._caption == header else self._caption,
            section=self._section,
            label=label,
            cells=tuple(Cell(c, columns[i] if columns else "") for i, c in enumerate(cells)),
            is_furniture=_is_contents(row),
        )

    def _columns(self, header: Span, row: str, span: Span, count: int) -> tuple[str, ...]:
        """The names of `count` columns, those of several lines joined where each line tells them apart."""
        is_above = self._left[header.start] < self._left[span.start] + LABEL_INDENT
        lines = self._whole_line(header).splitlines()  # with the empty field above the labels
        told = [_columns(line, row, count, begins_with_label=is_above) for line in lines]
        named = [names for names in told if names]
        return tuple(" ".join(dict.fromkeys(parts)) for parts in zip(*named, strict=True)) if named else ()

    def _whole_line(self, span: Span) -> str:
        """Lines with their first and last fields, though these are empty: tables drawn by us tell every cell."""
        start = self._text.rfind("\n", 0, span.start) + 1
        end = self._text.find("\n", span.end)
        return self._text[start : end if end >= 0 else len(self._text)]

    def _names_columns(self, row: str, has_label: bool, cells: Sequence[str]) -> bool:
        """Whether a row names columns: names or periods, no figure among them; a single name only above figures."""
        if not cells:
            return not has_label
        if any(_VALUE.fullmatch(cell) and not _PERIOD.search(cell) for cell in cells) or _is_sentence(row):
            return False
        if self._in_header and self._has_figures and not self._names_periods():
            return not any(char.isdigit() for cell in cells if not _PERIOD.search(cell) for char in cell)
        if all(_PERIOD.search(cell) for cell in cells):
            return len(cells) > 1 or not has_label or _PERIOD.fullmatch(cells[0].strip()) is not None
        return self._header is None and (self._has_figures or len(cells) > 1)

    def _names_periods(self) -> bool:
        """Whether the names of columns are complete: further lines of words are rows."""
        return self._header is not None and _PERIOD.search(self._text, *self._header) is not None

    def _title_above(self) -> Span | None:
        """A short line right above the table that ends no sentence."""
        for span in self._above[-1:]:
            line = self._text[span.start : span.end]
            if 0 < len(line) <= MAX_HEADER_CHARS and line[-1] not in ".;":
                return span
        return None

    def _scale_above(self) -> Span | None:
        """The last line above the table that gives the scale of its figures: "(in millions)"."""
        for span in reversed(self._above):
            line = self._text[span.start : span.end]
            if len(line) <= MAX_HEADER_CHARS and _SCALE.search(line) and line[-1] not in ".;":
                return span
        return None

    def _header_above(self, count: int) -> Span | None:
        """The nearest line above the table that may be the names of `count` columns: periods, or a short line."""
        for span in reversed(self._above):
            line = self._text[span.start : span.end]
            if len(line) > MAX_HEADER_CHARS:
                break
            if len(_PERIOD.findall(line)) == count:
                return span
        if not self._above:
            return None
        last = self._above[-1]
        line = self._text[last.start : last.end]
        return last if 0 < len(line) <= MAX_HEADER_CHARS and line[-1] not in ".!?;:。！？" else None


def _cells(text: str, span: Span) -> tuple[Span | None, list[Span]]:
    """The label of a row, if it begins with one, and its cells; figures that a space parts are cells of their own."""
    parts: list[Span] = []
    start = span.start
    for piece in text[span.start : span.end].split("\t"):
        parts.append(trimmed(text, Span(start, start + len(piece))))
        start += len(piece) + 1
    parts = [part for part in parts if part.start < part.end]
    label: Span | None = None
    if parts and (
        not (_VALUE.fullmatch(text, *parts[0]) or _VALUES.fullmatch(text, *parts[0])) or _is_of_period(text, parts)
    ):
        label, parts = _without_leaders(text, parts[0]), parts[1:]
        if not parts:
            label, parts = _label_and_figures(text, label)
    cells: list[Span] = []
    for part in _with_signs_apart(text, parts):
        cells += _figures(text, part)
    return label, _joined(text, cells)


def _is_of_period(text: str, parts: Sequence[Span]) -> bool:
    """Whether a row begins with the period that it is of: a year, and then something else."""
    first, *others = (text[slice(*part)].strip() for part in parts)
    return bool(_PERIOD.fullmatch(first)) and bool(others) and not all(_PERIOD.fullmatch(other) for other in others)


def _with_signs_apart(text: str, parts: Sequence[Span]) -> Iterator[Span]:
    """`parts`, the sign of the next figure ("$ 1,503 $") parted from one where signs stand before their figures."""
    figures = [part for part in parts if any(map(str.isdigit, text[part.start : part.end]))]
    leads = any(_SIGN.match(text, *part) for part in parts[:1]) or not any(
        _TRAILING_SIGN.search(text, *part) for part in figures[-1:]
    )
    for part in parts:
        sign = _TRAILING_SIGN.search(text, *part) if leads else None
        if sign is None:
            yield part
        else:
            yield trimmed(text, Span(part.start, sign.start(1)))
            yield Span(*sign.span(1))


def _label_and_figures(text: str, span: Span) -> tuple[Span | None, list[Span]]:
    """A line without cells: its words, and the two or more figures that it ends with."""
    for match in re.finditer(r"\s+", text[span.start : span.end]):
        start = span.start + match.end()
        if _VALUES.fullmatch(text, start, span.end):
            return _without_leaders(text, Span(span.start, span.start + match.start())), [Span(start, span.end)]
    return span, []


def _without_leaders(text: str, span: Span) -> Span:
    """`span` without the dots that lead to a row's figures, unless nothing else is there."""
    leaders = _LEADERS_AT_END.search(text[span.start : span.end])
    return Span(span.start, span.start + leaders.start()) if leaders and leaders.start() else span


def _figures(text: str, span: Span) -> list[Span]:
    if not _VALUES.fullmatch(text, span.start, span.end):
        return [span]
    return [trimmed(text, Span(*match.span())) for match in _VALUE.finditer(text, span.start, span.end)]


def _joined(text: str, cells: Sequence[Span]) -> list[Span]:
    """`cells`, with a currency's sign or a closing bracket that stands alone put to its figure.

    Where a sign stands before one figure, a sign behind it is that of the next.
    """
    joined: list[Span] = []
    opening: Span | None = None
    for cell in cells:
        content = text[cell.start : cell.end]
        if opening and (behind := _SIGN_BEHIND.fullmatch(content)):
            sign = cell.start + behind.start("sign")
            joined.append(trimmed(text, Span(opening.start, sign)))
            opening = Span(sign, cell.end)
        elif _SIGN.fullmatch(content):
            opening = cell
        elif joined and _CLOSING.fullmatch(content):
            joined[-1] = Span(joined[-1].start, cell.end)
        else:
            joined.append(Span(opening.start, cell.end) if opening else cell)
            opening = None
    return joined


def _is_sentence(row: str) -> bool:
    return row.rstrip()[-1:] in ".;" and len(row) > MAX_HEADER_CHARS // 2


def _columns(header: str, row: str, count: int, *, begins_with_label: bool = True) -> tuple[str, ...]:
    """The names of a row's `count` cells in a line that names columns; () where they cannot be told apart.

    `begins_with_label`: the line may begin above the row's label, so that its first name is that of the labels.
    """
    names = [flowing(name) for name in header.split("\t")]
    fields = row.split("\t")
    filled = [name for name, field in zip(names[1:], fields[1:], strict=False) if field.strip()]
    if len(names) == len(fields) and len(filled) == count:
        return tuple(filled)
    if len(names) == len(fields) == count:  # the row has no label
        return tuple(names)
    names = [name for name in names if name]
    if len(names) == count + 1 and begins_with_label:
        return tuple(names[1:])
    periods = [flowing(match.group()) for match in _PERIOD.finditer(header)]
    if len(names) == count and (len(periods) == count or not begins_with_label):
        return tuple(names)
    return tuple(periods) if len(periods) == count else ()


# --- running text ---------------------------------------------------------------------------------------


def _sentences(
    text: str, above: Sequence[_Placed], block: Sequence[_Placed], furniture: Container[int]
) -> Iterator[Unit]:
    kind = block[0][1].kind
    for run, is_row in _paragraphs(block, furniture):
        if kind is BlockKind.HEADING:
            yield Unit(run, kind)
            continue
        if is_row:
            yield _bare_row(text, [*above, *block], run)
            continue
        for span in split_sentences(text[run.start : run.end]):
            for part in bounded(text, Span(run.start + span.start, run.start + span.end)):
                yield Unit(part, kind, is_furniture=_is_contents(text[part.start : part.end]))


def _bare_row(text: str, lines: Sequence[_Placed], span: Span) -> Unit:
    """A row of a table without rules, found among the lines of running text."""
    label, figures = _label_and_figures(text, span)
    cells = [cell for part in figures for cell in _joined(text, _figures(text, part))]
    above = [placed for placed in lines if placed[0] < span.start][-HEADER_REACH:]
    header = columns = None
    for offset, line in reversed(above):
        names = _columns(line.text, "", len(cells)) if len(line.text) <= MAX_HEADER_CHARS else ()
        if names and all(map(_PERIOD.search, names)):
            header, columns = _trim_line(offset, line), names
            break
    return Unit(
        span,
        BlockKind.TABLE if cells and label else BlockKind.TEXT,
        header=header if header != span else None,
        label=label if cells else None,
        cells=tuple(Cell(c, columns[i] if columns else "") for i, c in enumerate(cells)) if label else (),
        is_furniture=_is_contents(text[span.start : span.end]),
    )


def _paragraphs(block: Sequence[_Placed], furniture: Container[int]) -> Iterator[tuple[Span, bool]]:
    """Runs of lines of a block that may hold several sentences, and whether they are a row.

    List items, pairs, rows of numbers and what belongs to the page stand alone.
    """
    run: Span | None = None
    was_row = was_pair = False
    for offset, line in block:
        span = _trim_line(offset, line)
        if span.start == span.end:
            continue
        is_row = _is_row(line.text) or _LEADERS.search(line.text) is not None or span.start in furniture
        is_pair = (run is None or was_pair) and _PAIR.match(line.text) is not None
        if run is not None and not (is_row or was_row or (is_pair and was_pair) or has_bullet(line.text)):
            run = Span(run.start, span.end)
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


# --- what belongs to the page -------------------------------------------------------------------------------


def _is_contents(text: str) -> bool:
    """Whether it is a line of a table of contents by its leaders, or has no word at all: dashes, numbers of pages."""
    return _LEADERS.search(text) is not None or not (_WORD.search(text) or any(map(str.isdigit, text)))


def _furniture(passage: Passage) -> set[int]:
    """Where the lines begin that belong to the page: its number, running heads and feet, a table of contents."""
    placed = [(_trim_line(offset, line), line) for offset, line in _placed(passage) if line.text.strip()]
    found: set[int] = set()
    for page in passage.pages:
        lines = [(span, line) for span, line in placed if line.page_number == page]
        for edge in (
            lines[:1],
            lines[1:2] if len(lines) > 2 else [],
            lines[-1:],
            lines[-2:-1] if len(lines) > 2 else [],
        ):
            found |= {span.start for span, line in edge if _is_running(line.text) and not _flows(lines, span)}
    numbered = [(span, _PAGE_AT_END.fullmatch(line.text)) for span, line in placed]
    run: list[tuple[Span, int]] = []
    for span, match in [*numbered, (Span(0, 0), None)]:
        number = int(match[1]) if match else None
        if number is not None and (not run or run[-1][1] <= number <= run[-1][1] + 60) and not _is_period(number):
            run.append((span, number))
            continue
        if len(run) >= CONTENTS_ROWS and run[-1][1] > run[0][1]:
            found |= {contents.start for contents, _ in run}
        run = [(span, number)] if number is not None and not _is_period(number) else []
    return found


def _flows(lines: Sequence[tuple[Span, Line]], span: Span) -> bool:
    """Whether the line at `span`, or the one after it, begins with a small letter: it is amid a sentence."""
    index = next(index for index, (other, _) in enumerate(lines) if other == span)
    return any(line.text.lstrip()[0].islower() for _, line in lines[index : index + 2])


def _is_period(number: int) -> bool:
    return 1900 <= number < 2100


def _is_running(text: str) -> bool:
    """Whether the first or last line of a page is only its number, or ends or begins with it and is no sentence."""
    text = text.strip()
    if len(text) > MAX_FURNITURE_CHARS or text[-1:] in "!?:;":
        return False
    if re.fullmatch(r"\W*(?:page\s*)?[A-Z]{0,2}[-.]?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?\W*", text, re.IGNORECASE):
        return True
    return (
        "|" in text
        or re.fullmatch(r"(?:table of )?contents", text, re.IGNORECASE) is not None
        or (
            not text.endswith(".")
            and re.search(r"(?:^\d{1,3}\s+\D|\D\s\d{1,3}$)", text) is not None
            and "\t" not in text
        )
    )

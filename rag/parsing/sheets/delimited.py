"""Read delimited text: values separated by commas, semicolons, tabs or bars."""

import contextlib
import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag import errors
from rag.messages import N_
from rag.parsing.encoding import decode
from rag.parsing.sheets.sheet import Budget, Cell, Sheet

DELIMITERS = ",;\t|"
SAMPLE_ROWS = 200
MIN_SHARE = 0.8
"""Minimum share of rows with the same number of fields, or with more than one below a complete header."""
MIN_ROWS = 3
"""Least rows of a table that has titles above or notes below it."""
MAX_FIELD_CHARS = 10_000_000
_SEPARATOR_LINE = re.compile(r'"?sep=(?P<delimiter>[^\r\n])"?(?:\r\n?|\n|$)', re.IGNORECASE)
"""A first line that tells spreadsheet programs the delimiter, and is not shown."""
_NUMBER = re.compile(r"[(\-+–−]?\s*+(?:[$€£¥]\s*+)?\d[\d.,\s’']*+(?:[%$€£¥]\s*+)?\)?|[–—-]")
"""Recognizes numbers, to align them right."""


def read(source: Path, *, is_tabbed: bool) -> Sheet:
    """Read the file at `source`; `is_tabbed` tells whether it is named as having tabs.

    Raises:
        errors.UnreadableFileError: a field or the file is too large.
    """
    text = decode(source.read_bytes())
    delimiter = find_delimiter(text) or ("\t" if is_tabbed else ",")
    sheet, budget = Sheet(""), Budget()
    try:
        for number, row in enumerate(rows(text, delimiter), start=1):
            for column, value in enumerate(row, start=1):
                if value.strip():
                    budget.take()
                    sheet.cells.setdefault(number, {})[column] = Cell(value, bool(_NUMBER.fullmatch(value.strip())))
    except csv.Error as error:
        raise errors.UnreadableFileError(
            N_("The table is damaged: {error}. Save it again in another program."), error=error
        ) from error
    return sheet


def find_delimiter(text: str) -> str | None:
    """Return the delimiter that `text` names, else that of its first rows, None if there is no consistent one.

    Titles above the table and notes below it may have fewer fields.
    """
    if named := _SEPARATOR_LINE.match(text):
        return named["delimiter"]
    best, most = None, 0.0
    for delimiter in DELIMITERS:
        sample: list[list[str]] = []
        with contextlib.suppress(csv.Error):
            sample.extend(filter(None, itertools.islice(rows(text, delimiter), SAMPLE_ROWS)))
        for records in (sample, _table(sample)):
            for share, fields in (_most_common(records), _with_header(records)):
                if fields > 1 and share >= MIN_SHARE and share * fields > most:
                    best, most = delimiter, share * fields
    return best


def _table(sample: Sequence[list[str]]) -> Sequence[list[str]]:
    """Return the rows without those above and below that have fewer fields than most rows with several fields."""
    _, fields = _most_common([row for row in sample if len(row) > 1])
    places = [index for index, row in enumerate(sample) if len(row) >= fields]
    table = sample[places[0] : places[-1] + 1] if places else []
    return table if len(table) >= MIN_ROWS else []


def _most_common(records: Sequence[Sequence[str]]) -> tuple[float, int]:
    """Return the share of rows with the most common number of fields, and that number."""
    counts = Counter(map(len, records))
    fields, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return rows / max(1, len(records)), fields


def _with_header(records: Sequence[Sequence[str]]) -> tuple[float, int]:
    """Return the share of rows with several fields below a complete header; rows may lack their last fields."""
    header, *others = records or [()]
    if not others or not all(header) or len(header) < max(map(len, others)):
        return 0.0, 0
    return sum(len(row) > 1 for row in others) / len(others), len(header)


def rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows of `text` as lists of fields; quoted fields may have line breaks.

    Raises:
        csv.Error: a field has more than `MAX_FIELD_CHARS` characters.
    """
    csv.field_size_limit(MAX_FIELD_CHARS)
    named = _SEPARATOR_LINE.match(text)
    yield from csv.reader(text[named.end() if named else 0 :].splitlines(keepends=True), delimiter=delimiter)

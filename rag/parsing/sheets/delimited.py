"""Read delimited text: values separated by commas, semicolons, tabs or bars."""

import contextlib
import csv
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

DELIMITERS = ",;\t|"
SAMPLE_ROWS = 200
MIN_SHARE = 0.8
"""Minimum share of rows with the same number of fields, or with more than one below a complete header."""
MAX_FIELD_CHARS = 10_000_000


def find_delimiter(text: str) -> str | None:
    """Detect the delimiter from the first rows of `text`; return None if there is no consistent one."""
    best, most = None, 0.0
    for delimiter in DELIMITERS:
        found = [row for row in _sample(text, delimiter) if row]
        for share, fields in (_most_common(found), _with_header(found)):
            if fields > 1 and share >= MIN_SHARE and share * fields > most:
                best, most = delimiter, share * fields
    return best


def _most_common(found: Sequence[Sequence[str]]) -> tuple[float, int]:
    """Return the share of rows with the most common number of fields, and that number."""
    counts = Counter(map(len, found))
    fields, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return rows / max(1, len(found)), fields


def _with_header(found: Sequence[Sequence[str]]) -> tuple[float, int]:
    """Return the share of rows with several fields below a complete header; rows may lack their last fields."""
    header, *others = found or [()]
    if not others or not all(header) or len(header) < max(map(len, others)):
        return 0.0, 0
    return sum(len(row) > 1 for row in others) / len(others), len(header)


def _sample(text: str, delimiter: str) -> Iterator[list[str]]:
    with contextlib.suppress(csv.Error):
        yield from itertools.islice(rows(text, delimiter), SAMPLE_ROWS)


def rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows of `text` as lists of fields; quoted fields may have line breaks.

    Raises:
        csv.Error: a field has more than `MAX_FIELD_CHARS` characters.
    """
    csv.field_size_limit(MAX_FIELD_CHARS)
    yield from csv.reader(text.splitlines(keepends=True), delimiter=delimiter)

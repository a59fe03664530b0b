"""Values parted by commas, semicolons, tabs or bars, one row to a line."""

import csv
from collections import Counter
from collections.abc import Iterator

DELIMITERS = ",;\t|"
SAMPLE_ROWS = 200
MIN_SHARE = 0.8
"""At least this share of the rows has the same number of fields."""
MAX_FIELD_CHARS = 10_000_000


def find_delimiter(text: str) -> str | None:
    """What parts the fields of the rows that `text` begins with, or None if nothing does so consistently."""
    best, most = None, 0.0
    for delimiter in DELIMITERS:
        counts = Counter(count for count in _field_counts(text, delimiter) if count)
        if not counts:
            continue
        fields, rows = max(counts.items(), key=lambda item: (item[1], item[0]))
        share = rows / counts.total()
        if fields > 1 and share >= MIN_SHARE and share * fields > most:
            best, most = delimiter, share * fields
    return best


def _field_counts(text: str, delimiter: str) -> Iterator[int]:
    try:
        for index, row in enumerate(rows(text, delimiter)):
            if index == SAMPLE_ROWS:
                return
            yield len(row)
    except csv.Error:
        return


def rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """The rows of `text` as lists of fields, which may be quoted and hold line breaks then.

    Raises:
        csv.Error: a field has more than `MAX_FIELD_CHARS` characters.
    """
    csv.field_size_limit(MAX_FIELD_CHARS)
    yield from csv.reader(text.splitlines(keepends=True), delimiter=delimiter)

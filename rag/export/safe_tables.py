"""Tables for spreadsheets in which no cell is a formula, whatever stands in a document."""

import csv
import io
import re
from collections.abc import Iterable

FORMULA = "=+-@＝＋－＠"
"""What a cell begins with that a spreadsheet would compute."""
_COMPUTED = re.compile(rf"(?:^|(?<=[;\t\r\n]))(\s*[{re.escape(FORMULA)}])")
"""Where such a cell begins; where lists are separated by semicolons, also within what is one cell elsewhere."""


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may take a cell with this text for a formula."""
    return text.lstrip().startswith(tuple(FORMULA))


def to_csv(rows: Iterable[Iterable[str]]) -> str:
    """Rows as CSV; an apostrophe stands before what would be computed (OWASP, CSV injection)."""
    written = io.StringIO()
    csv.writer(written).writerows([_COMPUTED.sub(r"'\1", text) for text in row] for row in rows)
    return written.getvalue()

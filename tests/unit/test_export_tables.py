"""Tables for spreadsheets: what a document says is never computed."""

import csv
import io

import pytest

from rag.export import to_csv

HARMLESS = ["", "4,812 ships", "a = b", "x-ray", "3 < 4; 5", 'say "yes"']


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-5 %", "'-5 %"),
        ("@SUM(A1)", "'@SUM(A1)"),
        (" =1+1", "' =1+1"),
        ("\t=1+1", "'\t=1+1"),
        ("\N{NO-BREAK SPACE}=1", "'\N{NO-BREAK SPACE}=1"),
        ("\N{FULLWIDTH EQUALS SIGN}1", "'\N{FULLWIDTH EQUALS SIGN}1"),
        ("paid; =cmd|x", "paid;' =cmd|x"),
        ("first\n=second", "first\n'=second"),
        *((text, text) for text in HARMLESS),
    ],
)
def test_what_would_be_computed_is_text(text: str, written: str) -> None:
    assert [*csv.reader(io.StringIO(to_csv([[text, "beside"]]), newline=""))] == [[written, "beside"]]

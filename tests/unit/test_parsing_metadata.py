"""What a file says of itself, and what programs say in its place."""

import datetime as dt
from pathlib import Path

import pytest

from rag.parsing import metadata
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.worker import protocol
from tests import pdfs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("D:20210304101500+01'00'", dt.date(2021, 3, 4)),
        ("20210304", dt.date(2021, 3, 4)),
        (" D:20210304", dt.date(2021, 3, 4)),
        ("D:202103", None),
        ("D:2021", None),
        ("D:20211399", None),
        ("D:19700101000000Z", None),
        ("D:20000230", None),
        ("D:20200229", dt.date(2020, 2, 29)),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_dates_of_metadata_are_parsed(text: str | None, expected: dt.date | None) -> None:
    assert metadata.parse_date(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Ann\n Smith ", "Ann Smith"),
        ("İnci Öz", "İnci Öz"),
        ("Owner & Sons", "Owner & Sons"),
        ("Rooth", "Rooth"),
        ("Administrator", None),
        ("Microsoft Office User", None),
        ("(anonymous)", None),
        ("---", None),
        (" ", None),
        (None, None),
        ("x" * 1000, "x" * metadata.MAX_AUTHOR_CHARS),
    ],
)
def test_authors_are_cleaned_and_placeholders_dropped(text: str | None, expected: str | None) -> None:
    assert metadata.parse_author(text) == expected


def test_metadata_of_a_file_reaches_the_parent_process(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    with pymupdf.open(stream=pdfs.plain(), filetype="pdf") as document:
        document.set_metadata({"author": "Ann", "creationDate": "D:20210304", "modDate": "D:20240506"})
        document.save(path)
    with pymupdf.open(path) as document:
        said = metadata.read_metadata(document)
    assert said == metadata.Metadata(None, "Ann", dt.date(2021, 3, 4))
    assert protocol.load(protocol.dump(metadata=said)).metadata == said
    with pymupdf.open(stream=pdfs.plain(), filetype="pdf") as document:
        assert metadata.read_metadata(document) == metadata.Metadata()

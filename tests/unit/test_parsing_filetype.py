from pathlib import Path

import pytest

from rag import errors, parsing
from rag.parsing import filetype
from tests import pdfs, sheets


def detect(folder: Path, content: bytes, name: str) -> str:
    path = folder / "file"
    path.write_bytes(content)
    return parsing.detect_mime_type(path, name)


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        (pdfs.plain(), "a.pdf", filetype.PDF),
        (pdfs.plain(), "a.txt", filetype.PDF),
        (b"junk before the header\n" + pdfs.plain(), "a.pdf", filetype.PDF),
        (pdfs.presentation(), "a.pptx", filetype.PPTX),
        (pdfs.presentation(), "a.docx", filetype.PPTX),
        (pdfs.word_document(), "no suffix", filetype.DOCX),
        (b"<!DOCTYPE html><p>hello", "a.pdf", filetype.HTML),
        (b"\xef\xbb\xbf<!-- c -->\n<HTML><body>", "a", filetype.HTML),
        ("<html>".encode("utf-16"), "a.htm", filetype.HTML),
        (b"<p>a fragment", "a.html", filetype.HTML),
        (b"# A title", "a.md", filetype.MARKDOWN),
        (b"caf\xe9", "a.txt", filetype.TEXT),
        (b"a,b\n1,2", "a.csv", filetype.CSV),
        (b"a\tb\n1\t2", "a.tsv", filetype.TSV),
        (b"a;b\n1;2", "a.CSV", filetype.CSV),
        (b"name,from,to\nAnn,1990\nBob,1991,1999\nCid,1992\n", "a.csv", filetype.CSV),
        (b"a,b\n1,2", "a.txt", filetype.TEXT),
        (b"Dear all,\nno table here", "a.csv", filetype.TEXT),
        (sheets.balance(), "a.docx", filetype.XLSX),
        (sheets.opendocument(""), "a", filetype.ODS),
        (b"\xd0\xcf\x11\xe0" + bytes(512) + "Workbook".encode("utf-16-le") + bytes(48), "a.doc", filetype.XLS),
    ],
)
def test_content_decides_before_the_name(tmp_path: Path, content: bytes, name: str, expected: str) -> None:
    assert detect(tmp_path, content, name) == expected


@pytest.mark.parametrize(
    ("content", "name"),
    [(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.doc"), (b"\0\1\2\3" * 9, "a.bin")],
)
def test_other_kinds_are_refused_by_name(tmp_path: Path, content: bytes, name: str) -> None:
    with pytest.raises(errors.UnsupportedFileError, match=name):
        detect(tmp_path, content, name)


@pytest.mark.parametrize(("content", "name"), [(b"", "a.pdf"), (b" \n", "a.txt"), (b"PK\3\4 cut off", "a.docx")])
def test_empty_and_cut_off_files_are_unreadable(tmp_path: Path, content: bytes, name: str) -> None:
    with pytest.raises(errors.UnreadableFileError, match=name):
        detect(tmp_path, content, name)

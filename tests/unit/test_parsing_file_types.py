from pathlib import Path

import pytest

from rag import errors, parsing
from rag.parsing import file_types
from tests import offices, pdfs, sheets


def detect(folder: Path, content: bytes, name: str) -> str:
    path = folder / "file"
    path.write_bytes(content)
    return parsing.detect_mime_type(path, name)


def office_file(kind: str) -> bytes:
    """An Office Open XML file whose main part has a type, a free name, and backslashes in it."""
    return offices.archive(
        {"[Content_Types].xml": f'<Override PartName="/a/b.xml" ContentType="{kind}"/>', "a\\b.xml": ""}
    )


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        (pdfs.plain(), "a.pdf", file_types.PDF),
        (pdfs.plain(), "a.txt", file_types.PDF),
        (b"junk before the header\n" + pdfs.plain(), "a.pdf", file_types.PDF),
        (pdfs.presentation(), "a.pptx", file_types.PPTX),
        (pdfs.presentation(), "a.docx", file_types.PPTX),
        (pdfs.word_document(), "no suffix", file_types.DOCX),
        (office_file("application/vnd.ms-word.document.macroEnabled.main+xml"), "a", file_types.DOCX),
        (
            office_file("application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml"),
            "a",
            file_types.DOCX,
        ),
        (
            office_file("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"),
            "a",
            file_types.XLSX,
        ),
        (office_file("application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml"), "a", file_types.PPTX),
        (b"<!DOCTYPE html><p>hello", "a.pdf", file_types.HTML),
        (b"\xef\xbb\xbf<!-- c -->\n<HTML><body>", "a", file_types.HTML),
        ("<html>".encode("utf-16"), "a.htm", file_types.HTML),
        (b"<p>a fragment", "a.html", file_types.HTML),
        (b"# A title", "a.md", file_types.MARKDOWN),
        (b"caf\xe9", "a.txt", file_types.TEXT),
        (b"a,b\n1,2", "a.csv", file_types.CSV),
        (b"a\tb\n1\t2", "a.tsv", file_types.TSV),
        (b"a;b\n1;2", "a.CSV", file_types.CSV),
        (b"name,from,to\nAnn,1990\nBob,1991,1999\nCid,1992\n", "a.csv", file_types.CSV),
        (b"a,b\n1,2", "a.txt", file_types.TEXT),
        (b"Dear all,\nno table here", "a.csv", file_types.TEXT),
        (sheets.balance(), "a.docx", file_types.XLSX),
        (sheets.opendocument(""), "a", file_types.ODS),
        (b"\xd0\xcf\x11\xe0" + bytes(512) + "Workbook".encode("utf-16-le") + bytes(48), "a.doc", file_types.XLS),
    ],
)
def test_content_decides_before_the_name(tmp_path: Path, content: bytes, name: str, expected: str) -> None:
    assert detect(tmp_path, content, name) == expected


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (office_file("application/vnd.ms-visio.drawing.main+xml"), "a.vsdx"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.doc"),
        (b"\0\1\2\3" * 9, "a.bin"),
    ],
)
def test_other_kinds_are_refused_by_name(tmp_path: Path, content: bytes, name: str) -> None:
    with pytest.raises(errors.UnsupportedFileError, match=name):
        detect(tmp_path, content, name)


@pytest.mark.parametrize(("content", "name"), [(b"", "a.pdf"), (b" \n", "a.txt"), (b"PK\3\4 cut off", "a.docx")])
def test_empty_and_cut_off_files_are_unreadable(tmp_path: Path, content: bytes, name: str) -> None:
    with pytest.raises(errors.UnreadableFileError, match=name):
        detect(tmp_path, content, name)

"""Archives: what is in them is listed and taken out, and hostile ones do no harm."""

import binascii
import io
import stat
import struct
import unicodedata
import zipfile
from pathlib import Path

import pytest

from rag import errors, parsing
from rag.parsing import file_types, zips
from rag.parsing.archive.unpacking import safe_path
from rag.types import ParsedDocument, ParsingConfig, Unpacked
from tests import mails, pdfs

MB = 1 << 20


def read(folder: Path, content: bytes, *, unpacked: Unpacked | None = None, **more: int) -> ParsedDocument:
    source, parts = folder / "source", folder / "parts"
    source.write_bytes(content)
    parts.mkdir()
    return parsing.read_file(
        source,
        name="bundle.zip",
        rendition=folder / "r.pdf",
        config=ParsingConfig(**more),
        parts_folder=parts,
        unpacked=unpacked or Unpacked(),
    )


def told(document: ParsedDocument) -> dict[str, str | None]:
    return {part.name: part.reason for part in document.parts}


def text(document: ParsedDocument) -> str:
    return "\n".join(block.text for block in document.blocks)


def with_entry(content: bytes, **values: int) -> bytes:
    """An archive of one file, with other values in its directory."""
    source = zipfile.ZipFile(io.BytesIO(content))
    (info,) = source.infolist()
    start = source.start_dir
    places = {"flag_bits": (8, "<H"), "compress_type": (10, "<H"), "file_size": (24, "<L"), "external_attr": (38, "<L")}
    changed = bytearray(content)
    for name, value in values.items():
        offset, form = places[name]
        struct.pack_into(form, changed, start + offset, value)
        if name in {"flag_bits", "compress_type"}:  # the file's own header has them, too
            struct.pack_into(form, changed, info.header_offset + offset - 2, value)
    return bytes(changed)


# --- what it is ---


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (mails.archive({"a/b.txt": b"hello"}), file_types.ZIP),
        (mails.archive({"report.docx": pdfs.word_document()}), file_types.ZIP),
        (pdfs.word_document(), file_types.DOCX),
        (pdfs.presentation(), file_types.PPTX),
    ],
)
def test_archives_are_told_by_what_is_in_them(tmp_path: Path, content: bytes, kind: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert parsing.detect_mime_type(path, "a.pdf") == kind


@pytest.mark.parametrize("content", [mails.archive({}), mails.archive({"empty/": b""}), b"PK\x03\x04 and no more"])
def test_archives_without_files_are_unreadable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(errors.UnreadableFileError, match="bundle"):
        parsing.detect_mime_type(path, "bundle.zip")


@pytest.mark.parametrize("bits", [32, 64])
def test_a_directory_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    content = mails.archive({f"{number}.txt": b"x" for number in range(100)})
    path = tmp_path / "file"
    if bits == 64:
        end = content.rfind(b"PK\x05\x06")
        *_, count, size, place, _ = struct.unpack("<4s4H2LH", content[end:])
        record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, place)
        locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
        forged = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 46, place, 0)  # says that it is small
        content = content[:end] + record + locator + forged
    path.write_bytes(content)
    with zips.opened(path, "a.zip") as archive:
        assert len(archive.namelist()) == 100
    monkeypatch.setattr(zips, "MAX_DIRECTORY_BYTES", 100 * 50)
    with pytest.raises(errors.UnreadableFileError, match=r"a\.zip"), zips.opened(path, "a.zip"):
        pass


# --- what is taken out ---


def test_what_is_in_it_is_listed_and_taken_out(tmp_path: Path) -> None:
    files = {"reports/2026/report.pdf": pdfs.plain(), "notes.txt": b"high water", "logo.svg": b"<svg></svg>", "e": b""}
    document = read(tmp_path, mails.archive(files))
    assert document.title == "bundle.zip"
    assert told(document) == {
        "reports/2026/report.pdf": None,
        "notes.txt": None,
        "logo.svg": "of a kind that cannot be read (an SVG image)",
        "e": "empty",
    }
    for name in files:
        assert name in text(document)
    kept = [part.file.read_bytes() for part in document.parts if part.file]
    assert kept == [files["reports/2026/report.pdf"], b"high water"]


def test_names_in_utf_8_and_files_of_the_system(tmp_path: Path) -> None:
    content = mails.archive({"Prüfung.txt": b"x y", "__MACOSX/._a.txt": b"x", "a/.DS_Store": b"x"})
    # Many programs leave out the mark that names are in UTF-8.
    document = read(tmp_path, content.replace(b"\0\0\x08", b"\0\0\0"))
    assert told(document) == {"Prüfung.txt": None}
    assert "2 files of the operating system left out." in text(document)


@pytest.mark.parametrize("codec", ["cp437", "cp932", "cp866"])
def test_names_in_a_code_page(tmp_path: Path, codec: str) -> None:
    names = {"cp437": "Müller_Größe.txt", "cp932": "契約書/テスト.txt", "cp866": "Договор.txt"}
    content = mails.archive({"a" * len(names[codec].encode(codec)): b"x y"})
    content = content.replace(b"a" * len(names[codec].encode(codec)), names[codec].encode(codec))
    assert told(read(tmp_path, content)) == {names[codec]: None}


def test_names_with_accents_written_apart_are_composed(tmp_path: Path) -> None:
    document = read(tmp_path, mails.archive({unicodedata.normalize("NFD", "Größe/Übersicht.txt"): b"x y"}))
    assert told(document) == {"Größe/Übersicht.txt": None}


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("C:\\Windows\\system.ini", "Windows/system.ini"),
        ("\\\\server\\share\\a.txt", "server/share/a.txt"),
        ("a\0b\n\u202etxt.exe", "abtxt.exe"),
        ("....//..//x", "..../x"),
        ("..", "unnamed"),
        ("x" * 1000 + ".pdf", "x" * 146 + ".pdf"),
        ("/".join(["deep"] * 100) + "/a.txt", "/".join(["deep"] * 9) + "/a.txt"),
    ],
)
def test_names_lead_nowhere(tmp_path: Path, name: str, safe: str) -> None:
    assert safe_path(name) == safe
    before = {path for path in tmp_path.parent.rglob("*") if path.is_file()}
    document = read(tmp_path, mails.archive({name: b"root of all"}))
    (part,) = document.parts
    assert part.name == safe_path(name.partition("\0")[0])
    assert part.file
    assert part.file.parent == tmp_path / "parts"
    written = {path for path in tmp_path.parent.rglob("*") if path.is_file()} - before
    assert written == {tmp_path / "source", tmp_path / "r.pdf", part.file}


# --- hostile ones ---


def test_links_and_devices_are_left_out(tmp_path: Path) -> None:
    content = mails.archive({"passwd.txt": b"/etc/passwd"})
    for number, kind in enumerate((stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO)):
        (tmp_path / str(number)).mkdir()
        document = read(tmp_path / str(number), with_entry(content, external_attr=(kind | 0o777) << 16))
        assert told(document) == {"passwd.txt": "no file but a link or a device"}


def test_encrypted_and_damaged_members_are_told(tmp_path: Path) -> None:
    content = mails.archive({"secret.txt": b"high water at nine" * 100})
    cases = {
        "encrypted": with_entry(content, flag_bits=1),
        "damaged": with_entry(content, compress_type=99),
        "compressed": with_entry(content, compress_type=12),
    }
    for what, changed in cases.items():
        (tmp_path / what).mkdir()
        (reason,) = told(read(tmp_path / what, changed)).values()
        assert what in (reason or ""), what


def test_a_bomb_is_stopped_at_the_limit_whatever_it_says_of_itself(tmp_path: Path) -> None:
    bomb = mails.archive({"bomb.txt": b"a" * 8 * MB})
    for number, content in enumerate((bomb, with_entry(bomb, file_size=10))):
        (tmp_path / str(number)).mkdir()
        document = read(tmp_path / str(number), content, max_parts_mb=2)
        assert all(part.file is None and part.reason for part in document.parts)
        assert not list((tmp_path / str(number) / "parts").iterdir())


def test_members_that_share_their_content_count_each(tmp_path: Path) -> None:
    """As in the bombs of David Fifield, "A better zip bomb", 2019: many members, one content."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("0.txt", b"a" * MB)
        (first,) = packed.infolist()
        for number in range(1, 50):
            twin = zipfile.ZipInfo(f"{number}.txt")
            for field in ("header_offset", "compress_type", "compress_size", "file_size", "CRC"):
                setattr(twin, field, getattr(first, field))
            packed.filelist.append(twin)
    document = read(tmp_path, target.getvalue(), max_parts_mb=3)
    assert len(document.parts) == 50
    assert sum(part.size for part in document.parts if part.file) <= 3 * MB
    assert all(part.reason for part in document.parts if not part.file)


def test_archives_in_archives_are_files_until_they_are_too_deep(tmp_path: Path) -> None:
    inner = mails.archive({f"{number}.zip": mails.archive({"a.txt": b"a" * MB}) for number in range(16)})
    document = read(tmp_path, mails.archive({"inner.zip": inner}))
    assert told(document) == {"inner.zip": None}, "it is not unpacked with the outer one"
    (tmp_path / "deep").mkdir()
    document = read(tmp_path / "deep", inner, unpacked=Unpacked(depth=3))
    assert {part.reason for part in document.parts} == {"in more than 3 mails or archives, one in the other"}


def test_what_was_taken_out_of_the_outermost_counts(tmp_path: Path) -> None:
    content = mails.archive({"a.txt": b"a b", "b.txt": b"b c"})
    document = read(tmp_path, content, unpacked=Unpacked(depth=1, files=999))
    assert told(document) == {"a.txt": None, "b.txt": "more than 1,000 files"}
    (tmp_path / "size").mkdir()
    document = read(tmp_path / "size", content, unpacked=Unpacked(depth=1, files=1, size=2000 * MB))
    assert set(told(document).values()) == {"more than 2,000 MB unpacked"}


@pytest.mark.long
def test_a_hundred_thousand_members_are_counted(tmp_path: Path) -> None:
    content = mails.archive({f"{number}.txt": b"x" for number in range(100_000)}, compression=zipfile.ZIP_STORED)
    document = read(tmp_path, content, max_parts=5)
    assert sum(part.file is not None for part in document.parts) == 5
    assert len(document.parts) == 1006
    assert document.parts[-1].name == "98,995 more"
    assert "98,995 more" in text(document)


# --- filings ---

FILING = b"""-----BEGIN PRIVACY-ENHANCED MESSAGE-----
Proc-Type: 2001,MIC-CLEAR

<SEC-DOCUMENT>0000012345-24-000001.txt : 20240301
<SEC-HEADER>0000012345-24-000001.hdr.sgml : 20240301
COMPANY CONFORMED NAME:\t\tACME HARBOURS INC
</SEC-HEADER>
<DOCUMENT>
<TYPE>10-K
<SEQUENCE>1
<FILENAME>acme-10k.htm
<TEXT>
<html><body><p>Revenue was 812 million.</p></body></html>
</TEXT>
</DOCUMENT>
<DOCUMENT>
<TYPE>EX-13
<SEQUENCE>2
<DESCRIPTION>ANNUAL REPORT
<TEXT>
<PAGE>
<TABLE>
<CAPTION>
Item           2024   2023
<S>            <C>    <C>
Cash            120     98
</TABLE>
</TEXT>
</DOCUMENT>
<DOCUMENT>
<TYPE>GRAPHIC
<FILENAME>logo.jpg
<TEXT>
begin 644 logo.jpg
#_]C_
`
end
</TEXT>
</DOCUMENT>
<DOCUMENT>
<TYPE>EX-99
<FILENAME>letter.pdf
<TEXT>
<PDF>
begin 644 letter.pdf
PDF_CONTENT`
end
</PDF>
</TEXT>
</DOCUMENT>
</SEC-DOCUMENT>
"""


def test_the_documents_of_a_filing_are_parts(tmp_path: Path) -> None:
    pdf = pdfs.plain()
    encoded = b"".join(binascii.b2a_uu(pdf[start : start + 45]) for start in range(0, len(pdf), 45))
    document = read(tmp_path, FILING.replace(b"PDF_CONTENT", encoded))
    assert told(document) == {
        "acme-10k.htm": None,
        "2 ANNUAL REPORT.txt": None,
        "logo.jpg": "a picture of another document, or data for programs",
        "letter.pdf": None,
    }
    assert "COMPANY CONFORMED NAME: ACME HARBOURS INC" in text(document)
    assert "4 documents" in text(document)
    contents = [part.file.read_bytes() for part in document.parts if part.file]
    assert contents[0].startswith(b"<html>")
    assert contents[1].split() == b"Item 2024 2023 Cash 120 98".split()
    assert contents[2] == pdf


def test_a_filing_that_is_cut_off_keeps_what_is_there(tmp_path: Path) -> None:
    document = read(tmp_path, FILING[: FILING.index(b"PDF_CONTENT")])
    assert list(told(document)) == ["acme-10k.htm", "2 ANNUAL REPORT.txt", "logo.jpg"]

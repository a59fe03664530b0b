"""Archives: written as a plain tar, and believed only if every byte is as the manifest says."""

import datetime as dt
import hashlib
import io
import json
import tarfile
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag import errors
from rag.store.backup.archive import MANIFEST, SEAL, Archive, ArchiveWriter
from rag.types import BackupFile, BackupManifest, BackupMember

DOCUMENT = uuid.UUID("0f2f3a52-7a0e-4a57-9b9a-0d6c7b1f5a11")
DATABASE = "database.dump"
FILE = f"files/0123456789abcdef0123456789abcdef/{DOCUMENT}/original"
ROWS = b"1\tone\n2\ttwo\\nlines\n"
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 5
CONTENTS = {DATABASE: ROWS, FILE: PDF}


def manifest() -> BackupManifest:
    def measures(member: str) -> dict[str, Any]:
        content = CONTENTS[member]
        return {"member": member, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    return BackupManifest(
        pagelight="0.1.0",
        created_at=dt.datetime(2026, 5, 1, tzinfo=dt.UTC),
        migrations=("0001_row_level_security",),
        database=BackupMember(**measures(DATABASE)),
        rows={"things": 2},
        files=(BackupFile(**measures(FILE), user_id="ann", document_id=DOCUMENT, kind="original"),),
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sound archive."""
    path = tmp_path / "backup.tar"
    with path.open("wb") as file:
        writer = ArchiveWriter(file, created=1_700_000_000)
        for name, content in CONTENTS.items():
            with writer.member(name) as sink:
                for start in range(0, len(content), 100):
                    sink.write(content[start : start + 100])
        writer.close(manifest())
    return path


def read(path: Path) -> tuple[BackupManifest, dict[str, bytes]]:
    with Archive(path, lambda done: None) as archive:
        return archive.manifest, {name: b"".join(archive.read(name)) for name in CONTENTS}


def refused(path: Path) -> None:
    with pytest.raises(errors.UnreadableFileError, match="no backup, or a damaged one"):
        read(path)


def test_what_was_written_is_read(path: Path) -> None:
    assert read(path) == (manifest(), CONTENTS)


def test_any_tar_program_reads_it_and_sha256sum_checks_the_manifest(path: Path) -> None:
    with tarfile.open(path, "r:") as tar:
        contents = {member.name: tar.extractfile(member) for member in tar if member.isreg()}
        plain = {name: file.read() for name, file in contents.items() if file}
    assert [*plain] == [DATABASE, FILE, MANIFEST, SEAL]
    assert {name: plain[name] for name in CONTENTS} == CONTENTS
    assert plain[SEAL].decode() == f"{hashlib.sha256(plain[MANIFEST]).hexdigest()}  {MANIFEST}\n"
    assert json.loads(plain[MANIFEST])["rows"] == {"things": 2}
    assert path.stat().st_size % tarfile.RECORDSIZE == 0


def test_no_changed_byte_goes_unnoticed(path: Path) -> None:
    """It is refused, or, where a tar has bytes without a meaning, everything is read as it was."""
    sound, noticed = path.read_bytes(), 0
    for position in range(0, len(sound), 5):
        changed = bytearray(sound)
        changed[position] ^= 1 << position % 8
        path.write_bytes(changed)
        try:
            assert read(path) == (manifest(), CONTENTS), position
        except errors.UnreadableFileError:
            noticed += 1
    assert noticed > sum(map(len, CONTENTS.values())) / 5


def test_a_cut_off_archive_is_refused(path: Path) -> None:
    sound = path.read_bytes()
    end = len(sound.rstrip(b"\0"))
    for length in [*range(0, end, 301), *range(0, end, tarfile.BLOCKSIZE)]:
        path.write_bytes(sound[:length])
        refused(path)


Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, content: bytes, kind: bytes = tarfile.REGTYPE, **fields: Any) -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def sound_members() -> list[Member]:
    told = manifest().model_dump_json().encode()
    return [*(member(name, content) for name, content in CONTENTS.items()), *sealed(told)]


def sealed(told: bytes) -> list[Member]:
    return [member(MANIFEST, told), member(SEAL, f"{hashlib.sha256(told).hexdigest()}  {MANIFEST}\n".encode())]


def write_tar(path: Path, members: Sequence[Member], format: int = tarfile.GNU_FORMAT) -> None:  # noqa: A002  # as in tarfile
    with tarfile.open(path, "w", format=format) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))


def test_the_hostile_archives_below_differ_from_a_sound_one_by_one_thing(path: Path) -> None:
    write_tar(path, sound_members())
    assert read(path) == (manifest(), CONTENTS)


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "/etc/passwd",
        "tables/../../outside.copy",
        "tables/a/b.copy",
        "tables/.copy",
        "tables/Things.copy",
        'tables/things"; DROP TABLE documents; --.copy',
        f"files/../{DOCUMENT}/original",
        f"files/ann/{DOCUMENT}/../original",
        f"files/ann/{DOCUMENT}/password",
        f"files//{DOCUMENT}/original",
        "files\\ann\\original",
        "./manifest.json",
        "manifest.json.bak",
        "x" * 300,
        "tables/\u0437.copy",
    ],
)
@pytest.mark.parametrize("format", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_member_of_any_other_name(path: Path, name: str, format: int) -> None:  # noqa: A002  # as in tarfile
    write_tar(path, [member(name, b"x"), *sound_members()], format)
    refused(path)


@pytest.mark.parametrize(
    "kind",
    [
        tarfile.AREGTYPE,
        tarfile.SYMTYPE,
        tarfile.LNKTYPE,
        tarfile.CHRTYPE,
        tarfile.BLKTYPE,
        tarfile.DIRTYPE,
        tarfile.FIFOTYPE,
        tarfile.CONTTYPE,
        tarfile.GNUTYPE_SPARSE,
        b"x",
        b"g",
        b"L",
        b"Z",
    ],
)
def test_a_member_that_is_no_regular_file(path: Path, kind: bytes) -> None:
    members = sound_members()
    members[1] = member(FILE, b"", kind, linkname="/etc/passwd")
    write_tar(path, members)
    refused(path)


def _twice(members: list[Member]) -> list[Member]:
    return [members[0], *members]


def _without_a_file(members: list[Member]) -> list[Member]:
    return [members[0], *members[2:]]


def _one_more(members: list[Member]) -> list[Member]:
    return [member("tables/more.copy", b""), *members]


def _manifest_first(members: list[Member]) -> list[Member]:
    return [*members[2:], *members[:2]]


def _no_manifest(members: list[Member]) -> list[Member]:
    return members[:2]


def _no_seal(members: list[Member]) -> list[Member]:
    return members[:3]


def _another_seal(members: list[Member]) -> list[Member]:
    return [*members[:3], member(SEAL, b"0" * 64 + f"  {MANIFEST}\n".encode())]


def _something_behind(members: list[Member]) -> list[Member]:
    return [*members, member("tables/late.copy", b"")]


def _nothing(members: list[Member]) -> list[Member]:
    return []


@pytest.mark.parametrize(
    "change",
    [
        _twice,
        _without_a_file,
        _one_more,
        _manifest_first,
        _no_manifest,
        _no_seal,
        _another_seal,
        _something_behind,
        _nothing,
    ],
)
def test_members_that_do_not_make_a_backup(path: Path, change: Callable[[list[Member]], list[Member]]) -> None:
    write_tar(path, change(sound_members()))
    refused(path)


@pytest.mark.parametrize(
    "change",
    [
        {"database": None},
        {"database": [{"bytes": 1}]},
        {"database": [{"sha256": "0" * 64}]},
        {"database": [{"sha256": "short"}]},
        {"database": [{"member": "manifest.json"}]},
        {"rows": {"things; DROP TABLE documents": 2}},
        {"files": [{"document_id": str(uuid.uuid4())}]},
        {"files": [{"kind": "rendition"}]},
        {"files": [{"user_id": ""}]},
        {"files": [{"surprise": 1}]},
        {"migrations": []},
        {"format": 0},
        {"format": "one"},
    ],
)
def test_a_manifest_that_says_something_else(path: Path, change: dict[str, Any]) -> None:
    told = json.loads(manifest().model_dump_json())
    for key, value in change.items():
        if value and isinstance(value, list):
            told[key] = [{**told[key][0], **value[0]}] if key == "files" else {**told[key], **value[0]}
        else:
            told[key] = value
    write_tar(path, [*sound_members()[:2], *sealed(json.dumps(told).encode())])
    refused(path)


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"{", b"\xff", b"[" * 100_000])
def test_a_manifest_that_is_none(path: Path, content: bytes) -> None:
    write_tar(path, [*sound_members()[:2], *sealed(content)])
    refused(path)


def test_a_newer_format_is_named_as_such(path: Path) -> None:
    told = {"format": 3, "pagelight": "9.0", "something": "new"}
    write_tar(path, [*sound_members()[:2], *sealed(json.dumps(told).encode())])
    with pytest.raises(errors.UnsupportedFileError, match=r"newer version of Pagelight \(9.0\)"):
        read(path)


@pytest.mark.parametrize("size", [-1, 2**33, 2**60])
def test_a_declared_size_that_is_not_there(path: Path, size: int) -> None:
    info = tarfile.TarInfo(DATABASE)
    info.size = size
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + ROWS.ljust(512, b"\0") + bytes(1024))
    refused(path)


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b" + bytes(600), b"%PDF-1.7 " * 100, bytes(10240)])
def test_a_file_that_is_no_tar(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    refused(path)


def test_a_file_that_is_not_there_or_a_folder(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere.tar"):
        with pytest.raises(errors.SourceError, match="cannot be read"):
            read(place)


def test_what_changes_after_the_check_is_noticed(path: Path) -> None:
    with Archive(path, lambda done: None) as archive:
        content = bytearray(path.read_bytes())
        content[content.index(ROWS)] ^= 1
        path.write_bytes(content)
        with pytest.raises(errors.UnreadableFileError, match="changed while"):
            list(archive.read(DATABASE))

"""The backup archive: a plain tar file that is restricted to what backups need, and checked before it is used.

Members are regular files with short ASCII names: ``database.dump``, as pg_dump writes it, and the documents' files. The
last two are ``manifest.json``, with the size and SHA-256 of every other, and ``manifest.json.sha256``, with its own, as
``sha256sum`` writes it. Links, devices, folders, extended headers and names of any other form are refused first.
Members are streamed in both directions, so memory does not depend on their size.
"""

import hashlib
import json
import re
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rag import errors, types
from rag.store.backup import format_1
from rag.types.operations import BACKUP_FORMAT, DATABASE_MEMBER, FILE_MEMBER

MANIFEST = "manifest.json"
SEAL = "manifest.json.sha256"
NAMES = [FILE_MEMBER.pattern, format_1.TABLE_MEMBER.pattern, *map(re.escape, (DATABASE_MEMBER, MANIFEST, SEAL))]
MEMBER = re.compile("|".join(NAMES))

BLOCK_BYTES = tarfile.BLOCKSIZE
PIECE_BYTES = 1 << 20
MANIFEST_LIMIT_BYTES = 1 << 30
"""A million documents take about a third of it; it is the only member that is read as a whole."""


class Sink:
    """Writes a member, counting and hashing its bytes."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._digest = hashlib.sha256()
        self._bytes = 0

    def write(self, data: bytes) -> None:
        """Append `data`."""
        self._file.write(data)
        self._digest.update(data)
        self._bytes += len(data)

    @property
    def member(self) -> types.BackupMember:
        """The size and hash of what has been written so far."""
        return types.BackupMember(member=self._name, bytes=self._bytes, sha256=self._digest.hexdigest())


class ArchiveWriter:
    """Writes members into a seekable file."""

    def __init__(self, file: BinaryIO, *, created: int) -> None:
        """`created` in seconds since 1970 becomes the time of all members."""
        self._file = file
        self._created = created

    @contextmanager
    def member(self, name: str) -> Iterator[Sink]:
        """Add a member that the block writes; its size is written into its header at the end."""
        start = self._file.tell()
        self._file.write(bytes(BLOCK_BYTES))
        sink = Sink(self._file, name)
        yield sink
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = sink.member.bytes, self._created, 0o600
        self._file.write(bytes(-info.size % BLOCK_BYTES))
        end = self._file.tell()
        self._file.seek(start)
        self._file.write(info.tobuf(tarfile.GNU_FORMAT, "ascii", "strict"))  # a format without a size limit of 8 GiB
        self._file.seek(end)

    def read_first(self, member: types.BackupMember) -> Iterator[bytes]:
        """Yield the bytes of the first member; nothing may be added meanwhile."""
        end = self._file.tell()
        self._file.seek(BLOCK_BYTES)
        left = member.bytes
        while piece := self._file.read(min(left, PIECE_BYTES)):
            left -= len(piece)
            yield piece
        self._file.seek(end)

    def close(self, manifest: types.BackupManifest) -> None:
        """Add the manifest and its hash, and end the archive."""
        content = manifest.model_dump_json(indent=1, by_alias=False).encode()
        with self.member(MANIFEST) as sink:
            sink.write(content)
        with self.member(SEAL) as sink:
            sink.write(_seal(content))
        self._file.write(bytes(2 * BLOCK_BYTES))
        self._file.write(bytes(-self._file.tell() % tarfile.RECORDSIZE))


def _seal(manifest: bytes) -> bytes:
    return f"{hashlib.sha256(manifest).hexdigest()}  {MANIFEST}\n".encode()


class Archive:
    """An archive that was checked against its manifest."""

    def __init__(self, path: Path, on_bytes: Callable[[int], None]) -> None:
        """Open and check the archive at `path`; `on_bytes` gets the number of bytes read so far.

        Raises:
            errors.SourceError: there is no such file, or it cannot be read.
            errors.UnreadableFileError: it is damaged, cut off, or no archive of ours.
            errors.UnsupportedFileError: a newer version of Pagelight made it.
        """
        self.path = path
        self._offsets: dict[str, int] = {}
        with _read_errors(path):
            self._file = path.open("rb")
        try:
            with _read_errors(path):
                members = {member.member: member for member in self._walk(on_bytes)}
                content = self._manifest_content(members)
                self.manifest, self.old_tables = _parse(content)
        except BaseException:
            self._file.close()
            raise
        self._members = {member.member: member for member in (*self.manifest.members, *self.old_tables)}
        for name in {*members, *self._members} - {MANIFEST, SEAL}:
            listed, member = self._members.get(name), members.get(name)
            if not listed or not member or (listed.bytes, listed.sha256) != (member.bytes, member.sha256):
                self._file.close()
                raise damaged(f"{name} is not what the manifest says")

    def _walk(self, on_bytes: Callable[[int], None]) -> Iterator[types.BackupMember]:
        """Read all members, and refuse what a backup never has."""
        while (info := self._next_header()) is not None:
            if info.type != tarfile.REGTYPE or info.size < 0 or not MEMBER.fullmatch(info.name):
                raise damaged(f"there is something in it that a backup never has, {info.name[:100]!r}")
            if info.name in self._offsets:
                raise damaged(f"{info.name} is in it twice")
            if SEAL in self._offsets or (MANIFEST in self._offsets and info.name != SEAL):
                raise damaged(f"{info.name} stands behind the manifest")
            self._offsets[info.name] = self._file.tell()
            digest = hashlib.sha256()
            for piece in self._pieces(info.name, info.size):
                digest.update(piece)
                on_bytes(self._file.tell())
            if self._file.read(-info.size % BLOCK_BYTES).strip(b"\0"):
                raise damaged("there is something between its members")
            yield types.BackupMember(member=info.name, bytes=info.size, sha256=digest.hexdigest())
        if SEAL not in self._offsets:
            raise damaged("its end is missing")

    def _next_header(self) -> tarfile.TarInfo | None:
        block = self._file.read(BLOCK_BYTES)
        if block == bytes(BLOCK_BYTES):
            return None
        try:
            return tarfile.TarInfo.frombuf(block, "ascii", "strict")
        except tarfile.HeaderError as error:
            raise damaged("it is cut off, or no tar archive") from error
        except UnicodeDecodeError as error:
            raise damaged("a name in it is not ASCII") from error

    def _pieces(self, member: str, size: int) -> Iterator[bytes]:
        self._file.seek(self._offsets[member])
        while size:
            piece = self._file.read(min(size, PIECE_BYTES))
            if not piece:
                raise damaged("it is cut off")
            size -= len(piece)
            yield piece

    def _manifest_content(self, members: dict[str, types.BackupMember]) -> bytes:
        if MANIFEST not in members or members[MANIFEST].bytes > MANIFEST_LIMIT_BYTES:
            raise damaged("it has no manifest")
        content = b"".join(self._pieces(MANIFEST, members[MANIFEST].bytes))
        if members[SEAL].sha256 != hashlib.sha256(_seal(content)).hexdigest():
            raise damaged("its manifest does not have the hash that is written behind it")
        return content

    def read(self, member: str) -> Iterator[bytes]:
        """Yield the bytes of a member, hashed again because the file may have changed since the check.

        Raises UnreadableFileError.
        """
        digest = hashlib.sha256()
        with _read_errors(self.path):
            for piece in self._pieces(member, self._members[member].bytes):
                digest.update(piece)
                yield piece
            if digest.hexdigest() != self._members[member].sha256:
                raise damaged(f"{member} changed while it was read")

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


@contextmanager
def _read_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise errors.SourceError(
            f"{path} cannot be read: {error.strerror}. Check the path, the rights and the disk it is on.",
            details={"path": str(path)},
        ) from error


def damaged(what: str) -> errors.UnreadableFileError:
    """Return the error of an archive in which something is not as it has to be."""
    return errors.UnreadableFileError(
        f"The file is no backup, or a damaged one: {what}. Nothing of it was used. Take another copy or another backup."
    )


def _parse(content: bytes) -> tuple[types.BackupManifest, tuple[format_1.Table, ...]]:
    try:
        fields = json.loads(content)
        version = fields.get("format") if isinstance(fields, dict) else None
        if isinstance(version, int) and version > BACKUP_FORMAT:
            raise errors.UnsupportedFileError(
                f"The backup was made by a newer version of Pagelight ({fields.get('pagelight')}). "
                "Update Pagelight, then restore it."
            )
        if version == format_1.FORMAT:
            return format_1.parse(content)
        return types.BackupManifest.model_validate_json(content), ()
    except (ValueError, RecursionError) as error:
        raise damaged("its manifest is not one") from error

"""The backup archive: a plain tar file that is restricted to what backups need, and checked before it is used.

Members are regular files with short ASCII names. The last two are ``manifest.json``, with the size and SHA-256 of
every other, and ``manifest.json.sha256``, with its own, as ``sha256sum`` writes it. Links, devices, folders, extended
headers and names of any other form are refused first. Members are streamed in both directions, so memory does not
depend on their size.
"""

import hashlib
import json
import re
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from rag import errors, types
from rag.types.operations import BACKUP_FORMAT, FILE_MEMBER, TABLE_MEMBER

MANIFEST = "manifest.json"
SEAL = "manifest.json.sha256"
MEMBER = re.compile("|".join([TABLE_MEMBER.pattern, FILE_MEMBER.pattern, re.escape(MANIFEST), re.escape(SEAL)]))

BLOCK_BYTES = tarfile.BLOCKSIZE
PIECE_BYTES = 1 << 20
MANIFEST_LIMIT_BYTES = 1 << 30
"""A million documents take about a third of it; it is the only member that is read as a whole."""

OnBytes = Callable[[int], None]


class DiskUsage(NamedTuple):
    """A member's bytes: how many, their SHA-256 in hexadecimal digits, how many line feeds, and where they begin."""

    bytes: int
    sha256: str
    lines: int
    offset: int = 0


class Sink:
    """Writes a member, counting and hashing its bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._bytes = 0
        self._lines = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append `data`."""
        self._file.write(data)
        self._digest.update(data)
        self._bytes += len(data)
        self._lines += bytes(data).count(b"\n")

    @property
    def content(self) -> DiskUsage:
        """The size and hash of what has been written so far."""
        return DiskUsage(self._bytes, self._digest.hexdigest(), self._lines)


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
        sink = Sink(self._file)
        yield sink
        self._file.write(bytes(-sink.content.bytes % BLOCK_BYTES))
        end = self._file.tell()
        self._file.seek(start)
        self._file.write(self._header(name, sink.content.bytes))
        self._file.seek(end)

    def _header(self, name: str, size: int) -> bytes:
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = size, self._created, 0o600
        return info.tobuf(tarfile.GNU_FORMAT, "ascii", "strict")  # a format without a size limit of 8 GiB

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

    def __init__(self, path: Path, on_bytes: OnBytes) -> None:
        """Open and check the archive at `path`; `on_bytes` gets the number of bytes read so far.

        Raises:
            errors.SourceError: there is no such file, or it cannot be read.
            errors.UnreadableFileError: it is damaged, cut off, or no archive of ours.
            errors.UnsupportedFileError: a newer version of Pagelight made it.
        """
        self.path = path
        self._file = _opened(path)
        try:
            with _reading(path):
                contents = dict(self._walk(on_bytes))
                self.manifest = self._read_manifest(contents)
                self._contents = _verified(self.manifest, contents)
        except BaseException:
            self._file.close()
            raise

    def _walk(self, on_bytes: OnBytes) -> Iterator[tuple[str, DiskUsage]]:
        seen: set[str] = set()
        while (info := _next_header(self._file)) is not None:
            if info.type != tarfile.REGTYPE or info.size < 0 or not MEMBER.fullmatch(info.name):
                raise _damaged(f"there is something in it that a backup never has, {info.name[:100]!r}")
            if info.name in seen:
                raise _damaged(f"{info.name} is in it twice")
            if SEAL in seen or (MANIFEST in seen and info.name != SEAL):
                raise _damaged(f"{info.name} stands behind the manifest")
            seen.add(info.name)
            yield info.name, self._measure(info.size, on_bytes)
        if SEAL not in seen:
            raise _damaged("its end is missing")

    def _measure(self, size: int, on_bytes: OnBytes) -> DiskUsage:
        offset, digest, lines = self._file.tell(), hashlib.sha256(), 0
        for piece in self._pieces(offset, size):
            digest.update(piece)
            lines += piece.count(b"\n")
            on_bytes(self._file.tell())
        if self._file.read(-size % BLOCK_BYTES).strip(b"\0"):
            raise _damaged("there is something between its members")
        return DiskUsage(size, digest.hexdigest(), lines, offset)

    def _pieces(self, offset: int, size: int) -> Iterator[bytes]:
        self._file.seek(offset)
        left = size
        while left:
            piece = self._file.read(min(left, PIECE_BYTES))
            if not piece:
                raise _damaged("it is cut off")
            left -= len(piece)
            yield piece

    def _read_manifest(self, contents: dict[str, DiskUsage]) -> types.BackupManifest:
        if MANIFEST not in contents or contents[MANIFEST].bytes > MANIFEST_LIMIT_BYTES:
            raise _damaged("it has no manifest")
        content = b"".join(self._pieces(contents[MANIFEST].offset, contents[MANIFEST].bytes))
        if contents[SEAL].sha256 != hashlib.sha256(_seal(content)).hexdigest():
            raise _damaged("its manifest does not have the hash that is written behind it")
        return _parsed(content)

    def read(self, member: str) -> Iterator[bytes]:
        """Yield the bytes of a member, hashed again because the file may have changed since the check.

        Raises:
            errors.UnreadableFileError: it has changed.
        """
        content = self._contents[member]
        digest = hashlib.sha256()
        with _reading(self.path):
            for piece in self._pieces(content.offset, content.bytes):
                digest.update(piece)
                yield piece
            if digest.hexdigest() != content.sha256:
                raise _damaged(f"{member} changed while it was read")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise errors.SourceError(
            f"{path} cannot be read: {error.strerror}. Check the path and the rights.", details={"path": str(path)}
        ) from error


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise errors.SourceError(f"{path} cannot be read: {error.strerror}. Check the disk it is on.") from error


def _damaged(what: str) -> errors.UnreadableFileError:
    return errors.UnreadableFileError(
        f"The file is no backup, or a damaged one: {what}. Nothing of it was used. Take another copy or another backup."
    )


def _next_header(file: BinaryIO) -> tarfile.TarInfo | None:
    """Read the next member's header; None at the end of the archive."""
    block = file.read(BLOCK_BYTES)
    if block == bytes(BLOCK_BYTES):
        return None
    try:
        return tarfile.TarInfo.frombuf(block, "ascii", "strict")
    except tarfile.HeaderError as error:
        raise _damaged("it is cut off, or no tar archive") from error
    except UnicodeDecodeError as error:
        raise _damaged("a name in it is not ASCII") from error


def _parsed(content: bytes) -> types.BackupManifest:
    try:
        fields = json.loads(content)
        if isinstance(fields, dict) and isinstance(fields.get("format"), int) and fields["format"] > BACKUP_FORMAT:
            raise errors.UnsupportedFileError(
                f"The backup was made by a newer version of Pagelight ({fields.get('pagelight')}). "
                "Update Pagelight, then restore it."
            )
        return types.BackupManifest.model_validate_json(content)
    except (ValueError, RecursionError) as error:
        raise _damaged("its manifest is not one") from error


def _verified(manifest: types.BackupManifest, contents: dict[str, DiskUsage]) -> dict[str, DiskUsage]:
    """Compare `contents` with the manifest, and return them without it."""
    found = {name: content for name, content in contents.items() if name not in {MANIFEST, SEAL}}
    listed = {member.member: member for member in manifest.members}
    if found.keys() != listed.keys():
        raise _damaged(f"{sorted(found.keys() ^ listed.keys())[0]} is only in the archive, or only in its manifest")
    for name, content in found.items():
        if (content.bytes, content.sha256) != (listed[name].bytes, listed[name].sha256):
            raise _damaged(f"{name} is not what the manifest says")
    for table in manifest.tables:
        if found[table.member].lines != table.rows:
            raise _damaged(f"{table.member} does not have as many rows as the manifest says")
    return found

"""Taking files out of mails and archives, within limits; what is left out is told."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rag import errors
from rag.parsing import file_types
from rag.types import ParsingConfig, Unpacked, UnpackedPart

CHUNK_BYTES = 1 << 20
MORE_LISTED = 1000
"""So many files beyond the limit are named; the others are counted."""
MAX_NAME_CHARS = 150
"""Of each part of a path; of a longer one the end is kept, which has the kind."""
MAX_LEVELS = 10
"""Folders of a path; of more, the innermost."""
_DRIVE = re.compile(r"[A-Za-z]:")


class Unpacking:
    """The files that are taken out of one container into `folder`, which is there and empty.

    `before` is what was taken out of the containers that it is in itself.
    """

    def __init__(self, name: str, folder: Path, before: Unpacked, config: ParsingConfig) -> None:
        self.name = name
        self._folder = folder
        self._config = config
        self._depth = before.depth
        self._files = before.files
        self._room = config.max_parts_mb * 1024 * 1024 - before.size
        self._parts: list[UnpackedPart] = []
        self._unlisted = Unpacked()

    @property
    def parts(self) -> tuple[UnpackedPart, ...]:
        """What became of each file so far."""
        if not self._unlisted.files:
            return tuple(self._parts)
        count = self._unlisted.files
        rest = UnpackedPart(
            name=f"{count:,} more", size=self._unlisted.size, reason=f"more than {self._config.max_parts:,} files"
        )
        return (*self._parts, rest)

    def take(self, name: str, content: BinaryIO) -> None:
        """Keep a file, if it is of a kind that can be read and within the limits."""
        reason = self.full
        if reason:
            self.leave_out(name, 0, reason)
            return
        path = self._folder / f"{len(self._parts):06}"  # its own name could lead anywhere
        size = self._write(content, path)
        reason = self._too_large(size) or _unreadable(path, safe_path(name))
        if reason:
            path.unlink()
            self.leave_out(name, size, reason)
            return
        self._files += 1
        self._parts.append(UnpackedPart(name=safe_path(name), size=size, file=path))

    def leave_out(self, name: str, size: int, reason: str) -> None:
        """Tell of a file of so many bytes (0: not known) that is not kept."""
        if len(self._parts) >= self._config.max_parts + MORE_LISTED:
            known = self._unlisted
            self._unlisted = Unpacked(files=known.files + 1, size=known.size + size)
        else:
            self._parts.append(UnpackedPart(name=safe_path(name), size=size, reason=reason))

    @property
    def full(self) -> str | None:
        """Why no further file is taken; None if there is room."""
        config = self._config
        if self._depth >= config.max_parts_depth:
            return f"in more than {config.max_parts_depth} mails or archives, one in the other"
        if self._files >= config.max_parts:
            return f"more than {config.max_parts:,} files"
        if self._room <= 0:
            return f"more than {config.max_parts_mb:,} MB unpacked"
        return None

    def _write(self, content: BinaryIO, path: Path) -> int:
        """Copies until there is no more room, however large the content says it is; returns how much was read."""
        most = min(self._room, self._config.max_file_bytes)
        size = 0
        try:
            with path.open("wb") as target:
                for chunk in _chunks(content):
                    size += len(chunk)
                    if size > most:
                        break
                    _append(target, chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            self._room -= size  # also for what is left out: reading it costs as much
        return size

    def _too_large(self, size: int) -> str | None:
        if size > self._config.max_file_bytes:
            return f"more than {self._config.max_file_mb:,} MB"
        return f"more than {self._config.max_parts_mb:,} MB unpacked" if self._room < 0 else None


def _chunks(content: BinaryIO) -> Iterator[bytes]:
    while chunk := content.read(CHUNK_BYTES):
        yield chunk


def _append(target: BinaryIO, chunk: bytes) -> None:
    """A full disk is no fault of the file that is read, which may raise OSError, too."""
    try:
        target.write(chunk)
        target.flush()
    except OSError as error:
        raise errors.StoreError(f"Files cannot be unpacked: {error.strerror}. Make room.") from error


def _unreadable(path: Path, name: str) -> str | None:
    try:
        file_types.detect_mime_type(path, name)
    except errors.UnsupportedFileError as error:
        return f"of a kind that cannot be read ({error.details['kind']})"
    except errors.UnreadableFileError:
        return "damaged" if path.stat().st_size else "empty"
    return None


def safe_path(name: str) -> str:
    """`name`, whoever chose it, as a path for people: no control characters, no way out of where it is."""
    steps = ["".join(char for char in step if char.isprintable()).strip() for step in re.split(r"[/\\]+", name)]
    kept = [step[-MAX_NAME_CHARS:] for step in steps if step not in {"", ".", ".."} and not _DRIVE.fullmatch(step)]
    return "/".join(kept[-MAX_LEVELS:]) or "unnamed"

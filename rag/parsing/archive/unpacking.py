"""Extract files from mails, archives and PDFs within limits, and report what is left out."""

import re
import unicodedata
from pathlib import Path
from typing import BinaryIO

from rag import errors, types
from rag.messages import N_
from rag.parsing import file_types

CHUNK_BYTES = 1 << 20
MORE_LISTED = 1000
"""Files beyond the limit that are listed by name; further ones are only counted."""
MAX_NAME_CHARS = 150
"""Maximum length of each part of a path; the end with the suffix is kept."""
MAX_LEVELS = 10
"""Maximum depth of a path; the innermost folders are kept."""
_DRIVE = re.compile(r"[A-Za-z]:")


class Unpacking:
    """Extracts the files of one container into the existing, empty `folder`.

    `before` counts what was extracted from the enclosing containers.
    """

    def __init__(self, name: str, folder: Path, before: types.Unpacked, config: types.ParsingConfig) -> None:
        self.name = name
        self._folder = folder
        self._config = config
        self._depth = before.depth
        self._files = before.files
        self._room = config.max_parts_mb * 1024 * 1024 - before.size
        self._parts: list[types.UnpackedPart] = []
        self._unlisted = types.Unpacked()

    @property
    def parts(self) -> tuple[types.UnpackedPart, ...]:
        """Each file so far: where it was stored, or why it was left out."""
        if not self._unlisted.files:
            return tuple(self._parts)
        count = self._unlisted.files
        rest = types.UnpackedPart(
            name=f"{count:,} more",
            size=self._unlisted.size,
            reason=N_("more than {limit} files").format(limit=f"{self._config.max_parts:,}"),
        )
        return (*self._parts, rest)

    def take(self, name: str, content: BinaryIO) -> None:
        """Store a file if its kind is supported and the limits allow it."""
        reason = self.full
        if reason:
            self.leave_out(name, 0, reason)
            return
        path = self._folder / f"{len(self._parts):06}"  # never the file's own name, which could be a path
        size = self._write(content, path)
        if size > self._config.max_file_bytes:
            reason = N_("more than {limit} MB").format(limit=f"{self._config.max_file_mb:,}")
        elif self._room < 0:
            reason = N_("more than {limit} MB unpacked").format(limit=f"{self._config.max_parts_mb:,}")
        else:
            reason = _unreadable(path, safe_path(name))
        if reason:
            path.unlink()
            self.leave_out(name, size, reason)
            return
        self._files += 1
        self._parts.append(types.UnpackedPart(name=safe_path(name), size=size, file=path))

    def leave_out(self, name: str, size: int, reason: str) -> None:
        """Report a file that is not stored; `size` is in bytes, 0 if unknown."""
        if len(self._parts) >= self._config.max_parts + MORE_LISTED:
            known = self._unlisted
            self._unlisted = types.Unpacked(files=known.files + 1, size=known.size + size)
        else:
            self._parts.append(types.UnpackedPart(name=safe_path(name), size=size, reason=reason))

    @property
    def full(self) -> str | None:
        """Why no further file is stored; None if the limits allow more."""
        config = self._config
        if self._depth >= config.max_parts_depth:
            return f"in more than {config.max_parts_depth} mails or archives, one in the other"
        if self._files >= config.max_parts:
            return N_("more than {limit} files").format(limit=f"{config.max_parts:,}")
        if self._room <= 0:
            return N_("more than {limit} MB unpacked").format(limit=f"{config.max_parts_mb:,}")
        return None

    def _write(self, content: BinaryIO, path: Path) -> int:
        """Copy until a limit is reached, whatever size the archive claims; return the bytes read."""
        most = min(self._room, self._config.max_file_bytes)
        size = 0
        try:
            with path.open("wb") as target:
                for chunk in iter(lambda: content.read(CHUNK_BYTES), b""):
                    size += len(chunk)
                    if size > most:
                        break
                    _append(target, chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            self._room -= size  # also for files left out, which cost as much to read
        return size


def _append(target: BinaryIO, chunk: bytes) -> None:
    """Write a chunk; a full disk is reported apart from an OSError of the damaged source."""
    try:
        target.write(chunk)
        target.flush()
    except OSError as error:
        raise errors.StoreError(N_("Files cannot be unpacked: {error}. Make room."), error=error.strerror) from error


def _unreadable(path: Path, name: str) -> str | None:
    try:
        file_types.detect_mime_type(path, name)
    except errors.UnsupportedFileError as error:
        return N_("of a kind that cannot be read ({_kind})").format(_kind=error.details["kind"])
    except errors.UnreadableFileError:
        return N_("damaged") if path.stat().st_size else N_("empty")
    return None


def safe_path(name: str) -> str:
    """Return an untrusted `name` as a relative path without control characters and “..”, its accents composed."""
    name = unicodedata.normalize("NFC", name)
    steps = ["".join(char for char in step if char.isprintable()).strip() for step in re.split(r"[/\\]+", name)]
    kept = [step[-MAX_NAME_CHARS:] for step in steps if step not in {"", ".", ".."} and not _DRIVE.fullmatch(step)]
    return "/".join(kept[-MAX_LEVELS:]) or "unnamed"

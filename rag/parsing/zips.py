"""Open ZIP files safely, and list their members."""

import io
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rag import errors
from rag.messages import N_

MAX_UNPACKED_BYTES = 2 << 30
"""Maximum total size of an unpacked office file; pictures and films make up most of large ones."""
MAX_DIRECTORY_BYTES = 32 << 20
"""Maximum size of the directory, enough for 300,000 members; in memory it is about ten times as large."""
_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_MAX_COMMENT_BYTES = 0xFFFF

FAILURES = (zipfile.BadZipFile, OSError, ValueError, EOFError, OverflowError, RuntimeError, struct.error)
"""Exceptions of zipfile for damaged directories."""


@contextmanager
def opened(path: Path, name: str) -> Iterator[zipfile.ZipFile]:
    """Open the ZIP file at `path`; errors call it `name`.

    Raises:
        errors.UnreadableFileError: the file is damaged, or its directory is too large.
    """
    try:
        with path.open("rb") as file:
            size = _directory_bytes(file)
            if size > MAX_DIRECTORY_BYTES:  # before zipfile reads all of it
                raise errors.UnreadableFileError(
                    N_("“{name}” has more files in it than can be listed. Split it into smaller archives."),
                    name=name,
                    details={"directory_bytes": size},
                )
            yield zipfile.ZipFile(file)
    except FAILURES as error:
        raise errors.UnreadableFileError(
            N_("“{name}” is damaged. Open it in another program and save it again."), name=name
        ) from error


def _directory_bytes(file: BinaryIO) -> int:
    """Return the size given by the end record (APPNOTE 4.3.16), or by the ZIP64 end record, which zipfile prefers."""
    start = max(0, file.seek(0, io.SEEK_END) - _END.size - _MAX_COMMENT_BYTES)
    file.seek(start)
    tail = file.read()
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) - end < _END.size:
        return 0  # zipfile reports what is wrong
    size = int(_END.unpack_from(tail, end)[5])
    start_64 = start + end - _LOCATOR.size - _END_64.size
    if start_64 < 0:
        return size
    file.seek(start_64)
    record = file.read(_END_64.size + _LOCATOR.size)
    if record[_END_64.size :][:4] != b"PK\x06\x07" or record[:4] != b"PK\x06\x06":
        return size
    return max(size, int(_END_64.unpack_from(record)[8]))

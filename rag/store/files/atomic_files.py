"""Write files atomically and durably, below folders that only we may enter.

A file is durable when its content, its name in its folder and the folder's name in its parent are on disk.
"""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag import errors

PRIVATE_FOLDER = 0o700
UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EACCES}
"""Errors of file systems that cannot sync a folder, and of folders that we may write to but not open."""


def write_atomically(path: Path, text: str, mode: int) -> None:
    """Replace the file at `path` by `text`; nobody sees half of it, or wider rights than `mode`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_replacement(path) as partial:
            partial.write_text(text, encoding="utf-8")
            partial.chmod(mode)
    except OSError as error:
        raise errors.StoreError(f"{path} cannot be written: {error.strerror}. Check its folder's rights.") from error


@contextmanager
def atomic_replacement(target: Path, *, prefix: str | None = None, folder: Path | None = None) -> Iterator[Path]:
    """Give a new private file that durably replaces `target` when the block succeeds. Raises OSError.

    It is in `folder`, of the same file system, or else beside `target`.
    """
    descriptor, name = tempfile.mkstemp(prefix=prefix or f".{target.name}-", dir=folder or target.parent)
    os.close(descriptor)
    partial = Path(name)
    try:
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.replace(target)
        sync_folder(target.parent)
    finally:
        partial.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to disk."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise


def sync_folders(folder: Path, top: Path) -> None:
    """Write the names to disk that lead from the parent of `top` to the content of `folder`.

    Existing folders too: another process may have created them without having synced them yet.
    """
    while folder.is_relative_to(top):
        sync_folder(folder)
        folder = folder.parent
    sync_folder(folder)


def make_folders(folder: Path, top: Path) -> None:
    """Create `folder` and its missing parents; those from `top` on are private."""
    try:
        folder.mkdir(mode=PRIVATE_FOLDER if folder.is_relative_to(top) else 0o777)
    except FileExistsError:
        return
    except FileNotFoundError:  # also if the cleanup has just removed the empty parent
        make_folders(folder.parent, top)
        make_folders(folder, top)
        return
    sync_folder(folder.parent)

"""Files that outlive a power failure, below folders that only we may enter.

A file is safe when its content is on disk, and its name in its folder, and the folder's name in the one above it.
"""

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EACCES}
"""File systems that cannot sync a folder, and folders that we may write to but not open."""


@contextmanager
def atomic_replacement(target: Path) -> Iterator[Path]:
    """A new file beside `target`, readable by us alone, that takes its name when the block succeeds.

    It is on disk then. Whatever happens, there is what was there before or all of the new one. Raises OSError.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
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
    """Bring the names in a folder to disk."""
    if sys.platform == "win32":  # where folders cannot be opened
        return
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
    """Bring the names to disk that lead from above `top` down to what is in `folder`.

    Also of folders that were there: another process may have made them, and not have come to this.
    """
    while folder.is_relative_to(top):
        sync_folder(folder)
        folder = folder.parent
    sync_folder(folder)


def make_folders(folder: Path, top: Path) -> None:
    """Make the missing ones of the folders down to `folder`; from `top` on only we may enter them."""
    try:
        folder.mkdir(mode=PRIVATE_FOLDER if folder.is_relative_to(top) else 0o777)
    except FileExistsError:
        return
    except FileNotFoundError:  # also where a sweep has just taken away the one above, which was empty
        make_folders(folder.parent, top)
        make_folders(folder, top)
        return
    sync_folder(folder.parent)


def is_open(status: os.stat_result) -> bool:
    """Whether others may enter or read what is ours; what is not ours is for its owner to close."""
    return sys.platform != "win32" and status.st_uid == os.geteuid() and bool(stat.S_IMODE(status.st_mode) & 0o077)


def make_private(path: Path) -> None:
    """Take away the rights that others have on a file or a folder, never a link's target."""
    status = path.lstat()
    if not stat.S_ISLNK(status.st_mode):
        path.chmod(PRIVATE_FOLDER if stat.S_ISDIR(status.st_mode) else PRIVATE_FILE)

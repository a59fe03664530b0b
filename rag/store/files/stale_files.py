"""Find files that killed processes left in this machine's own folders."""

import datetime as dt
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from rag.store.files.atomic_files import PRIVATE_FILE, PRIVATE_FOLDER
from rag.store.files.file_storage import KINDS, USER_FOLDER, is_document_id
from rag.store.files.partial_files import PartialFiles

Kind = Literal[
    "deletions", "unowned", "doubtful", "drafts", "empty_folders", "copies", "temporary", "backups", "open_to_others"
]

TEMPORARY = re.compile(r"pagelight-[a-z0-9_]{8}")
"""Names that `tempfile` makes with our prefix; the folders of sockets are longer."""


class Orphan(NamedTuple):
    """A file or folder without an owner, the bytes it would free, and the function that deletes or repairs it."""

    kind: Kind
    bytes: int
    repair: Callable[[], object]


def in_storage(root: Path, older_than: dt.timedelta) -> Iterator[Orphan]:
    """Find partial files, empty folders, and what others may read, in a storage on this machine.

    Only old ones are reported: files that are being written, and folders that were just changed, are not.
    """
    for owner in _entries(root):
        if USER_FOLDER.fullmatch(owner.name) and owner.is_dir(follow_symlinks=False):
            yield from _open(owner)
            documents = [entry for entry in _entries(owner) if is_document_id(entry.name)]
            for document in documents:
                yield from _in_document(document, older_than)
            if not documents:
                yield from _empty(owner, older_than)


def _in_document(folder: os.DirEntry[str], older_than: dt.timedelta) -> Iterator[Orphan]:
    yield from _open(folder)
    files = _entries(folder)
    for file in files:
        if is_partial(file.name) and _is_old(file, older_than):
            yield Orphan("drafts", _size(file), Path(file).unlink)
        else:
            yield from _open(file)
    if not files:
        yield from _empty(folder, older_than)


def is_partial(name: str) -> bool:
    """Return whether a file was to replace an original or a rendition."""
    return any(name.startswith(f".{kind}-") for kind in KINDS)


def _empty(folder: os.DirEntry[str], older_than: dt.timedelta) -> Iterator[Orphan]:
    if _is_old(folder, older_than):
        yield Orphan("empty_folders", 0, Path(folder).rmdir)  # which fails if it is no longer empty


def _open(entry: "os.DirEntry[str] | Path") -> Iterator[Orphan]:
    try:
        status = Path(entry).lstat()
    except FileNotFoundError:
        return
    # What others own is for them to protect.
    is_ours = sys.platform != "win32" and status.st_uid == os.geteuid()
    if is_ours and not stat.S_ISLNK(status.st_mode) and stat.S_IMODE(status.st_mode) & 0o077:
        yield Orphan("open_to_others", 0, partial(make_private, Path(entry)))


def make_private(path: Path) -> None:
    """Remove the rights of others on a file or a folder, never on a link's target."""
    status = path.lstat()
    if not stat.S_ISLNK(status.st_mode):
        path.chmod(PRIVATE_FOLDER if stat.S_ISDIR(status.st_mode) else PRIVATE_FILE)


def open_folders(*folders: Path) -> Iterator[Orphan]:
    """Find those of our top folders that others may enter."""
    for folder in folders:
        yield from _open(folder)


def temporary(older_than: dt.timedelta) -> Iterator[Orphan]:
    """Find our temporary folders without recent changes."""
    for entry in _entries(Path(tempfile.gettempdir())):
        if TEMPORARY.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False) and _is_ours(entry):
            if not _is_old(entry, older_than):
                continue  # in use
            inside = [Path(folder, name) for folder, folders, files in os.walk(entry) for name in folders + files]
            if all(_is_old(path, older_than) for path in inside if not path.is_symlink()):
                size = sum(_size(path) for path in inside if path.is_file() and not path.is_symlink())
                yield Orphan("temporary", size, partial(shutil.rmtree, Path(entry)))


def of_backups(partial_files: PartialFiles) -> Iterator[Orphan]:
    """Find partial backups whose writers are dead."""
    for record in partial_files.abandoned():
        yield Orphan("backups", _size(partial_files.target(record)), partial(partial_files.remove, record))


def _entries(folder: "os.DirEntry[str] | Path") -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [*entries]
    except (FileNotFoundError, NotADirectoryError):  # deleted meanwhile, or not yet created
        return []


def _is_old(entry: "os.DirEntry[str] | Path", age: dt.timedelta) -> bool:
    try:
        modified_at = Path(entry).lstat().st_mtime
    except FileNotFoundError:
        return False
    return dt.datetime.now(dt.UTC).timestamp() - modified_at >= age.total_seconds()


def _is_ours(entry: os.DirEntry[str]) -> bool:
    try:
        return not hasattr(os, "geteuid") or entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    except FileNotFoundError:  # deleted meanwhile
        return False


def _size(entry: "os.DirEntry[str] | Path") -> int:
    try:
        return Path(entry).lstat().st_size
    except OSError:
        return 0

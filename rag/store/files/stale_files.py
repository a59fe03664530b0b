"""What killed processes of this machine left in its own folders."""

import datetime as dt
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from rag.store.files import durable_files
from rag.store.files.file_storage import KINDS, OWNER, is_document_id
from rag.store.files.temporary_folders import PartialFiles

Kind = Literal[
    "deletions", "unowned", "doubtful", "drafts", "empty_folders", "copies", "temporary", "backups", "open_to_others"
]

TEMPORARY = re.compile(r"pagelight-[a-z0-9_]{8}")
"""What `tempfile` makes of our prefix; the folders of sockets, which have it too, are longer."""


class Orphan(NamedTuple):
    """Something that belongs to nobody: of which `kind`, how many `bytes` it frees, and how it is mended."""

    kind: Kind
    bytes: int
    mend: Callable[[], object]


def in_storage(root: Path, older_than: dt.timedelta) -> Iterator[Orphan]:
    """Half written files, empty folders, and what others may read, in a storage that is a folder of this machine.

    A draft that is written to is young, and so is a folder that something was just put into or taken out of.
    """
    for owner in _entries(root):
        if OWNER.fullmatch(owner.name) and owner.is_dir(follow_symlinks=False):
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
        if is_draft(file.name) and _is_old(file, older_than):
            yield Orphan("drafts", _size(file), Path(file).unlink)
        else:
            yield from _open(file)
    if not files:
        yield from _empty(folder, older_than)


def is_draft(name: str) -> bool:
    """Whether a file was to take the place of an original or a rendition."""
    return any(name.startswith(f".{kind}-") for kind in KINDS)


def _empty(folder: os.DirEntry[str], older_than: dt.timedelta) -> Iterator[Orphan]:
    if _is_old(folder, older_than):
        yield Orphan("empty_folders", 0, Path(folder).rmdir)  # which refuses one that has something now


def _open(entry: "os.DirEntry[str] | Path") -> Iterator[Orphan]:
    try:
        status = Path(entry).lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISLNK(status.st_mode) and durable_files.is_open(status):
        yield Orphan("open_to_others", 0, partial(durable_files.make_private, Path(entry)))


def open_folders(*folders: Path) -> Iterator[Orphan]:
    """Those of our own folders that others may enter, where all that users have is below."""
    for folder in folders:
        yield from _open(folder)


def temporary(older_than: dt.timedelta) -> Iterator[Orphan]:
    """Working folders of ours with nothing in them that has changed lately."""
    for entry in _entries(Path(tempfile.gettempdir())):
        if TEMPORARY.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False) and _is_ours(entry):
            if not _is_old(entry, older_than):
                continue  # somebody works in it
            inside = [Path(folder, name) for folder, folders, files in os.walk(entry) for name in folders + files]
            if all(_is_old(path, older_than) for path in inside if not path.is_symlink()):
                size = sum(_size(path) for path in inside if path.is_file() and not path.is_symlink())
                yield Orphan("temporary", size, partial(shutil.rmtree, Path(entry)))


def of_backups(drafts: PartialFiles) -> Iterator[Orphan]:
    """What is there of archives whose writers are dead."""
    for note in drafts.abandoned():
        yield Orphan("backups", _size(drafts.target(note)), partial(drafts.remove, note))


def _entries(folder: "os.DirEntry[str] | Path") -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [*entries]
    except (FileNotFoundError, NotADirectoryError):  # meanwhile, or not yet
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
    except FileNotFoundError:  # whoever worked in it has just ended
        return False


def _size(entry: "os.DirEntry[str] | Path") -> int:
    try:
        return Path(entry).lstat().st_size
    except OSError:
        return 0

"""Find and delete files without an owner: pending deletions, what no row knows, and partial files of killed processes.

Folders are listed before rows are read. An upload has its row before its folder (`pending_deletions`), so a listed
folder without a row is not of a running upload. It is looked up again under its lock before it is deleted, because a
part of a mail always has the same id and may be uploaded again at that moment.
"""

import datetime as dt
import logging
import os
import re
import shutil
import stat
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from rag import errors, types
from rag.store.files.atomic_files import PRIVATE_FOLDER
from rag.store.files.file_storage import KINDS, USER_FOLDER, DocumentFolder, FileStore, is_document_id
from rag.store.files.pending_deletions import SAFE_AGE, DueDeletion
from rag.store.store import Store

logger = logging.getLogger(__name__)

Kind = Literal["deletions", "unowned", "unconfirmed", "partial_files", "empty_folders", "copies", "open_to_others"]

TEMPORARY = re.compile(r"pagelight-[a-z0-9_]{8}")
"""Names that `tempfile` makes with our prefix; the folders of sockets are longer."""


class Orphan(NamedTuple):
    """A file or folder without an owner, the bytes it would free, and the function that deletes or repairs it."""

    kind: Kind
    bytes: int
    repair: Callable[[], object]


class OrphanCleanup:
    """The cleanup of an installation's files on this machine and in its storage."""

    def __init__(self, store: Store, files: FileStore, private_folders: Sequence[Path] = ()) -> None:
        """`private_folders` are those which nobody else may enter."""
        self._store = store
        self._files = files
        self._private_folders = private_folders

    def finish_deletions(self, older_than: dt.timedelta = SAFE_AGE) -> int:
        """Delete the files of purged documents and abandoned uploads; return the number of documents.

        Failures are tried again the next time. Raises StoreError if the database fails.
        """
        return sum(_repair(self._deletion(due, older_than)) for due in self._store.all_deletions.due(older_than))

    def find_orphans(
        self, *, delete: bool = False, include_unconfirmed: bool = False, older_than: dt.timedelta = SAFE_AGE
    ) -> types.OrphanReport:
        """Report orphans older than `older_than`, and delete or repair them with `delete`.

        If the database does not know most of the storage, one of the two is probably the wrong one. Then files are
        reported as unconfirmed, and only deleted with `include_unconfirmed`.
        """
        counts: Counter[str] = Counter()

        def count(orphans: Iterator[Orphan]) -> None:
            for orphan in orphans:
                if not delete or orphan.kind == "unconfirmed" or _repair(orphan):
                    counts[orphan.kind] += 1
                    counts["bytes"] += orphan.bytes

        try:
            with self._store.all_deletions.alone() as is_alone:
                if is_alone:
                    count(self._in_storage(older_than, include_unconfirmed=include_unconfirmed))
            count(self._on_this_machine(older_than))
        except OSError as error:
            raise errors.StoreError(
                f"{error.filename} cannot be looked through: {error.strerror}. Correct its rights."
            ) from error
        return types.OrphanReport(deleted=delete, **counts)

    def _in_storage(self, older_than: dt.timedelta, *, include_unconfirmed: bool) -> Iterator[Orphan]:
        for due in self._store.all_deletions.due(older_than):
            yield self._deletion(due, older_than)
        folders = self._files.folders()
        unknown = self._store.all_deletions.unknown(folders)
        is_confirmed = include_unconfirmed or len(unknown) * 2 <= len(folders)
        for folder in sorted(unknown):
            modified_at = self._files.in_folder(folder.owner).modified_at(folder.document_id)
            if modified_at is not None and dt.datetime.now(dt.UTC) - modified_at >= older_than:
                orphan = self._unowned(folder)
                yield orphan if is_confirmed else orphan._replace(kind="unconfirmed", bytes=0)
        if self._files.local_root:
            yield from partial_files(self._files.local_root, older_than)

    def _on_this_machine(self, older_than: dt.timedelta) -> Iterator[Orphan]:
        for folder in self._private_folders:
            yield from _open_to_others(folder)
        copies = [
            DocumentFolder(path.parent.name, uuid.UUID(path.name))
            for path in self._files.cache_dir.glob("*/*")
            if is_document_id(path.name)
        ]
        for copy in sorted(self._store.all_deletions.unknown(copies)):  # of any age
            path = self._files.cache_dir / copy.owner / str(copy.document_id)
            yield Orphan("copies", _size(path), partial(shutil.rmtree, path))
        yield from partial_files(self._files.cache_dir, older_than)
        yield from temporary_folders(older_than)

    def _deletion(self, due: DueDeletion, older_than: dt.timedelta) -> Orphan:
        files = self._files.of(due.user_id)

        def delete() -> None:
            with self._store.of(due.user_id).pending_deletions.taking(due.document_id, older_than) as is_unowned:
                if is_unowned:
                    files.delete(due.document_id)

        return Orphan("deletions", files.disk_usage(due.document_id).bytes, delete)

    def _unowned(self, folder: DocumentFolder) -> Orphan:
        files = self._files.in_folder(folder.owner)

        def delete() -> None:
            with self._store.all_deletions.lock_unknown(folder) as is_unknown:
                if is_unknown:
                    files.delete(folder.document_id)

        return Orphan("unowned", files.disk_usage(folder.document_id).bytes, delete)


def _repair(orphan: Orphan) -> bool:
    """Delete or repair an orphan, and return whether that worked; a failure is logged and found again later."""
    try:
        orphan.repair()
    except FileNotFoundError:  # another process did it
        return True
    except (OSError, errors.StoreError) as error:
        logger.warning("%s: what was left behind cannot be cleared away: %s", orphan.kind, error)
        return False
    return True


def partial_files(root: Path, older_than: dt.timedelta) -> Iterator[Orphan]:
    """Find partial files, empty folders, and folders that others may enter, in a storage on this machine.

    Only old files are reported: files that are being written, and folders that were just changed, are not.
    """
    for owner in (path for path in _content(root) if USER_FOLDER.fullmatch(path.name) and not path.is_symlink()):
        yield from _open_to_others(owner)
        documents = [path for path in _content(owner) if is_document_id(path.name)]
        for folder in documents:
            files = _content(folder)
            for file in files:
                if file.name.startswith(tuple(f".{kind}-" for kind in KINDS)) and _is_old(file, older_than):
                    yield Orphan("partial_files", _size(file), file.unlink)
            if not files and _is_old(folder, older_than):
                yield Orphan("empty_folders", 0, folder.rmdir)  # which fails if it is no longer empty
        if not documents and _is_old(owner, older_than):
            yield Orphan("empty_folders", 0, owner.rmdir)


def temporary_folders(older_than: dt.timedelta) -> Iterator[Orphan]:
    """Find our temporary folders in which nothing changed recently."""
    for folder in _content(Path(tempfile.gettempdir())):
        is_folder = TEMPORARY.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink()
        if is_folder and _is_ours(folder) and all(_is_old(path, older_than) for path in (folder, *folder.rglob("*"))):
            yield Orphan("partial_files", _size(folder), partial(shutil.rmtree, folder))


def _content(folder: Path) -> list[Path]:
    try:
        return [*folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):  # deleted meanwhile, or not yet created
        return []


def _is_old(path: Path, age: dt.timedelta) -> bool:
    try:
        return time.time() - path.lstat().st_mtime >= age.total_seconds()
    except FileNotFoundError:
        return False


def _is_ours(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.geteuid()
    except FileNotFoundError:  # deleted meanwhile
        return False


def _open_to_others(folder: Path) -> Iterator[Orphan]:
    """Report a folder of ours that other accounts may enter; its content is as private as it is."""
    # What others own is for them to protect.
    if folder.is_dir() and _is_ours(folder) and stat.S_IMODE(folder.stat().st_mode) & 0o077:
        yield Orphan("open_to_others", 0, lambda: folder.chmod(PRIVATE_FOLDER))


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder."""
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    try:
        return sum(file.lstat().st_size for file in files if not file.is_dir() and not file.is_symlink())
    except FileNotFoundError:  # deleted meanwhile
        return 0

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
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from rag import errors, types
from rag.store.files.file_storage import PARTIAL_FOLDER, DocumentFolder, FileStore, is_document_id
from rag.store.files.pending_deletions import SAFE_AGE
from rag.store.store import Store

logger = logging.getLogger(__name__)

Kind = Literal["deletions", "unowned", "unconfirmed", "partial_files", "copies"]

TEMPORARY = re.compile(r"pagelight-[a-z0-9_]{8}")
"""Names that `tempfile` makes with our prefix; the folders of sockets are longer."""


class Orphan(NamedTuple):
    """A file or folder without an owner, the bytes it would free, and the function that deletes it."""

    kind: Kind
    bytes: int
    delete: Callable[[], object]


class OrphanCleanup:
    """The cleanup of an installation's files on this machine and in its storage."""

    def __init__(self, store: Store, files: FileStore) -> None:
        self._store = store
        self._files = files

    def finish_deletions(self, older_than: dt.timedelta = SAFE_AGE) -> int:
        """Delete the files of purged documents and abandoned uploads; return the number of documents.

        Failures are tried again the next time. Raises StoreError if the database fails.
        """
        return sum(map(_delete, self._deletions(older_than)))

    def find_orphans(
        self, *, delete: bool = False, include_unconfirmed: bool = False, older_than: dt.timedelta = SAFE_AGE
    ) -> types.OrphanReport:
        """Report orphans older than `older_than`, and with `delete` delete them.

        If the database does not know most of the storage, one of the two is probably the wrong one. Then files are
        reported as unconfirmed, and only deleted with `include_unconfirmed`.
        """
        counts: Counter[str] = Counter()

        def count(orphans: Iterator[Orphan]) -> None:
            for orphan in orphans:
                if not delete or orphan.kind == "unconfirmed" or _delete(orphan):
                    counts[orphan.kind] += 1
                    counts["bytes"] += orphan.bytes

        try:
            with self._store.all_deletions.alone() as is_alone:
                if is_alone:
                    count(self._deletions(older_than))
                    count(self._unknown(older_than, include_unconfirmed=include_unconfirmed))
            count(self._copies())
            for root in filter(None, (self._files.local_root, self._files.cache_dir)):
                count(_partial_files(root / PARTIAL_FOLDER, older_than))
            count(temporary_folders(older_than))
        except OSError as error:
            raise errors.StoreError(
                f"{error.filename} cannot be looked through: {error.strerror}. Correct its rights."
            ) from error
        return types.OrphanReport(deleted=delete, **counts)

    def _deletions(self, older_than: dt.timedelta) -> Iterator[Orphan]:
        for user_id, document_id in self._store.all_deletions.due(older_than):
            files, deletions = self._files.of(user_id), self._store.of(user_id).pending_deletions
            delete = partial(deletions.delete_files, files, document_id, older_than)
            yield Orphan("deletions", files.disk_usage(document_id).bytes, delete)

    def _unknown(self, older_than: dt.timedelta, *, include_unconfirmed: bool) -> Iterator[Orphan]:
        folders = self._files.folders()
        unknown = self._store.all_deletions.unknown(folders)
        is_confirmed = include_unconfirmed or len(unknown) * 2 <= len(folders)
        for folder in sorted(unknown):
            files = self._files.in_folder(folder.owner)
            modified_at = files.modified_at(folder.document_id)
            if modified_at is None or dt.datetime.now(dt.UTC) - modified_at < older_than:
                continue
            delete = partial(self._store.all_deletions.delete_unknown, files, folder)
            if is_confirmed:
                yield Orphan("unowned", files.disk_usage(folder.document_id).bytes, delete)
            else:
                yield Orphan("unconfirmed", 0, delete)

    def _copies(self) -> Iterator[Orphan]:
        """Find this machine's copies, of any age, of remote files whose documents are gone."""
        copies = [
            DocumentFolder(path.parent.name, uuid.UUID(path.name))
            for path in self._files.cache_dir.glob("*/*")
            if is_document_id(path.name)
        ]
        for copy in sorted(self._store.all_deletions.unknown(copies)):
            path = self._files.cache_dir / copy.owner / str(copy.document_id)
            yield Orphan("copies", _size(path), partial(shutil.rmtree, path))


def _delete(orphan: Orphan) -> bool:
    """Delete an orphan, and return whether that worked; a failure is logged, and the orphan found again later."""
    try:
        orphan.delete()
    except FileNotFoundError:  # another process did it
        return True
    except (OSError, errors.StoreError) as error:
        logger.warning("%s: what was left behind cannot be cleared away: %s", orphan.kind, error)
        return False
    return True


def _partial_files(folder: Path, older_than: dt.timedelta) -> Iterator[Orphan]:
    for path in _content(folder):
        if _is_old(path, older_than):  # else it may be being written
            yield Orphan("partial_files", _size(path), path.unlink)


def temporary_folders(older_than: dt.timedelta) -> Iterator[Orphan]:
    """Find our temporary folders in which nothing changed recently."""
    for folder in _content(Path(tempfile.gettempdir())):
        is_folder = TEMPORARY.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink()
        if is_folder and _is_ours(folder) and all(_is_old(path, older_than) for path in (folder, *folder.rglob("*"))):
            yield Orphan("partial_files", _size(folder), partial(shutil.rmtree, folder))


def _content(folder: Path) -> list[Path]:
    try:
        return [*folder.iterdir()]
    except FileNotFoundError:  # not yet created
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


def _size(path: Path) -> int:
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    try:
        return sum(file.lstat().st_size for file in files if not file.is_dir() and not file.is_symlink())
    except FileNotFoundError:  # deleted meanwhile
        return 0

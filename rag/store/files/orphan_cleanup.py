"""Find and delete files without an owner.

Folders are listed before rows are read. An upload has its row before its folder (`pending_deletions`), so a listed
folder without a row is not of a running upload. It is looked up again under its lock before it is deleted, because a
part of a mail always has the same id and may be uploaded again at that moment.
"""

import datetime as dt
import logging
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rag import errors, types
from rag.store.files import stale_files
from rag.store.files.file_storage import DocumentFolder, FileStore, is_document_id
from rag.store.files.partial_files import PartialFiles
from rag.store.files.pending_deletions import SAFE_AGE, DueDeletion
from rag.store.files.stale_files import Orphan
from rag.store.store import Store

logger = logging.getLogger(__name__)


class OrphanCleanup:
    """The cleanup of an installation's files on this machine and in its storage.

    `own_folders` are those whose rights it may change. `backups` records the archives that are being written.
    """

    def __init__(self, store: Store, files: FileStore, backups: PartialFiles, own_folders: Sequence[Path] = ()) -> None:
        self._store = store
        self._files = files
        self._backups = backups
        self._own_folders = own_folders

    def finish_deletions(self, older_than: dt.timedelta = SAFE_AGE) -> int:
        """Delete the files of purged documents and abandoned uploads; return the number of documents.

        Failures are tried again the next time. Raises StoreError if the database fails.
        """
        return sum(_repaired(self._deletion(due, older_than)) for due in self._store.all_deletions.due(older_than))

    def run(self, *, mend: bool, doubtful: bool = False, older_than: dt.timedelta = SAFE_AGE) -> types.SweepReport:
        """Report orphans older than `older_than`, and delete or repair them with `mend`.

        If the database does not know most of the storage, one of the two is probably the wrong one. Then files are
        reported as doubtful, and only deleted with `doubtful`.

        Raises:
            errors.StoreError: the database or the storage fails.
        """
        counts: Counter[str] = Counter()
        try:
            with self._store.all_deletions.alone() as is_alone:
                if is_alone:
                    counts.update(self._counted(self._shared(older_than, doubtful=doubtful), mend=mend))
            counts.update(self._counted(self._of_this_machine(older_than), mend=mend))
        except OSError as error:
            raise errors.StoreError(
                f"{error.filename} cannot be looked through: {error.strerror}. Correct its rights."
            ) from error
        return types.SweepReport(mended=mend, **counts)

    def _counted(self, found: Iterator[Orphan], *, mend: bool) -> Counter[str]:
        counts: Counter[str] = Counter()
        for orphan in found:
            if not mend or orphan.kind == "doubtful" or _repaired(orphan):
                counts[orphan.kind] += 1
                counts["bytes"] += orphan.bytes
        return counts

    def _shared(self, older_than: dt.timedelta, *, doubtful: bool) -> Iterator[Orphan]:
        for due in self._store.all_deletions.due(older_than):
            yield self._deletion(due, older_than)
        folders = self._files.folders()
        unknown = self._store.all_deletions.unknown(folders)
        is_sure = doubtful or len(unknown) * 2 <= len(folders)
        for folder in sorted(unknown):
            if self._is_old(folder, older_than):
                found = self._unowned(folder)
                yield found if is_sure else found._replace(kind="doubtful", bytes=0)
        if self._files.local_root:
            yield from stale_files.in_storage(self._files.local_root, older_than)

    def _of_this_machine(self, older_than: dt.timedelta) -> Iterator[Orphan]:
        yield from stale_files.open_folders(*self._own_folders)
        yield from self._copies()
        yield from stale_files.in_storage(self._files.cache_dir, older_than)
        yield from stale_files.temporary(older_than)
        yield from stale_files.of_backups(self._backups)

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

    def _is_old(self, folder: DocumentFolder, age: dt.timedelta) -> bool:
        """Return whether a folder's files are old; not if their age is unknown, or there are none."""
        modified_at = self._files.in_folder(folder.owner).modified_at(folder.document_id)
        return modified_at is not None and dt.datetime.now(dt.UTC) - modified_at >= age

    def _copies(self) -> Iterator[Orphan]:
        """Find cached copies of remote files whose document is gone, of any age."""
        copies = [
            DocumentFolder(path.parent.name, uuid.UUID(path.name))
            for path in self._files.cache_dir.glob("*/*")
            if is_document_id(path.name)
        ]
        for copy in sorted(self._store.all_deletions.unknown(copies)):
            folder = self._files.cache_dir / copy.owner / str(copy.document_id)
            size = sum(path.lstat().st_size for path in folder.glob("*"))
            yield Orphan(
                "copies", size, partial(self._files.in_folder(copy.owner).clear_cached_copies, copy.document_id)
            )


def _repaired(orphan: Orphan) -> bool:
    """Delete or repair an orphan, and return whether that worked; a failure is logged and found again later."""
    try:
        orphan.repair()
    except FileNotFoundError:  # another process did it
        return True
    except (OSError, errors.StoreError) as error:
        logger.warning("%s: what was left behind cannot be cleared away: %s", orphan.kind, error)
        return False
    return True

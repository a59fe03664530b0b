"""Record files that are being written outside our folders, so that partial ones of killed processes can be deleted."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from rag.store.files.atomic_files import PRIVATE_FILE, make_folders, write_atomically

SUFFIX, LOCK_SUFFIX = ".draft", ".lock"


class PartialFiles:
    """A folder of records, each with the path of a file that is being written; its writer holds a lock beside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def writing(self, path: Path) -> Iterator[None]:
        """Record that `path` is being written while the block runs. Raises StoreError or OSError."""
        make_folders(self._folder, self._folder)
        record = self._folder / f"{uuid.uuid4()}{SUFFIX}"
        with filelock.FileLock(record.with_suffix(LOCK_SUFFIX)):  # before the cleanup could find the record
            write_atomically(record, str(path.absolute()), PRIVATE_FILE)
            try:
                yield
            finally:
                record.unlink(missing_ok=True)
        record.with_suffix(LOCK_SUFFIX).unlink(missing_ok=True)

    def abandoned(self) -> list[Path]:
        """Return the records whose writers are dead."""
        return [record for record in sorted(self._folder.glob(f"*{SUFFIX}")) if not _is_locked(record)]

    def target(self, record: Path) -> Path:
        """Return the file that a record names."""
        return Path(record.read_text(encoding="utf-8"))

    def clear(self) -> None:
        """Delete all abandoned files. Raises OSError."""
        for record in self.abandoned():
            self.remove(record)

    def remove(self, record: Path) -> None:
        """Delete an abandoned file and its record."""
        self.target(record).unlink(missing_ok=True)
        record.unlink(missing_ok=True)
        record.with_suffix(LOCK_SUFFIX).unlink(missing_ok=True)


def _is_locked(record: Path) -> bool:
    try:
        with filelock.FileLock(record.with_suffix(LOCK_SUFFIX), blocking=False):
            return False
    except filelock.Timeout:
        return True

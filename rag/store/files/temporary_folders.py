"""What is being written into folders that nobody would look into when the process that writes it is killed."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from rag.store.files import durable_files
from rag.store.files.atomic_files import write_atomically

SUFFIX, LOCK_SUFFIX = ".draft", ".lock"


class PartialFiles:
    """Notes in a folder, each with the path of a draft; a lock beside it is held as long as its process lives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def writing(self, draft: Path) -> Iterator[None]:
        """Note `draft` while the block runs. Raises StoreError or OSError if that cannot be kept."""
        durable_files.make_folders(self._folder, self._folder)
        note = self._folder / f"{uuid.uuid4()}{SUFFIX}"
        with filelock.FileLock(note.with_suffix(LOCK_SUFFIX)):  # before there is a note that a sweep could find
            write_atomically(note, str(draft.absolute()), durable_files.PRIVATE_FILE)
            try:
                yield
            finally:
                note.unlink(missing_ok=True)
        note.with_suffix(LOCK_SUFFIX).unlink(missing_ok=True)

    def abandoned(self) -> list[Path]:
        """The notes that no living process holds."""
        return [note for note in sorted(self._folder.glob(f"*{SUFFIX}")) if not _is_held(note)]

    def target(self, note: Path) -> Path:
        """The draft that a note names."""
        return Path(note.read_text(encoding="utf-8"))

    def clear(self) -> None:
        """Delete all abandoned drafts. Raises OSError."""
        for note in self.abandoned():
            self.remove(note)

    def remove(self, note: Path) -> None:
        """Delete an abandoned draft, and forget it."""
        self.target(note).unlink(missing_ok=True)
        note.unlink(missing_ok=True)
        note.with_suffix(LOCK_SUFFIX).unlink(missing_ok=True)


def _is_held(note: Path) -> bool:
    lock = filelock.FileLock(note.with_suffix(LOCK_SUFFIX), blocking=False)
    try:
        lock.acquire()
    except filelock.Timeout:
        return True
    lock.release()
    return False

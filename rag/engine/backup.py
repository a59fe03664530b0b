"""Backup and restore of a whole installation: everything of all users, so no engine of one user does it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag.config import Config
from rag.engine.resources import Resources
from rag.store import backup, restore
from rag.types import BackupManifest, OnProgress, ignore_progress


def create_backup(config: Config, path: Path, on_progress: OnProgress = ignore_progress) -> BackupManifest:
    """Write the database and the files of the installation that `config` means into a new archive.

    Work on it may go on meanwhile. `on_progress` is told what is at work (`tables`, `files`, `check` …), and how many
    of how many are done (of `check`: bytes).

    Raises:
        errors.ValidationError: there is something at `path`.
        errors.SourceError: it cannot be written.
        errors.StoreError: the database or the file storage fails.
    """
    with _opened(config) as resources:
        _ = resources.store  # brings the schema forward: an archive never has one that no program knows
        return backup.write(resources.database_url, resources.files, path, on_progress)


def check_backup(path: Path, on_progress: OnProgress = ignore_progress) -> BackupManifest:
    """Read a whole archive, compare it with its manifest, and see that it could be restored; needs no database.

    Raises:
        errors.SourceError: there is no such file, or it cannot be read.
        errors.UnreadableFileError: it is damaged, cut off, or no backup.
        errors.UnsupportedFileError: a newer version of Pagelight made it.
    """
    manifest = backup.check(path, on_progress)
    restore.require_known(manifest)
    return manifest


def restore_backup(config: Config, path: Path, on_progress: OnProgress = ignore_progress) -> BackupManifest:
    """Put an archive into the installation that `config` means, which must have nothing yet.

    After an interruption it has nothing still, and the same can be done again. Raises as `check_backup`, and:

    Raises:
        errors.StoreError: the installation has something already, or the database or the file storage fails.
    """
    with _opened(config) as resources:
        return restore.restore(resources.database_url, resources.files, path, on_progress)


@contextmanager
def _opened(config: Config) -> Iterator[Resources]:
    resources = Resources(config)
    try:
        yield resources
    finally:
        resources.close()

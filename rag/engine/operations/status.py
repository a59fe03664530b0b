"""The state of an installation: database, workers and disks, for administrators."""

import datetime as dt
import logging
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from rag import errors, types
from rag.config import Config
from rag.engine.operations import disk_space
from rag.messages import N_
from rag.store import Store

logger = logging.getLogger(__name__)

CONNECTION_WARNING_SHARE = 0.9
"""Share of the database's connections in use from which to warn."""


def read(store: Store, config: Config) -> types.Status:
    """Return the current state. Raises StoreError if the database cannot be reached."""
    figures = store.monitoring
    database = figures.database().model_copy(update={"is_embedded": config.rag_database_url is None})
    workers, lanes, indexes, spaces = (
        figures.workers(),
        figures.lanes(),
        figures.indexes(),
        disk_space.disk_spaces(config),
    )
    return types.Status(
        version=metadata.version("pagelight"),
        at=dt.datetime.now(dt.UTC),
        warnings=(*disk_space.warnings(spaces), *_warnings(database, len(workers), lanes, indexes)),
        database=database,
        workers=workers,
        lanes=lanes,
        running=figures.running(),
        library=figures.library(),
        indexes=indexes,
        counts=figures.counts(),
        disk=spaces,
        backup=last_backup(store),
    )


def _warnings(
    database: types.DatabaseStatus, workers: int, lanes: Sequence[types.LaneStatus], indexes: types.IndexHealth
) -> Iterator[str]:
    waiting = sum(lane.waiting for lane in lanes)
    if waiting and not workers:
        yield N_("{count} waiting, and no worker is alive. Start one: pagelight worker.").format(count=f"{waiting:,}")
    if database.connections >= database.max_connections * CONNECTION_WARNING_SHARE:
        yield (
            N_(
                "{count} of the database's {total} connections are in use. Raise max_connections, or run fewer "
                "processes."
            ).format(count=database.connections, total=database.max_connections)
        )
    if indexes.missing_vectors:
        yield N_("{count} chunks of ready documents have no vector. Re-index: pagelight reindex.").format(
            count=f"{indexes.missing_vectors:,}"
        )
    if indexes.invalid:
        yield N_("Indexes of the database are invalid: {names}. Rebuild them: REINDEX INDEX.").format(
            names=", ".join(indexes.invalid)
        )


def last_backup(store: Store) -> types.BackupRecord | None:
    """Return the last backup, and whether its file still exists."""
    record = store.monitoring.last_backup()
    return record.model_copy(update={"is_present": _is_file(Path(record.path))}) if record else None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # an unmounted disk
        return False


def record_backup(store: Store, path: Path, manifest: types.BackupManifest) -> None:
    """Record a verified backup; a failure to do so is only logged, as the archive itself is good."""
    record = types.BackupRecord(
        created_at=manifest.created_at,
        path=str(path.absolute()),
        bytes=path.stat().st_size,
        documents=manifest.rows["documents"],
        files=len(manifest.files),
        missing=len(manifest.missing),
        verified_at=dt.datetime.now(dt.UTC),
    )
    try:
        store.monitoring.record_backup(record)
    except errors.StoreError as error:
        logger.warning("The backup is written, and the page Status does not know of it: %s", error)

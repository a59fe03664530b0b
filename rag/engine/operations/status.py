"""The state of an installation: database, workers and disks, for administrators."""

import datetime as dt
import logging
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from urllib import parse

from rag import errors, types
from rag.config import Config
from rag.messages import N_
from rag.store.store import Store

MB = 1_000_000
SPACE_FACTOR = 3
"""Disk space per byte of a file: the original, its rendition, and text and vectors in the database."""
PLACE_NAMES = {
    "data": N_("in the data folder"),
    "files": N_("where documents' files are kept"),
    "database": N_("in the database's folder"),
    "temporary": N_("in the folder for temporary files"),
}


def disk_spaces(config: Config) -> tuple[types.DiskSpace, ...]:
    """Return the free space of each local folder that is written to."""
    spaces = (_space(config, place, folder) for place, folder in _folders(config))
    return tuple(space for space in spaces if space)


def _folders(config: Config) -> Iterator[tuple[str, Path]]:
    yield "data", config.rag_data_dir
    address = parse.urlsplit(config.rag_storage_url or "")
    if address.path and address.scheme in ("", "file"):
        yield "files", Path(parse.unquote(address.path))
    if config.rag_database_url is None:
        yield "database", config.database_dir
    yield "temporary", Path(tempfile.gettempdir())


def _space(config: Config, place: str, folder: Path) -> types.DiskSpace | None:
    try:
        present = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        usage = shutil.disk_usage(present)
    except OSError:  # unreadable folder; writing to it reports more
        return None
    warning = config.rag_disk_reserve_mb if place == "temporary" else config.rag_disk_warning_mb
    state = types.DiskState.LOW if usage.free < warning * MB else types.DiskState.GOOD
    if usage.free < _reserve(config, place):
        state = types.DiskState.FULL
    return types.DiskSpace(
        place=place, path=str(folder.absolute()), free_bytes=usage.free, total_bytes=usage.total, state=state
    )


def _reserve(config: Config, place: str) -> int:
    """Return the bytes to keep free; temporary files may fill their folder."""
    return 0 if place == "temporary" else config.rag_disk_reserve_mb * MB


def warnings(spaces: Iterable[types.DiskSpace]) -> tuple[str, ...]:
    """Return warnings without paths, as any user may see them."""
    templates = {
        types.DiskState.LOW: N_("The disk is nearly full: {left} MB left {_where}. Make room soon."),
        types.DiskState.FULL: N_(
            "The disk is nearly full: {left} MB left {_where}. Uploads are refused until there is room."
        ),
    }
    return tuple(
        templates[space.state].format(left=_megabytes(space.free_bytes), _where=PLACE_NAMES[space.place])
        for space in spaces
        if space.state in templates
    )


def _megabytes(count: int) -> str:
    return f"{count / MB:,.0f}"


def require_free_space(config: Config, size: int) -> None:
    """Check that there is space to store and read a file of `size` bytes and keep the reserve.

    Raises DiskFullError if there is not.
    """
    for space in disk_spaces(config):
        needed = size * SPACE_FACTOR + _reserve(config, space.place)
        if space.free_bytes < needed:
            raise errors.DiskFullError(
                N_(
                    "The file is not taken in, for the disk is nearly full: {left} MB are left {_where}, and "
                    "{needed} MB are needed. Make room, then try again; the reserve is set by RAG_DISK_RESERVE_MB."
                ),
                left=_megabytes(space.free_bytes),
                _where=PLACE_NAMES[space.place],
                needed=_megabytes(needed),
                details={"free_bytes": space.free_bytes, "needed_bytes": needed},
            )


logger = logging.getLogger(__name__)

CONNECTION_WARNING_SHARE = 0.9
"""Share of the database's connections in use from which to warn."""


def read(store: Store, config: Config) -> types.Status:
    """Return the current state. Raises StoreError if the database cannot be reached."""
    figures = store.monitoring
    database = figures.database().model_copy(update={"is_embedded": config.rag_database_url is None})
    workers, lanes, indexes, spaces = figures.workers(), figures.lanes(), figures.indexes(), disk_spaces(config)
    return types.Status(
        version=metadata.version("pagelight"),
        at=dt.datetime.now(dt.UTC),
        warnings=(*warnings(spaces), *_warnings(database, len(workers), lanes, indexes)),
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
        yield N_("{count} chunks of ready documents have no vector. Re-index: pagelight api POST /reindex.").format(
            count=f"{indexes.missing_vectors:,}"
        )
    if indexes.invalid:
        yield N_("Indexes of the database are invalid: {names}. Rebuild them: REINDEX INDEX.").format(
            names=", ".join(indexes.invalid)
        )


def last_backup(store: Store) -> types.BackupRecord | None:
    """Return the last backup, and whether its file still exists."""
    record = store.monitoring.last_backup()
    if record is None:
        return None
    try:
        is_present = Path(record.path).is_file()
    except OSError:  # an unmounted disk
        is_present = False
    return record.model_copy(update={"is_present": is_present})


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

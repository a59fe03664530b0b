"""Check free disk space: warn early, and refuse uploads that would use up the reserve."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib import parse

from rag import errors, types
from rag.config import Config
from rag.messages import N_

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
    found = (_space(config, place, folder) for place, folder in _folders(config))
    return tuple(space for space in found if space)


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


def warnings(found: Iterable[types.DiskSpace]) -> tuple[str, ...]:
    """Return warnings without paths, as any user may see them."""
    return tuple(_warning(space) for space in found if space.state is not types.DiskState.GOOD)


def _warning(space: types.DiskSpace) -> str:
    template = N_("The disk is nearly full: {left} MB left {_where}. Make room soon.")
    if space.state is types.DiskState.FULL:
        template = N_("The disk is nearly full: {left} MB left {_where}. Uploads are refused until there is room.")
    return template.format(left=_megabytes(space.free_bytes), _where=PLACE_NAMES[space.place])


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

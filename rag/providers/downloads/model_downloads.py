"""Start, watch and stop downloads of embedding models. Only `start` lets anything leave the machine."""

import atexit
import contextlib
import importlib.util
import json
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

from rag import errors, types
from rag.config import MEGABYTE, Config, download_environment
from rag.messages import N_
from rag.providers.downloads.catalogue import ROWS, find_row, partial_folder


class ModelDownloads:
    """The offered models of an installation and the downloads that this process has started."""

    def __init__(self, config: Config) -> None:
        """Start nothing."""
        self._models = config.models_dir
        self._reserve = config.rag_disk_reserve_mb * MEGABYTE
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._failed: dict[str, errors.Error] = {}
        self._lock = threading.RLock()

    def offered(self) -> tuple[types.DownloadableModel, ...]:
        """Return the models that can be downloaded, the recommended one first."""
        return tuple(row.offer for row in ROWS)

    def is_here(self, name: str) -> bool:
        """Whether the model is complete on this machine."""
        return (self._models / find_row(name).offer.name).is_dir()

    def start(self, name: str) -> None:
        """Start the download of a model, unless it is here or runs.

        Raises:
            errors.ValidationError: the model is not offered.
            errors.ConfigError: fastembed is not installed.
            errors.DiskFullError: too little room is left.
        """
        model = find_row(name).offer
        with self._lock:
            if self.is_here(model.name) or self.is_running(model.name):
                return
            if importlib.util.find_spec("fastembed") is None:
                raise errors.ConfigError(
                    N_('To download models, install fastembed: pip install "pagelight[fastembed]". Then try again.')
                )
            self._models.mkdir(parents=True, exist_ok=True)
            self._require_room(model)
            self._failed.pop(model.name, None)
            self._running[model.name] = subprocess.Popen(
                [sys.executable, "-m", "rag.providers.downloads.process", model.name, str(self._models)],
                env=download_environment(partial_folder(self._models, model.name) / "home"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        atexit.register(self.stop)

    def is_running(self, name: str) -> bool:
        """Whether this process downloads the model."""
        self._collect()
        return find_row(name).offer.name in self._running

    def failure(self, name: str) -> errors.Error | None:
        """Return why the latest download of the model failed, None if it did not."""
        self._collect()
        return self._failed.get(find_row(name).offer.name)

    def done_bytes(self, name: str) -> int:
        """Return how much of an unfinished download has arrived."""
        return _size(partial_folder(self._models, find_row(name).offer.name) / "hub")

    def wait(self, name: str, seconds: float) -> bool:
        """Wait for a download to end, at most `seconds`; return whether it has. Raises why it failed."""
        name = find_row(name).offer.name
        if process := self._running.get(name):
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                return False
        if failure := self.failure(name):
            raise failure
        return True

    def stop(self, name: str | None = None) -> None:
        """Stop one or all downloads of this process; complete files are kept for the next attempt."""
        with self._lock:
            for running, process in self._running.items():
                if name in {None, running}:
                    process.terminate()
                    process.wait()
            self._collect()
            if name:
                self._failed.pop(name, None)  # the user knows

    def _collect(self) -> None:
        """Take note of downloads that have ended."""
        with self._lock:
            for name, process in list(self._running.items()):
                if process.poll() is not None:
                    told, _ = process.communicate()
                    del self._running[name]
                    if process.returncode:
                        self._failed[name] = _failure(name, told)

    def _require_room(self, model: types.DownloadableModel) -> None:
        missing = model.megabytes * MEGABYTE - self.done_bytes(model.name)
        free = shutil.disk_usage(self._models).free
        if free < missing + self._reserve:
            needed = (missing + self._reserve) // MEGABYTE
            raise errors.DiskFullError(
                N_(
                    "{name} needs {needed} MB on the disk of RAG_DATA_DIR, with the reserve of RAG_DISK_RESERVE_MB; "
                    "{free} MB are free. Make room and try again."
                ),
                name=model.name,
                needed=needed,
                free=free // MEGABYTE,
            )


def _failure(name: str, told: str) -> errors.Error:
    """Return the error that a download printed; without one, it was killed."""
    try:
        failure = json.loads(told)
        kind: type[errors.Error] = getattr(errors, failure["kind"])
        return kind(failure["message"])
    except ValueError:
        return errors.ProviderError(
            N_("The download of {name} was interrupted. Start it again: complete files are kept."), name=name
        )


def _size(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # it has just been renamed
            status = path.lstat()
            size += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return size

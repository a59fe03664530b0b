"""What was chosen for all users in the app or by `pagelight models`: a file of the data folder, and vendors' keys.

Every process of the installation holds to it, from the next thing it does on.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import filelock
import pydantic
from pydantic import SecretStr

from rag import errors
from rag.store.files.atomic_files import write_atomically
from rag.store.settings.vendor_keys import VendorKeys
from rag.types import KeyPlace

FILE_NAME = "settings.json"
MODE = 0o644
PATIENCE_SECONDS = 10.0
"""How long another process may be at it."""


class _File(pydantic.BaseModel):
    """What is in the file: settings and their values, settings and where their keys are, and what was put away."""

    choices: dict[str, str] = {}
    keys: dict[str, KeyPlace] = {}
    dismissed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SavedPreferences:
    """What was chosen, by the names of settings. A key that the key ring does not give is among `places` only."""

    choices: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, KeyPlace] = field(default_factory=dict)
    keys: Mapping[str, SecretStr] = field(default_factory=dict)
    dismissed: frozenset[str] = frozenset()


class _Version(NamedTuple):
    """What changes whenever the file does: it is never changed in place."""

    inode: int
    modified_ns: int
    size: int


class Preferences:
    """What is kept in one data folder. No file: nothing was chosen, and no key ring is asked."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE_NAME
        self._keys = VendorKeys(folder)
        self._lock = threading.RLock()
        self._version: _Version | None = None
        self._kept = SavedPreferences()

    def get(self) -> SavedPreferences:
        """What is kept now. The key ring is asked only after a change.

        Raises:
            errors.ConfigError: the file was damaged.
            errors.StoreError: it, or the one with the keys, cannot be read.
        """
        with self._lock:
            version = self._present_version()
            if version != self._version:
                self._kept = self._load() if version else SavedPreferences()
                self._version = version
            return self._kept

    def choose(self, setting: str, value: str | None) -> None:
        """Keep a setting's value, or none. Raises StoreError if it cannot be written."""
        with self._changing() as file:
            file.choices.pop(setting, None)
            if value is not None:
                file.choices[setting] = value

    def put_key(self, setting: str, secret: SecretStr) -> KeyPlace:
        """Keep a vendor's key, and say where. Raises StoreError if it cannot be kept."""
        with self._changing() as file:
            file.keys[setting] = self._keys.put(setting, secret.get_secret_value())
            return file.keys[setting]

    def remove_key(self, setting: str) -> None:
        """Forget a vendor's key. Raises StoreError if the key ring does not let go of it."""
        with self._changing() as file:
            self._keys.remove(setting)
            file.keys.pop(setting, None)

    def dismiss(self, note: str) -> None:
        """Remember that a note was read and put away."""
        with self._changing() as file:
            file.dismissed |= {note}

    def _present_version(self) -> _Version | None:
        try:
            status = self._file.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._unreadable() from error
        return _Version(status.st_ino, status.st_mtime_ns, status.st_size)

    def _load(self) -> SavedPreferences:
        file = self._read()
        found = {setting: self._keys.get(setting, place) for setting, place in file.keys.items()}
        keys = {setting: secret for setting, secret in found.items() if secret is not None}
        return SavedPreferences(choices=file.choices, places=file.keys, keys=keys, dismissed=file.dismissed)

    def _read(self) -> _File:
        try:
            return _File.model_validate_json(self._file.read_text("utf-8"))
        except FileNotFoundError:
            return _File()
        except OSError as error:
            raise self._unreadable() from error
        except ValueError:
            raise errors.ConfigError(
                f"{self._file} is damaged. Correct it, or remove it and choose again on the page Settings."
            ) from None

    def _unreadable(self) -> errors.StoreError:
        return errors.StoreError(f"{self._file} cannot be read. Correct its rights, or remove it.")

    @contextmanager
    def _changing(self) -> Iterator[_File]:
        """What is in the file, to be changed; no other process changes it meanwhile."""
        lock = self._file.with_suffix(".lock")
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            with self._lock, filelock.FileLock(lock, timeout=PATIENCE_SECONDS):
                file = self._read()
                yield file
                write_atomically(self._file, file.model_dump_json(indent=2), MODE)
        except (filelock.Timeout, OSError) as error:
            raise errors.StoreError(f"{self._file} cannot be changed. Check its folder's rights.") from error

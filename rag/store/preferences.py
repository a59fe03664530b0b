"""Settings chosen in the app or by `pagelight models`: a file in the data folder, and vendors' keys.

Every process of the installation reads changes before its next step.
"""

import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock
import pydantic
from pydantic import SecretStr

from rag import errors, types
from rag.messages import N_
from rag.store.files.atomic_files import write_atomically

KEYS_FILE_NAME = "keys.json"
OWNER_ONLY = 0o600

MIN_PRIORITY = 1
"""The lowest priority of recommended key rings; others store nothing, or store it in clear text."""

logger = logging.getLogger(__name__)


class VendorKeys:
    """The keys of one data folder, by setting."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / KEYS_FILE_NAME
        self._service = f"pagelight {folder.absolute()}"

    def put(self, name: str, secret: str) -> types.KeyPlace:
        """Save a key, replacing an earlier one, and return where. Raises StoreError."""
        if self._put_in_ring(name, secret):
            self._write({**self._read(), name: None})
            return types.KeyPlace.KEY_RING
        self._write({**self._read(), name: secret})
        return types.KeyPlace.FILE

    def get(self, name: str, place: types.KeyPlace) -> SecretStr | None:
        """Return the key; None if it no longer exists, or the key ring does not return it."""
        if place is types.KeyPlace.FILE:
            secret = self._read().get(name)
        else:
            secret = self._get_from_ring(name)
        return SecretStr(secret) if secret else None

    def remove(self, name: str) -> None:
        """Delete a key from the key ring and the file. Raises StoreError."""
        import keyring
        from keyring.errors import KeyringError

        self._write({**self._read(), name: None})
        if self._get_from_ring(name) is None:
            return
        try:
            keyring.delete_password(self._service, name)
        except (KeyringError, OSError):
            raise errors.StoreError(
                N_("The key ring of this computer does not let the key be removed. Unlock it and try again.")
            ) from None

    def _put_in_ring(self, name: str, secret: str) -> bool:
        """Save a key in the key ring and return whether it is there: some accept anything and store nothing."""
        import keyring
        from keyring.errors import KeyringError

        if keyring.get_keyring().priority < MIN_PRIORITY:
            return False
        try:
            keyring.set_password(self._service, name, secret)
        except (KeyringError, OSError):
            logger.warning("The key ring does not take %s: it goes into a file.", name.upper())
            return False
        return self._get_from_ring(name) == secret

    def _get_from_ring(self, name: str) -> str | None:
        import keyring
        from keyring.errors import KeyringError

        try:
            return keyring.get_password(self._service, name)
        except (KeyringError, OSError):
            logger.warning("The key ring does not give %s. Is it locked?", name.upper())
            return None

    def _read(self) -> dict[str, str | None]:
        try:
            keys = json.loads(self._file.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            raise errors.StoreError(
                N_("{path} cannot be read. Correct its rights, or remove it."), path=self._file
            ) from None
        return {name: secret for name, secret in keys.items() if isinstance(secret, str)}

    def _write(self, keys: dict[str, str | None]) -> None:
        present = {name: secret for name, secret in keys.items() if secret is not None}
        if present or self._file.exists():
            write_atomically(self._file, json.dumps(present, indent=2), OWNER_ONLY)
        if not present:
            self._file.unlink(missing_ok=True)


FILE_NAME = "settings.json"
MODE = 0o644
LOCK_TIMEOUT_SECONDS = 10.0
"""How long another process may hold the lock."""


class SavedPreferences(pydantic.BaseModel):
    """The content of the file: chosen values and places of keys by setting, and dismissed notes; and the keys.

    A key that the key ring does not return is in `keys` only.
    """

    choices: dict[str, str] = {}
    keys: dict[str, types.KeyPlace] = {}
    dismissed: frozenset[str] = frozenset()
    secrets: dict[str, SecretStr] = pydantic.Field(default={}, exclude=True)


class Preferences:
    """The preferences of one data folder. Without a file nothing is set, and the key ring is not read."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE_NAME
        self._keys = VendorKeys(folder)
        self._lock = threading.RLock()
        self._version: tuple[int, int, int] | None = None
        self._saved = SavedPreferences()

    def get(self) -> SavedPreferences:
        """Return the current preferences. The key ring is only read after a change.

        Raises ConfigError and StoreError.
        """
        with self._lock:
            version = self._current_version()
            if version != self._version:
                self._saved = self._load() if version else SavedPreferences()
                self._version = version
            return self._saved

    def choose(self, setting: str, value: str | None) -> None:
        """Save a setting's value, or remove it. Raises StoreError if it cannot be written."""
        with self._changing() as file:
            file.choices.pop(setting, None)
            if value is not None:
                file.choices[setting] = value

    def put_key(self, setting: str, secret: SecretStr) -> types.KeyPlace:
        """Save a vendor's key and return where. Raises StoreError if it cannot be saved."""
        with self._changing() as file:
            file.keys[setting] = self._keys.put(setting, secret.get_secret_value())
            return file.keys[setting]

    def remove_key(self, setting: str) -> None:
        """Delete a vendor's key. Raises StoreError if the key ring does not delete it."""
        with self._changing() as file:
            self._keys.remove(setting)
            file.keys.pop(setting, None)

    def dismiss(self, note: str) -> None:
        """Save that a note was dismissed."""
        with self._changing() as file:
            file.dismissed |= {note}

    def _current_version(self) -> tuple[int, int, int] | None:
        """Return what changes whenever the file does, which is never changed in place."""
        try:
            status = self._file.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._unreadable() from error
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _load(self) -> SavedPreferences:
        file = self._read()
        secrets = {setting: self._keys.get(setting, place) for setting, place in file.keys.items()}
        return file.model_copy(update={"secrets": {setting: secret for setting, secret in secrets.items() if secret}})

    def _read(self) -> SavedPreferences:
        try:
            return SavedPreferences.model_validate_json(self._file.read_text("utf-8"))
        except FileNotFoundError:
            return SavedPreferences()
        except OSError as error:
            raise self._unreadable() from error
        except ValueError:
            raise errors.ConfigError(
                N_("{path} is damaged. Correct it, or remove it and choose again on the page Settings."),
                path=self._file,
            ) from None

    def _unreadable(self) -> errors.StoreError:
        return errors.StoreError(N_("{path} cannot be read. Correct its rights, or remove it."), path=self._file)

    @contextmanager
    def _changing(self) -> Iterator[SavedPreferences]:
        """Give the content of the file for changes, locked against other processes, and save it."""
        lock = self._file.with_suffix(".lock")
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            with self._lock, filelock.FileLock(lock, timeout=LOCK_TIMEOUT_SECONDS):
                file = self._read()
                yield file
                write_atomically(self._file, file.model_dump_json(indent=2), MODE)
        except (filelock.Timeout, OSError) as error:
            raise errors.StoreError(
                N_("{path} cannot be changed. Check its folder's rights."), path=self._file
            ) from error

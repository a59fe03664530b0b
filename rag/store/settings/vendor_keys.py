"""API keys of vendors, in the operating system's key ring or else in a file that only its owner can read."""

import json
import logging
from pathlib import Path

from pydantic import SecretStr

from rag import errors, types
from rag.messages import N_
from rag.store.files.atomic_files import write_atomically

FILE_NAME = "keys.json"
OWNER_ONLY = 0o600

MIN_PRIORITY = 1
"""The lowest priority of recommended key rings; others store nothing, or store it in clear text."""

logger = logging.getLogger(__name__)


class VendorKeys:
    """The keys of one data folder, by setting."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE_NAME
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
        """Save the keys that are not None; without any delete the file."""
        present = {name: secret for name, secret in keys.items() if secret is not None}
        if present or self._file.exists():
            write_atomically(self._file, json.dumps(present, indent=2), OWNER_ONLY)
        if not present:
            self._file.unlink(missing_ok=True)

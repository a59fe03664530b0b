"""Key rings for tests, with the interface of the keyring library."""

from collections.abc import Iterator
from contextlib import contextmanager

import keyring
from keyring import backend, errors


class MemoryKeyring(backend.KeyringBackend):
    """An in-memory key ring, which fails while it is `locked`."""

    priority = 5

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.asked = 0
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        self._open()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._open()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._open()
        if (service, username) not in self.kept:
            raise errors.PasswordDeleteError("not found")
        del self.kept[service, username]

    def _open(self) -> None:
        if self.locked:
            raise errors.KeyringLocked("locked")


@contextmanager
def using(ring: backend.KeyringBackend) -> Iterator[backend.KeyringBackend]:
    """Make `ring` the key ring of this process."""
    before = keyring.get_keyring()
    keyring.set_keyring(ring)
    try:
        yield ring
    finally:
        keyring.set_keyring(before)

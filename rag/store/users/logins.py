"""Logins of browsers: each can be ended here, whatever its cookie says."""

import builtins
import datetime as dt
import uuid
from collections.abc import Sequence

from rag.store.server import named_queries
from rag.store.server.database import Connection, UserDatabase
from rag.store.users import audit_log
from rag.store.users.accounts import SEEN_SECONDS, OwnAccount, join_groups, lock, note_change
from rag.types import Login, Role


class Logins:
    """A user's rows of the table `logins`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("accounts")

    def open(
        self,
        login_id: uuid.UUID,
        started_at: dt.datetime,
        *,
        name: str | None = None,
        email: str | None = None,
        role: Role | None = None,
        groups: Sequence[str] | None = None,
    ) -> None:
        """Open a login, and keep what it says of the user. `groups` replace those that an earlier login brought.

        A role or groups that are None stay as they are. One that is open, was ended, or was issued before all were
        ended changes nothing.
        """
        parameters = self._database.bind({"login_id": login_id, "started_at": started_at})
        with self._database.transaction() as connection:
            before = lock(self._database, connection)
            if before is None or not connection.execute(self._queries["open_login"], parameters).fetchall():
                return
            told = {**parameters, "name": name, "email": email, "role": role and role.value}
            for after in connection.execute(self._queries["log_in"], told).fetchall():
                note_change(self._database, connection, "role", before["role"], after["role"], by_login=True)
            if groups is not None:
                join_groups(self._database, connection, groups, by_login=True)
            self._note(connection, "open")

    def is_open(self, login_id: uuid.UUID) -> bool:
        """Whether a login was opened and has not been ended."""
        asked = {"login_id": login_id, "precision_seconds": SEEN_SECONDS}
        row = self._database.one(self._queries["find_login"], asked)
        if row and row["is_stale"]:
            self._database.write(self._queries["touch_login"], {"login_id": login_id})
            OwnAccount(self._database).see()
        return row is not None

    def accepts(self, issued_at: dt.datetime) -> bool:
        """Whether what was issued to the user then, such as a token, may still open something."""
        row = self._database.one(self._queries["accepts"], {"issued_at": issued_at})
        return bool(row and row["accepted"])

    def list(self, lifetime: dt.timedelta) -> builtins.list[Login]:
        """Those that are not older than `lifetime` and were not ended, the last seen first."""
        found = self._database.all(self._queries["list_logins"], {"lifetime_seconds": lifetime.total_seconds()})
        return [Login.model_validate(row) for row in found]

    def end(self, login_id: uuid.UUID) -> None:
        """End a login: its cookie opens nothing any more."""
        with self._database.transaction() as connection:
            bound = self._database.bind({"login_id": login_id})
            if connection.execute(self._queries["end_login"], bound).rowcount:
                self._note(connection, "end")

    def end_all(self) -> None:
        """End every login, and refuse every token issued until now."""
        with self._database.transaction() as connection:
            bound = self._database.bind({})
            for query in ("ensure", "end_what_was_issued", "end_logins"):
                connection.execute(self._queries[query], bound)
            self._note(connection, "end_all")

    def _note(self, connection: Connection, what: str) -> None:
        audit_log.note(
            self._database, connection, f"login.{what}", audit_log.Subject("account", self._database.user_id)
        )

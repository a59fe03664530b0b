"""Browser logins, which can be ended here regardless of their cookies."""

import builtins
import datetime as dt
import uuid
from collections.abc import Sequence

from rag import types
from rag.store.server.database import Connection, Queries, UserDatabase
from rag.store.users import audit_log
from rag.store.users.accounts import SEEN_SECONDS, OwnAccount, audit_change, lock, replace_groups


class Logins:
    """A user's rows of the table `logins`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "accounts")

    def open(
        self,
        login_id: uuid.UUID,
        started_at: dt.datetime,
        *,
        name: str | None = None,
        email: str | None = None,
        role: types.Role | None = None,
        groups: Sequence[str] | None = None,
    ) -> None:
        """Open a login and save what the provider says of the user. `groups` replace those of an earlier login.

        A role or groups of None are kept. Nothing happens for a login that is open or was ended, or that was issued
        before all logins were ended.
        """
        with self._database.transaction() as connection:
            before = lock(self._database, connection)
            login = {"login_id": login_id, "started_at": started_at}
            if before is None or not self._queries.run(connection, "open_login", **login).fetchall():
                return
            profile = {"name": name, "email": email, "role": role and role.value}
            for after in self._queries.run(connection, "log_in", **login, **profile).fetchall():
                audit_change(self._database, connection, "role", before["role"], after["role"], by_login=True)
            if groups is not None:
                replace_groups(self._database, connection, groups, by_login=True)
            self._audit(connection, "open")

    def is_open(self, login_id: uuid.UUID) -> bool:
        """Return whether a login was opened and has not been ended."""
        row = self._queries.one("find_login", login_id=login_id, precision_seconds=SEEN_SECONDS)
        if row and row["is_stale"]:
            self._queries.write("touch_login", login_id=login_id)
            OwnAccount(self._database).see()
        return row is not None

    def accepts(self, issued_at: dt.datetime) -> bool:
        """Return whether a token that was issued to the user at that time is still valid."""
        row = self._queries.one("accepts", issued_at=issued_at)
        return bool(row and row["accepted"])

    def list(self, lifetime: dt.timedelta) -> builtins.list[types.Login]:
        """Return open logins that are not older than `lifetime`, the last seen first."""
        rows = self._queries.all("list_logins", lifetime_seconds=lifetime.total_seconds())
        return [types.Login(**row) for row in rows]

    def end(self, login_id: uuid.UUID) -> None:
        """End a login, so that its cookie is refused."""
        with self._database.transaction() as connection:
            if self._queries.run(connection, "end_login", login_id=login_id).rowcount:
                self._audit(connection, "end")

    def end_all(self) -> None:
        """End every login, and refuse every token issued until now."""
        with self._database.transaction() as connection:
            for query in ("ensure", "end_what_was_issued", "end_logins"):
                self._queries.run(connection, query)
            self._audit(connection, "end_all")

    def _audit(self, connection: Connection, what: str) -> None:
        subject = audit_log.Subject("account", self._database.user_id)
        audit_log.add_entry(self._database, connection, f"login.{what}", subject)

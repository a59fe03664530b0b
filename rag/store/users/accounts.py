"""Accounts: who may do what, and what they use of the installation."""

import builtins
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from rag import errors
from rag.config import MEGABYTE
from rag.store.jobs.jobs import to_job
from rag.store.server import named_queries
from rag.store.server.database import Connection, Database, Row, UserDatabase
from rag.store.users import audit_log
from rag.store.users.api_keys import to_key
from rag.types import Account, AccountUse, ApiKey, Job, Role, Storage

CHANGES = {"role": "account.role", "groups": "account.groups", "quota_bytes": "account.quota"}
"""What the audit calls a change of each."""
SEEN_SECONDS = 60.0
"""How often it is written down at most that somebody was there, so that not every request writes."""


class OwnAccount:
    """A user's row of the table `accounts`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("accounts")

    def get(self) -> Account:
        """The account; that of a member where there is no row."""
        row = self._database.one(self._queries["get"], {})
        return _to_account(row) if row else Account(user_id=self._database.user_id)

    def storage(self, default_quota: int | None) -> Storage:
        """How many bytes are used, of how many; `default_quota` is that of whoever has none of their own."""
        row = self._database.all(self._queries["storage"], {"quota_bytes": default_quota})[0]
        return Storage.model_validate(row)

    def lock_quota(self, connection: Connection, default_quota: int | None) -> int | None:
        """The user's quota, with the right to be the only one who adds to what they have until the transaction ends."""
        connection.execute(self._queries["ensure"], self._database.bind({}))
        bound = self._database.bind({"quota_bytes": default_quota})
        row = connection.execute(self._queries["lock_quota"], bound).fetchone()
        return row["quota_bytes"] if row else default_quota

    def require_room(self, name: str, size: int, default_quota: int | None) -> None:
        """Raises QuotaError where the user has no room for a file of so many bytes."""
        row = self._database.one(self._queries["has_room"], {"quota_bytes": default_quota, "size": size})
        if row is None or row["has_room"]:
            return
        storage = self._database.one(self._queries["storage"], {"quota_bytes": default_quota})
        if storage is None:
            raise errors.QuotaError(f"There is no room for {name}: the collection's owner has used what they may.")
        raise over_quota(name, size, Storage.model_validate(storage))

    def see(self) -> None:
        """The user is here; the first time a row is made."""
        self._database.write(self._queries["see"], {"precision_seconds": SEEN_SECONDS})

    def set_role(self, role: Role) -> None:
        """Give the user a role."""
        self._change("set_role", "role", role.value)

    def set_quota(self, quota_bytes: int | None) -> None:
        """Allow the user so many bytes of originals; None is what the installation allows."""
        self._change("set_quota", "quota_bytes", quota_bytes)

    def set_language(self, language: str | None) -> None:
        """Have the pages in this language; None is that of the browser."""
        with self._database.transaction() as connection:
            connection.execute(self._queries["ensure"], self._database.bind({}))
            connection.execute(self._queries["set_language"], self._database.bind({"language": language}))

    def set_groups(self, groups: Sequence[str]) -> None:
        """Have the user in these groups, and in those that a login brings."""
        with self._database.transaction() as connection:
            if lock(self._database, connection):
                join_groups(self._database, connection, groups, by_login=False)

    def _change(self, statement: str, name: str, value: object) -> None:
        with self._database.transaction() as connection:
            before = lock(self._database, connection)
            if before:
                connection.execute(self._queries[statement], self._database.bind({name: value}))
                note_change(self._database, connection, name, before[name], value)


def lock(database: UserDatabase, connection: Connection) -> Row | None:
    """Role and quota of the account, made if there is none, which nobody else changes until the transaction ends.

    None of a name that can have no account.
    """
    connection.execute(named_queries.load("accounts")["ensure"], database.bind({}))
    return connection.execute(named_queries.load("accounts")["lock"], database.bind({})).fetchone()


def join_groups(database: UserDatabase, connection: Connection, groups: Sequence[str], *, by_login: bool) -> None:
    """Have the user in these groups in the place of those that came the same way: by a login, or from an admin.

    The account is locked, and there.
    """
    statements = named_queries.load("accounts")
    parameters = database.bind({"groups": [*groups], "by_login": by_login})
    before = _groups(connection, parameters)
    connection.execute(statements["leave_groups"], parameters)
    connection.execute(statements["join_groups"], parameters)
    note_change(database, connection, "groups", before, _groups(connection, parameters), by_login=by_login)


def _groups(connection: Connection, parameters: Mapping[str, object]) -> list[str]:
    found = connection.execute(named_queries.load("accounts")["groups"], parameters).fetchall()
    return [row["group_name"] for row in found]


def note_change(
    database: UserDatabase, connection: Connection, name: str, before: object, after: object, *, by_login: bool = False
) -> None:
    """Tell in the audit of a value of the account that is another now; `by_login` of what the login provider says."""
    if after == before:
        return
    details = {name: after, f"previous_{name}": before} | ({"by_login": True} if by_login else {})
    subject = audit_log.Subject("account", database.user_id)
    audit_log.note(database, connection, CHANGES[name], subject, details=details)


class Accounts:
    """The accounts of all users, for their admins. It asks for no user: who may see this is for the doors to say."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = named_queries.load("accounts")

    def list(self, lifetime: dt.timedelta) -> builtins.list[AccountUse]:
        """Everybody who was seen or owns something, and what they use; logins are those not older than `lifetime`."""
        found = self._database.all(self._queries["list_all"], {"lifetime_seconds": lifetime.total_seconds()})
        return [AccountUse.model_validate(_grouped(row)) for row in found]

    def api_keys(self) -> builtins.list[ApiKey]:
        """Everybody's API keys without their secrets, expired and revoked ones too, the latest first."""
        return [to_key(row) for row in self._database.all(self._queries["all_keys"], {})]

    def jobs(self, limit: int) -> builtins.list[Job]:
        """Everybody's jobs without their results, the latest first."""
        return [to_job(row) for row in self._database.all(self._queries["all_jobs"], {"limit": limit})]


def _to_account(row: Mapping[str, Any]) -> Account:
    return Account.model_validate(_grouped(row))


def _grouped(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "groups": tuple(row["groups"]), "groups_by_login": tuple(row["groups_by_login"])}


def over_quota(name: str, size: int, storage: Storage) -> errors.QuotaError:
    """What is raised of a file of so many bytes that the user has no room for."""
    return errors.QuotaError(
        f"{name} has {_mb(size)} MB, and you use {_mb(storage.used_bytes)} of {_mb(storage.quota_bytes or 0)} MB. "
        "Delete documents for good (those in the trash and old versions count, too), or ask an administrator for more.",
        details={"size": size, "used_bytes": storage.used_bytes, "quota_bytes": storage.quota_bytes},
    )


def _mb(size: int) -> str:
    return f"{size / MEGABYTE:,.1f}"

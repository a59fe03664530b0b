"""User accounts: roles, groups, quotas, what users store, and logins, which can be ended whatever their cookies say."""

import builtins
import datetime as dt
import uuid
from collections.abc import Sequence

from rag import errors, types
from rag.config import MEGABYTE
from rag.messages import N_
from rag.store.jobs.jobs import to_job
from rag.store.server.database import Connection, Database, Queries, Row, UserDatabase
from rag.store.users import audit_log

AUDIT_ACTIONS = {"role": "account.role", "groups": "account.groups", "quota_bytes": "account.quota"}
"""The audit log's names for changes of an account."""
SEEN_SECONDS = 60.0
"""Precision of the time when a user was last seen, or a key last used, so that not every request writes."""


class OwnAccount:
    """A user's row of the table `accounts`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "accounts")

    def get(self) -> types.Account:
        """Return the account; that of a member if there is no row."""
        row = self._queries.one("get")
        return types.Account(**row) if row else types.Account(user_id=self._database.user_id)

    def storage(self, default_quota: int | None) -> types.Storage:
        """Return the bytes used and allowed; `default_quota` is for users without one of their own."""
        return types.Storage(**self._queries.all("storage", quota_bytes=default_quota)[0])

    def lock_quota(self, connection: Connection, default_quota: int | None) -> int | None:
        """Return the user's quota, locked until the transaction ends so that no other upload uses it."""
        self._queries.run(connection, "ensure")
        row = self._queries.run(connection, "lock_quota", quota_bytes=default_quota).fetchone()
        return row["quota_bytes"] if row else default_quota

    def require_room(self, name: str, size: int, default_quota: int | None) -> None:
        """Raise QuotaError if a file of `size` bytes would exceed the user's quota."""
        if self._queries.value("has_room", quota_bytes=default_quota, size=size) is not False:
            return
        storage = self._queries.one("storage", quota_bytes=default_quota)
        if storage is None:
            raise errors.QuotaError(
                N_("There is no room for {name}: the collection's owner has used what they may."), name=name
            )
        raise over_quota(name, size, types.Storage(**storage))

    def see(self) -> None:
        """Update when the user was last seen, and create the row if there is none."""
        self._queries.write("see", precision_seconds=SEEN_SECONDS)

    def set_role(self, role: types.Role) -> None:
        """Set the user's role."""
        self._change("set_role", "role", role.value)

    def set_quota(self, quota_bytes: int | None) -> None:
        """Set the user's quota in bytes of originals; None means the installation's default."""
        self._change("set_quota", "quota_bytes", quota_bytes)

    def set_language(self, language: str | None) -> None:
        """Set the language of the user's pages; None means that of the browser."""
        with self._database.transaction() as connection:
            self._queries.run(connection, "ensure")
            self._queries.run(connection, "set_language", language=language)

    def set_groups(self, groups: Sequence[str]) -> None:
        """Set the groups that an admin gave the user; those from the login provider stay."""
        with self._database.transaction() as connection:
            if self._lock(connection):
                self._replace_groups(connection, groups, by_login=False)

    def _change(self, query: str, name: str, value: object) -> None:
        with self._database.transaction() as connection:
            before = self._lock(connection)
            if before:
                self._queries.run(connection, query, **{name: value})
                self._audit_change(connection, name, before[name], value)

    def _lock(self, connection: Connection) -> Row | None:
        """Return the account's role and quota, locked until the transaction ends; create the account if needed.

        None for a name that cannot have an account.
        """
        self._queries.run(connection, "ensure")
        return self._queries.run(connection, "lock").fetchone()

    def _replace_groups(self, connection: Connection, groups: Sequence[str], *, by_login: bool) -> None:
        """Replace the groups of the locked account that came the same way: from a login, or from an admin."""

        def present() -> list[str]:
            return [row["group_name"] for row in self._queries.run(connection, "groups", by_login=by_login)]

        before = present()
        for query in ("leave_groups", "join_groups"):
            self._queries.run(connection, query, groups=[*groups], by_login=by_login)
        self._audit_change(connection, "groups", before, present(), by_login=by_login)

    def _audit_change(
        self, connection: Connection, name: str, before: object, after: object, *, by_login: bool = False
    ) -> None:
        """Record a changed value in the audit log; `by_login` marks values of the login provider."""
        if after == before:
            return
        details = {name: after, f"previous_{name}": before} | ({"by_login": True} if by_login else {})
        subject = audit_log.Subject("account", self._database.user_id)
        audit_log.add_entry(self._database, connection, AUDIT_ACTIONS[name], subject, details=details)


class Logins:
    """A user's rows of the table `logins`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "accounts")
        self._account = OwnAccount(database)

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
            before = self._account._lock(connection)
            login = {"login_id": login_id, "started_at": started_at}
            if before is None or not self._queries.run(connection, "open_login", **login).fetchall():
                return
            profile = {"name": name, "email": email, "role": role and role.value}
            for after in self._queries.run(connection, "log_in", **login, **profile).fetchall():
                self._account._audit_change(connection, "role", before["role"], after["role"], by_login=True)
            if groups is not None:
                self._account._replace_groups(connection, groups, by_login=True)
            self._audit(connection, "open")

    def is_open(self, login_id: uuid.UUID) -> bool:
        """Return whether a login was opened and has not been ended."""
        row = self._queries.one("find_login", login_id=login_id, precision_seconds=SEEN_SECONDS)
        if row and row["is_stale"]:
            self._queries.write("touch_login", login_id=login_id)
            self._account.see()
        return row is not None

    def accepts(self, issued_at: dt.datetime) -> bool:
        """Return whether a token that was issued to the user at that time is still valid."""
        return bool(self._queries.value("accepts", issued_at=issued_at))

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


class Accounts:
    """The accounts of all users. The caller has to check that the user is an admin, where it is not a key that asks."""

    def __init__(self, database: Database) -> None:
        self._queries = Queries(database, "accounts")
        self._keys = Queries(database, "api_keys")

    def list(self, lifetime: dt.timedelta) -> builtins.list[types.AccountUse]:
        """Return every user who was seen or owns something, with usage; logins older than `lifetime` do not count."""
        rows = self._queries.all("list_all", lifetime_seconds=lifetime.total_seconds())
        return [types.AccountUse(**row) for row in rows]

    def api_keys(self) -> builtins.list[types.ApiKey]:
        """Return all users' API keys without secrets, expired and revoked ones too, the latest first."""
        return [types.ApiKey(**row) for row in self._queries.all("all_keys")]

    def find_key(self, digest: bytes) -> types.ApiKey | None:
        """Return the valid key whose secret has this SHA-256 digest, of any user; None if there is none.

        The database need not compare digests in constant time: nobody can choose a secret by the start of its digest.
        """
        row = self._keys.one("find", digest=digest, precision_seconds=SEEN_SECONDS)
        if row is None:
            return None
        if row.pop("is_stale"):
            self._keys.write("touch", user_id=row["user_id"], key_id=row["id"], precision_seconds=SEEN_SECONDS)
            self._queries.write("see", user_id=row["user_id"], precision_seconds=SEEN_SECONDS)
        return types.ApiKey(**row)

    def keys_exist(self) -> bool:
        """Return whether anyone has a key that was not revoked; an expired one counts, or it would open access."""
        return bool(self._keys.value("exist"))

    def jobs(self, limit: int) -> builtins.list[types.Job]:
        """Return all users' jobs without their results, the latest first."""
        return [to_job(row) for row in self._queries.all("all_jobs", limit=limit)]


def over_quota(name: str, size: int, storage: types.Storage) -> errors.QuotaError:
    """Return the error for a file of `size` bytes that exceeds the quota."""
    file_mb, used_mb, quota_mb = (
        f"{size / MEGABYTE:,.1f}" for size in (size, storage.used_bytes, storage.quota_bytes or 0)
    )
    return errors.QuotaError(
        N_(
            "{name} has {size} MB, and you use {used} of {quota} MB. Delete documents for good (those in the trash and "
            "old versions count, too), or ask an administrator for more."
        ),
        name=name,
        size=file_mb,
        used=used_mb,
        quota=quota_mb,
        details={"size": size, "used_bytes": storage.used_bytes, "quota_bytes": storage.quota_bytes},
    )


MINUTE_SECONDS = 60.0


class RateLimits:
    """The table `request_rates`. It only says of each caller that they made requests lately."""

    def __init__(self, database: Database) -> None:
        self._queries = Queries(database, "rate_limits")

    def count(self, who: str, per_minute: int) -> float:
        """Count a request of `who` unless it exceeds the limit; return the seconds until the next is allowed, or 0.

        `per_minute` requests are allowed at once, and then as many per minute, evenly spread.
        """
        return max(
            float(row["wait"]) for row in self._queries.write("count", who=who, share=MINUTE_SECONDS / per_minute)
        )

    def forget(self) -> None:
        """Delete the counts of callers without recent requests."""
        self._queries.write("forget")


class ApiKeys:
    """A user's rows of the table `api_keys`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "api_keys")

    def create(
        self,
        *,
        name: str,
        digest: bytes,
        hint: str,
        permissions: Sequence[types.Permission],
        expires_at: dt.datetime | None = None,
    ) -> types.ApiKey:
        """Add a key for a secret with this SHA-256 `digest`."""
        values = {"name": name, "digest": digest, "hint": hint, "permissions": [*permissions], "expires_at": expires_at}
        return self._write("create", id=uuid.uuid4(), **values)[0]

    def list(self) -> builtins.list[types.ApiKey]:
        """Return the user's keys, expired and revoked ones too, the latest first."""
        return [types.ApiKey(**row) for row in self._queries.all("list")]

    def revoke(self, key_id: uuid.UUID) -> types.ApiKey:
        """Revoke a key at once. Raises NotFoundError."""
        revoked = self._write("revoke", key_id=key_id)
        if not revoked:
            raise errors.NotFoundError(N_("There is no key {id}. List the keys and check the id."), id=key_id)
        return revoked[0]

    def _write(self, query: str, **parameters: object) -> builtins.list[types.ApiKey]:
        with self._database.transaction() as connection:
            keys = [types.ApiKey(**row) for row in self._queries.run(connection, query, **parameters)]
            for key in keys:
                subject = audit_log.Subject("key", str(key.id), key.name)
                details = {"hint": key.hint, "permissions": [*key.permissions]}
                audit_log.add_entry(self._database, connection, f"key.{query}", subject, details=details)
        return keys

"""Accounts: who may do what, what they use of the installation, and in which browsers they are logged in."""

import builtins
import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from rag import errors
from rag.config import MEGABYTE
from rag.store import queries
from rag.store.api_keys import to_key
from rag.store.database import Connection, Database, UserDatabase
from rag.store.jobs import to_job
from rag.types import Account, AccountUse, ApiKey, Job, Login, Role, Storage

SEEN_SECONDS = 60.0
"""How often it is written down at most that somebody was there, so that not every request writes."""


class OwnAccount:
    """A user's row of the table `accounts`, and the logins."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = queries.load("accounts")

    def get(self) -> Account:
        """The account; that of a member where there is no row."""
        row = self._database.one(self._queries["get"], {})
        return _to_account(row) if row else Account(user_id=self._database.user_id)

    def storage(self, default_quota: int | None) -> Storage:
        """How many bytes are used, of how many; `default_quota` is that of whoever has none of their own."""
        row = self._database.one(self._queries["storage"], {"quota_bytes": default_quota})
        return Storage.model_validate(row)

    def lock_quota(self, connection: Connection, default_quota: int | None) -> int | None:
        """The user's quota, with the right to be the only one who adds to what they have until the transaction ends."""
        connection.execute(self._queries["ensure"], self._database.bind({}))
        bound = self._database.bind({"quota_bytes": default_quota})
        row = connection.execute(self._queries["lock_quota"], bound).fetchone()
        return row["quota_bytes"] if row else default_quota

    def require_room(self, name: str, size: int, default_quota: int | None) -> None:
        """Raises QuotaError where the user has no room for a file of so many bytes."""
        storage = self.storage(default_quota)
        if storage.quota_bytes is not None and storage.used_bytes + size > storage.quota_bytes:
            raise over_quota(name, size, storage)

    def see(self) -> None:
        """The user is here; the first time a row is made."""
        self._database.write(self._queries["see"], {"precision_seconds": SEEN_SECONDS})

    # --- logins ---

    def log_in(
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
            connection.execute(self._queries["ensure"], parameters)
            if not connection.execute(self._queries["open_login"], parameters).fetchall():
                return
            told = {**parameters, "name": name, "email": email, "role": role and role.value}
            connection.execute(self._queries["log_in"], told)
            if groups is not None:
                self._join(connection, groups, by_login=True)

    def is_logged_in(self, login_id: uuid.UUID) -> bool:
        """Whether a login was opened and has not been ended."""
        asked = {"login_id": login_id, "precision_seconds": SEEN_SECONDS}
        row = self._database.one(self._queries["find_login"], asked)
        if row and row["is_stale"]:
            self._database.write(self._queries["touch_login"], {"login_id": login_id})
            self.see()
        return row is not None

    def accepts(self, issued_at: dt.datetime) -> bool:
        """Whether what was issued to the user then, such as a token, may still open something."""
        row = self._database.one(self._queries["accepts"], {"issued_at": issued_at})
        return bool(row and row["accepted"])

    def logins(self, lifetime: dt.timedelta) -> list[Login]:
        """Those that are not older than `lifetime` and were not ended, the last seen first."""
        found = self._database.all(self._queries["list_logins"], {"lifetime_seconds": lifetime.total_seconds()})
        return [Login.model_validate(row) for row in found]

    def log_out(self, login_id: uuid.UUID) -> None:
        """End a login: its cookie opens nothing any more."""
        self._database.write(self._queries["end_login"], {"login_id": login_id})

    def log_out_everywhere(self) -> None:
        """End every login, and refuse every token issued until now."""
        with self._database.transaction() as connection:
            bound = self._database.bind({})
            for query in ("ensure", "end_what_was_issued", "end_logins"):
                connection.execute(self._queries[query], bound)

    # --- what an admin changes ---

    def set_role(self, role: Role) -> None:
        """Give the user a role."""
        self._change("set_role", {"role": role.value})

    def set_quota(self, quota_bytes: int | None) -> None:
        """Allow the user so many bytes of originals; None is what the installation allows."""
        self._change("set_quota", {"quota_bytes": quota_bytes})

    def set_groups(self, groups: Sequence[str]) -> None:
        """Have the user in these groups, and in those that a login brings."""
        with self._database.transaction() as connection:
            connection.execute(self._queries["ensure"], self._database.bind({}))
            self._join(connection, groups, by_login=False)

    def _change(self, query: str, parameters: Mapping[str, object]) -> None:
        with self._database.transaction() as connection:
            connection.execute(self._queries["ensure"], self._database.bind({}))
            connection.execute(self._queries[query], self._database.bind(parameters))

    def _join(self, connection: Connection, groups: Sequence[str], *, by_login: bool) -> None:
        parameters = self._database.bind({"groups": [*groups], "by_login": by_login})
        connection.execute(self._queries["leave_groups"], parameters)
        connection.execute(self._queries["join_groups"], parameters)


class Accounts:
    """The accounts of all users, for their admins. It asks for no user: who may see this is for the doors to say."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = queries.load("accounts")

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

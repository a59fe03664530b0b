"""The audit: rows that are added in the transaction of what they tell, and read."""

import builtins
import datetime as dt
import uuid
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import psycopg
from psycopg.types.json import Jsonb

from rag import errors
from rag.store.server import named_queries
from rag.store.server.connection_pool import configure
from rag.store.server.database import Connection, Database, UserDatabase, connect, store_errors
from rag.types import AuditEntry, AuditFilter

EVERYTHING = AuditFilter()
LIMIT = 1000
PAST_ONLY = "The audit lets go of what is past only. Give a date that is not in the future."


class Subject(NamedTuple):
    """What something was done to."""

    kind: str = ""
    id: str = ""
    name: str = ""


NOTHING = Subject()


class Audit:
    """What a user did, and what was done to the user's things."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("audit")

    def list(
        self,
        asked: AuditFilter = EVERYTHING,
        *,
        limit: int | None = LIMIT,
        below: int | None = None,
    ) -> builtins.list[AuditEntry]:
        """The latest first, those with an id `below` one."""
        found = self._database.all(self._queries["list"], _asked(asked, limit, below) | {"sees_all": False})
        return [AuditEntry(**row) for row in found]

    def note(self, action: str, *subjects: Subject, owner: str | None = None, **details: object) -> None:
        """Tell of what is no statement of this database, such as a login or an export, by an entry for each subject."""
        with self._database.transaction() as connection:
            for subject in subjects or (NOTHING,):
                note(self._database, connection, action, subject, owner=owner, details=details)


class AuditOfAllUsers:
    """What everybody did: for admins; who is one, the caller knows."""

    def __init__(self, database: Database, admin_url: str) -> None:
        """`admin_url` is that of the tables' owner, who alone may let entries go."""
        self._database = database
        self._admin_url = admin_url
        self._queries = named_queries.load("audit")

    def list(
        self, asked: AuditFilter = EVERYTHING, *, limit: int | None = LIMIT, below: int | None = None
    ) -> builtins.list[AuditEntry]:
        """See `Audit.list`."""
        parameters = _asked(asked, limit, below) | {"sees_all": True, "user_id": ""}
        return [AuditEntry(**row) for row in self._database.all(self._queries["list"], parameters)]

    def forget(self, before: dt.datetime, *, actor: str, door: str) -> int:
        """Let go of what is older, and tell that `actor` did; returns how much.

        Raises:
            errors.ValidationError: `before` is in the future.
            errors.StoreError: the administrator's account may not.
        """
        parameters = {"before": before, "actor": actor, "door": door}
        with store_errors(), connect(self._admin_url, asks=True) as connection:
            configure(connection)  # so that the entry that tells of it has its times in UTC
            try:
                rows = connection.execute(self._queries["forget"], parameters).fetchall()
            except psycopg.errors.InvalidParameterValue as error:
                raise errors.ValidationError(PAST_ONLY) from error
        return int(rows[0]["rows"])


def _asked(asked: AuditFilter, limit: int | None, below: int | None) -> dict[str, object]:
    return {
        "since": asked.since,
        "until": asked.until,
        "of_actor": asked.actor or None,
        "of_action": asked.action or None,
        "limit": limit,
        "below": below,
    }


def note(
    database: UserDatabase,
    connection: Connection,
    action: str,
    subject: Subject = NOTHING,
    *,
    owner: str | None = None,
    details: Mapping[str, object] | None = None,
) -> None:
    """Add an entry in a transaction: it is there if, and only if, what it tells is.

    `owner` is whose thing it is done to, if not the user's; `details` hold no text of documents.
    """
    parameters = {
        "action": action,
        "owner": owner,
        "subject_kind": subject.kind,
        "subject_id": subject.id,
        "subject_name": subject.name,
        "details": Jsonb(dict(details or {})),
    }
    connection.execute(named_queries.load("audit")["note"], database.bind(parameters))


def add_document_entries(database: UserDatabase, connection: Connection, action: str, ids: Iterable[uuid.UUID]) -> None:
    """Add an entry for each of some documents, which are still there, in a transaction."""
    if asked := [*ids]:
        connection.execute(
            named_queries.load("audit")["note_documents"], database.bind({"action": action, "ids": asked})
        )

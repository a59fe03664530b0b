"""The audit: rows that are added in the transaction of what they tell, and read."""

import builtins
import datetime as dt
import uuid
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from psycopg.types.json import Jsonb

from rag.store import queries
from rag.store.database import Connection, UserDatabase
from rag.types import AuditEntry, AuditFilter

EVERYTHING = AuditFilter()
LIMIT = 1000


class Subject(NamedTuple):
    """What something was done to."""

    kind: str = ""
    id: str = ""
    name: str = ""


NOTHING = Subject()


class Audit:
    """What a user did, and what was done to the user's things; of all for who sees all."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = queries.load("audit")

    def list(
        self,
        asked: AuditFilter = EVERYTHING,
        *,
        sees_all: bool = False,
        limit: int | None = LIMIT,
        below: int | None = None,
    ) -> builtins.list[AuditEntry]:
        """The latest first, those with an id `below` one; whether the user `sees_all`, the caller knows."""
        parameters = {
            "since": asked.since,
            "until": asked.until,
            "of_actor": asked.actor or None,
            "of_action": asked.action or None,
            "sees_all": sees_all,
            "limit": limit,
            "below": below,
        }
        return [AuditEntry(**row) for row in self._database.all(self._queries["list"], parameters)]

    def note(self, action: str, subject: Subject = NOTHING, *, owner: str | None = None, **details: object) -> None:
        """Tell of what is no statement of this database, such as a login or an export."""
        with self._database.transaction() as connection:
            note(self._database, connection, action, subject, owner=owner, details=details)

    def forget(self, before: dt.datetime) -> int:
        """Let go of what is older, and tell so; returns how much. For who owns the table.

        Raises:
            errors.StoreError: the database's account may not.
        """
        return int(self._database.write(self._queries["forget"], {"before": before})[0]["rows"])


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
    connection.execute(queries.load("audit")["note"], database.bind(parameters))


def note_documents(database: UserDatabase, connection: Connection, action: str, ids: Iterable[uuid.UUID]) -> None:
    """Add an entry for each of some documents, which are still there, in a transaction."""
    if asked := [*ids]:
        connection.execute(queries.load("audit")["note_documents"], database.bind({"action": action, "ids": asked}))

"""The audit log: entries are added in the transaction of what they record."""

import builtins
import datetime as dt
import uuid
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import psycopg
from psycopg.types.json import Jsonb

from rag import errors, types
from rag.store.server.database import Connection, Database, Queries, UserDatabase, configure, connect, store_errors
from rag.store.server.named_queries import load

EVERYTHING = types.AuditFilter()
LIMIT = 1000
PAST_ONLY = "The audit lets go of what is past only. Give a date that is not in the future."


class Subject(NamedTuple):
    """What an action was done to."""

    kind: str = ""
    id: str = ""
    name: str = ""


NO_SUBJECT = Subject()


class Audit:
    """Entries about what a user did, and what was done to the user's data."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "audit")

    def list(
        self, filters: types.AuditFilter = EVERYTHING, *, limit: int | None = LIMIT, below: int | None = None
    ) -> builtins.list[types.AuditEntry]:
        """Return entries, the latest first; `below` gives those with a smaller id."""
        return _list(self._queries, filters, limit=limit, below=below, sees_all=False)

    def add(self, action: str, *subjects: Subject, owner: str | None = None, **details: object) -> None:
        """Add an entry for each subject about an action outside this database, such as a login or an export."""
        with self._database.transaction() as connection:
            for subject in subjects or (NO_SUBJECT,):
                add_entry(self._database, connection, action, subject, owner=owner, details=details)


class AuditOfAllUsers:
    """Entries of all users. The caller has to check that the user is an admin."""

    def __init__(self, database: Database, admin_url: str) -> None:
        """`admin_url` is the URL of the tables' owner, the only account that may delete entries."""
        self._admin_url = admin_url
        self._queries = Queries(database, "audit")

    def list(
        self, filters: types.AuditFilter = EVERYTHING, *, limit: int | None = LIMIT, below: int | None = None
    ) -> builtins.list[types.AuditEntry]:
        """Return entries, the latest first; `below` gives those with a smaller id."""
        return _list(self._queries, filters, limit=limit, below=below, sees_all=True, user_id="")

    def forget(self, before: dt.datetime, *, actor: str, door: str) -> int:
        """Delete entries before a time, record that `actor` did so, and return their number. Raises ValidationError."""
        with store_errors(), connect(self._admin_url, renews=True) as connection:
            configure(connection)  # so that the times in the new entry are in UTC
            try:
                cursor = self._queries.run(connection, "forget", before=before, actor=actor, door=door)
            except psycopg.errors.InvalidParameterValue as error:
                raise errors.ValidationError(PAST_ONLY) from error
            return int(cursor.fetchall()[0]["rows"])


def _list(queries: Queries, filters: types.AuditFilter, **parameters: object) -> list[types.AuditEntry]:
    wanted = {"of_actor": filters.actor or None, "of_action": filters.action or None}
    rows = queries.all("list", since=filters.since, until=filters.until, **wanted, **parameters)
    return [types.AuditEntry(**row) for row in rows]


def add_entry(
    database: UserDatabase,
    connection: Connection,
    action: str,
    subject: Subject = NO_SUBJECT,
    *,
    owner: str | None = None,
    details: Mapping[str, object] | None = None,
) -> None:
    """Add an entry in the transaction of the action, so that there is one exactly if the action happens.

    `owner` is the owner of the subject if that is another user; `details` hold no text of documents.
    """
    parameters = {
        "action": action,
        "owner": owner,
        "subject_kind": subject.kind,
        "subject_id": subject.id,
        "subject_name": subject.name,
        "details": Jsonb(dict(details or {})),
    }
    connection.execute(load("audit")["add"], database.bind(parameters))


def add_document_entries(database: UserDatabase, connection: Connection, action: str, ids: Iterable[uuid.UUID]) -> None:
    """Add an entry for each of some existing documents, in the transaction of the action."""
    if document_ids := [*ids]:
        asked = database.bind({"action": action, "ids": document_ids})
        documents = connection.execute(load("audit")["documents"], asked).fetchone() or {}
        connection.execute(load("audit")["add_documents"], asked | documents)

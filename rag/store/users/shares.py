"""Shares: which user or group may use which collection of another user, and their access to it.

In a shared collection three checks protect the rest of the owner's data, and none of them trusts the caller:

- each transaction starts as the asker's, and checks that the index is still shared (`shared_with`) by the same owner;
- only statements that are restricted to one index in their SQL (`:within`) are run, all others are refused;
- a share for reading gets a read-only transaction.
"""

import builtins
import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import psycopg

from rag import errors, types
from rag.messages import N_
from rag.store.files.file_storage import UserFiles
from rag.store.files.pending_deletions import PendingDeletions
from rag.store.library import documents
from rag.store.library.documents import Documents
from rag.store.library.indexes import to_index, unknown_index
from rag.store.search.chunks import Chunks
from rag.store.search.dense import DenseSearch
from rag.store.server import named_queries
from rag.store.server.database import (
    UNKNOWN_ORIGIN,
    Connection,
    Database,
    Queries,
    Row,
    Statement,
    UserDatabase,
    set_user,
)
from rag.store.users import audit_log

ACTIONS = {"share": "share.give", "unshare": "share.withdraw"}
"""What the audit log calls the statements that change shares."""


class Shares:
    """The shares that a user gives others, and has from others."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "shares")

    def list(self, index_id: uuid.UUID | None = None) -> builtins.list[types.Share]:
        """Return the user's shares, of one index or of all."""
        return [types.Share(**row) for row in self._queries.all("list", index_id=index_id)]

    def colleagues(self, *, is_admin: bool) -> builtins.list[types.Grantee]:
        """Return all other users, then all groups, by name; none for a user who may not share. See `share`."""
        return [types.Grantee(**row) for row in self._queries.all("colleagues", is_admin=is_admin)]

    def share(self, index_id: uuid.UUID, request: types.ShareRequest, *, is_admin: bool = False) -> bool:
        """Share an index, or change the permission; False if the user may not, or has no such index.

        `is_admin` is true for users whom the configuration, not the account's role, makes admins.
        """
        with self._database.transaction() as connection:
            may_share = self._queries.run(connection, "may_share", is_admin=is_admin).fetchone() is not None
            return may_share and self._write(connection, "share", index_id=index_id, **request.model_dump())

    def unshare(self, index_id: uuid.UUID, request: types.ShareRequest) -> bool:
        """Delete a share; False if there was none."""
        with self._database.transaction() as connection:
            return self._write(connection, "unshare", index_id=index_id, **request.model_dump())

    def _write(self, connection: Connection, query: str, **parameters: object) -> bool:
        row = self._queries.run(connection, query, **parameters).fetchone()
        if row is None:
            return False
        details = {name: row[name] for name in ("grantee_kind", "grantee", "permission")}
        subject = audit_log.Subject("index", str(row["index_id"]), row["name"])
        audit_log.add_entry(self._database, connection, ACTIONS[query], subject, details=details)
        return True

    def shared_with_me(self) -> builtins.list[types.SharedIndex]:
        """Return the collections that others share with the user."""
        return [
            types.SharedIndex(index=to_index(row), owner_name=row["owner_name"], permission=row["permission"])
            for row in self._queries.all("shared_with_me")
        ]

    def matrices(self) -> builtins.list[types.ListedMatrix]:
        """Return the matrices of the collections that others share with the user, the latest first."""
        names, rows = types.ListedMatrix.model_fields, self._queries.all("matrices")
        return [types.ListedMatrix(**{name: row[name] for name in names}) for row in rows]

    def holding(self, document_id: uuid.UUID) -> uuid.UUID:
        """Return the shared collection that a document is in. Raises NotFoundError if it is in none."""
        index_id: uuid.UUID | None = self._queries.value("holding", document_id=document_id)
        if index_id is None:
            raise documents.missing(self._database, document_id)
        return index_id


WITHIN = "%(within)s"


class SharedDatabase(UserDatabase):
    """A database seen by `asker` within one index that another user shares with them.

    The parameter `user_id` is the owner's id, `within` is the index.
    """

    def __init__(
        self, database: Database, asker: str, index_id: uuid.UUID, origin: types.RequestOrigin = UNKNOWN_ORIGIN
    ) -> None:
        """Raises NotFoundError if the index is not shared with the asker."""
        self.asker = asker
        self.index_id = index_id
        share = UserDatabase(database, asker).read(self._shared)
        if share is None:
            raise unknown_index(index_id)
        super().__init__(database, share["user_id"], origin)
        self.may_write = share["permission"] == "write"

    @property
    def url(self) -> str:
        """No connection outside the pool for shared collections: raises ForbiddenError."""
        raise refused()

    def bind(self, parameters: Mapping[str, object]) -> dict[str, object]:
        """Return the parameters of a statement within the index; a share for reading does not include the trash."""
        within = {"within": self.index_id, "with_trash": self.may_write, "asker": self.asker}
        return {**parameters, "user_id": self.user_id, **within, "actor": self.asker, **self.origin._asdict()}

    @contextmanager
    def transaction(self, *, long: bool = False) -> Iterator[Connection]:
        """Run the block in a transaction while the index is shared; read-only if it is shared for reading.

        Raises:
            errors.NotFoundError: it is no longer shared.
            errors.ForbiddenError: a statement is not meant for shared collections, or writes and may not.
        """
        with self._database.transaction(long=long, first=[self._askers_entrance]) as connection:
            permission = self._enter(connection)
            if permission == "write":
                connection.execute(named_queries.load("shares")["hold"], self.bind({}))
                connection.execute(self._askers_entrance, prepare=False)
                permission = self._enter(connection)  # it may have been withdrawn before it was locked
            if permission == "read":
                connection.execute(named_queries.load("session")["read_only"])
            with self._restricted(connection):
                yield connection

    @contextmanager
    def reading(self, *, in_snapshot: bool) -> Iterator[Connection]:
        """Run the block in a read-only transaction while the index is shared."""
        mode = named_queries.load("session")["snapshot" if in_snapshot else "read_only"]
        with self._database.transaction(first=[mode, self._askers_entrance]) as connection:
            self._enter(connection)
            with self._restricted(connection):
                yield connection

    @contextmanager
    def _restricted(self, connection: Connection) -> Iterator[None]:
        plain = connection.cursor_factory
        connection.cursor_factory = _restricted_to(self, with_trash=self.may_write)
        try:
            yield
        except psycopg.errors.ReadOnlySqlTransaction as error:
            raise refused() from error
        finally:
            connection.cursor_factory = plain

    @property
    def _askers_entrance(self) -> Statement:
        """The statement that sets the asker as the transaction's user, who alone may see what is shared with them."""
        return set_user(self.asker)

    def _enter(self, connection: Connection) -> types.SharePermission:
        """Return the asker's permission, and make the transaction the owner's.

        Raises NotFoundError if the index is not shared, or not by that owner.
        """
        row = self._shared(connection)
        if row is None or row["user_id"] != self.user_id:
            raise unknown_index(self.index_id)
        connection.execute(self.user_statement, prepare=False)
        permission: types.SharePermission = row["permission"]
        self.may_write = permission == "write"
        return permission

    def _shared(self, connection: Connection) -> Row | None:
        parameters = {"asker": self.asker, "within": self.index_id}
        return connection.execute(named_queries.load("shares")["access"], parameters).fetchone()

    def require_place(self, document_id: uuid.UUID) -> None:
        """Check that files may be stored for a document: it is visible to the asker, or does not exist yet.

        Raises NotFoundError and ForbiddenError.
        """
        self._require("place", document_id)

    def require_unused(self, document_id: uuid.UUID) -> None:
        """Check that no document has this id. Raises as `require_place`."""
        self._require("unused", document_id)

    def _require(self, statement: str, document_id: uuid.UUID) -> None:
        if not Queries(self, "shares").one(statement, document_id=document_id) or not self.may_write:
            raise refused()

    @property
    def owners(self) -> UserDatabase:
        """The owner's own view, for statements that are restricted otherwise."""
        return UserDatabase(self._database, self.user_id)

    @property
    def permission(self) -> types.SharePermission:
        """The asker's permission as of the last transaction."""
        return "write" if self.may_write else "read"


class SharedChunks(Chunks):
    """The chunks of a shared index."""

    def __init__(self, bound: SharedDatabase, dense: DenseSearch, documents: Documents) -> None:
        super().__init__(bound, dense)
        self._documents = documents
        self._access = bound
        self._owners = Chunks(bound.owners, dense)

    def refresh_front(self, document_id: uuid.UUID, front: str) -> None:
        """Replace the front of a document that the asker may rename, as its owner; see `Chunks.refresh_front`.

        Raises NotFoundError and ForbiddenError.
        """
        self._documents.get(document_id)
        if self._access.permission != "write":
            raise refused()
        self._owners.refresh_front(document_id, front)


class SharedDeletions(PendingDeletions):
    """The files of uploads into a shared index that have no document yet."""

    def __init__(self, bound: SharedDatabase) -> None:
        super().__init__(bound.owners)
        self._access = bound
        self._drafts: set[uuid.UUID] = set()

    def draft(self, document_id: uuid.UUID) -> None:
        """Register an upload, see `PendingDeletions.draft`. Raises ForbiddenError for a share for reading."""
        self._access.require_unused(document_id)
        super().draft(document_id)
        self._drafts.add(document_id)

    def delete_files(self, files: UserFiles, document_id: uuid.UUID, older_than: dt.timedelta | None = None) -> None:
        """Delete the files of the asker's own failed upload. Raises ForbiddenError for any others."""
        if document_id not in self._drafts:
            raise refused()
        super().delete_files(files, document_id, older_than)


def _restricted_to(database: SharedDatabase, *, with_trash: bool) -> type[psycopg.Cursor[Any]]:
    """Return a cursor class that only runs statements whose SQL and parameters are restricted to the index."""

    class Restricted(psycopg.Cursor[Any]):
        def execute(self, query: Any, params: Any = None, **more: Any) -> Any:
            values = params or {}
            is_bound = (values.get("user_id"), values.get("within")) == (database.user_id, database.index_id)
            text = query if isinstance(query, str) else query.as_string(self)
            if WITHIN not in text or not is_bound or (values["with_trash"] and not with_trash):
                raise refused()
            return super().execute(query, params, **more)

        def executemany(self, *_: Any, **__: Any) -> NoReturn:
            raise refused()

        def copy(self, *_: Any, **__: Any) -> NoReturn:
            raise refused()

        def stream(self, *_: Any, **__: Any) -> NoReturn:
            raise refused()

    return Restricted


def refused() -> errors.ForbiddenError:
    """Return the error for what a share does not allow."""
    return errors.ForbiddenError(
        N_("This collection is another's, and is not shared for that. Ask its owner to do it, or to let you.")
    )

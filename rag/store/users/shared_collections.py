"""A collection of another user's, as far as it is shared, and as long.

Three things keep it apart from all else that its owner has, and none of them trusts a caller:

- each transaction begins, as the asker's, by looking whether the share still stands (`shared_with`), and to whom the
  index belongs;
- only statements that are restricted to one index in their SQL are run (`:within`), so one that was never meant for
  this is refused, whatever it is;
- who may only read gets a read-only transaction of PostgreSQL.
"""

import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import psycopg

from rag import errors
from rag.store.files.pending_deletions import PendingDeletions
from rag.store.library.documents import Documents
from rag.store.search.chunks import Chunks
from rag.store.search.dense import DenseSearch
from rag.store.server import named_queries
from rag.store.server.connection_pool import BoundStatement
from rag.store.server.database import UNKNOWN_ORIGIN, Connection, Database, Row, UserDatabase
from rag.types import SharePermission, Whence

WITHIN = "%(within)s"


class SharedDatabase(UserDatabase):
    """A database as statements of `asker` see it within one index that another user shares with them.

    The parameter `user_id` is the owner's, `within` is the index.
    """

    def __init__(self, database: Database, asker: str, index_id: uuid.UUID, origin: Whence = UNKNOWN_ORIGIN) -> None:
        """Raises NotFoundError if nobody shares it with the asker."""
        self.asker = asker
        self.index_id = index_id
        found = UserDatabase(database, asker).read(self._shared)
        if found is None:
            raise self._unknown()
        super().__init__(database, found["user_id"], origin)
        self.may_write = found["permission"] == "write"

    @property
    def url(self) -> str:
        """Not for who is shared something with. Raises ForbiddenError."""
        raise refused()

    def bind(self, parameters: Mapping[str, object]) -> dict[str, object]:
        """The parameters of a statement within the index; who only reads does not see its trash."""
        within = {"within": self.index_id, "with_trash": self.may_write, "asker": self.asker}
        return {**parameters, "user_id": self.user_id, **within, "actor": self.asker, **self.origin._asdict()}

    @contextmanager
    def transaction(self, *, long: bool = False) -> Iterator[Connection]:
        """A transaction as long as the index is shared; read-only if it is shared for reading.

        Raises:
            errors.NotFoundError: it is not shared any more.
            errors.ForbiddenError: a statement is none of those for shared collections, or writes and may not.
        """
        with self._database.transaction(long=long, first=[self._askers_entrance]) as connection:
            permission = self._enter(connection)
            if permission == "write":
                connection.execute(named_queries.load("shares")["hold"], self.bind({}))
                connection.execute(*self._askers_entrance)
                permission = self._enter(connection)  # what was withdrawn before it could be held is gone now
            if permission == "read":
                connection.execute(named_queries.load("session")["read_only"])
            with self._restricted(connection):
                yield connection

    @contextmanager
    def reading(self, *, in_snapshot: bool) -> Iterator[Connection]:
        """The same, read-only whatever the right."""
        mode: BoundStatement = (named_queries.load("session")["snapshot" if in_snapshot else "read_only"], {})
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
    def _askers_entrance(self) -> BoundStatement:
        """Lets the server say what is shared with the asker, which it tells nobody else."""
        return named_queries.load("walls")["bind"], {"user_id": self.asker}

    def _enter(self, connection: Connection) -> SharePermission:
        """What the asker, whose transaction it is, may now; from here on it is the owner's.

        Raises NotFoundError if the index is not shared, or not by that owner.
        """
        row = self._shared(connection)
        if row is None or row["user_id"] != self.user_id:
            raise self._unknown()
        connection.execute(*self.user_statement)
        permission: SharePermission = row["permission"]
        self.may_write = permission == "write"
        return permission

    def _shared(self, connection: Connection) -> Row | None:
        """Who shares the index with the asker now, and for what."""
        parameters = {"asker": self.asker, "within": self.index_id}
        return connection.execute(named_queries.load("shares")["access"], parameters).fetchone()

    def _unknown(self) -> errors.NotFoundError:
        return errors.NotFoundError(f"There is no index {self.index_id}. List the indexes and check the id.")

    def require_place(self, document_id: uuid.UUID) -> None:
        """See that a file may be put beside a document's others: it is in sight, or there is none of this id yet.

        Raises:
            errors.NotFoundError: the index is not shared any more.
            errors.ForbiddenError: it is shared for reading, or the document is none of the index.
        """
        self._require("place", document_id)

    def require_unused(self, document_id: uuid.UUID) -> None:
        """See that there is no document of this id. Raises as `require_place`."""
        self._require("unused", document_id)

    def _require(self, statement: str, document_id: uuid.UUID) -> None:
        if not self.one(named_queries.load("shares")[statement], {"document_id": document_id}) or not self.may_write:
            raise refused()

    @property
    def owners(self) -> UserDatabase:
        """The same as its owner's statements see it: for what is restricted otherwise."""
        return UserDatabase(self._database, self.user_id)

    @property
    def permission(self) -> SharePermission:
        """What the asker may, as of the last transaction."""
        return "write" if self.may_write else "read"


class SharedChunks(Chunks):
    """The chunks of a shared index."""

    def __init__(self, bound: SharedDatabase, dense: DenseSearch, documents: Documents) -> None:
        super().__init__(bound, dense)
        self._documents = documents
        self._access = bound
        self._owners = Chunks(bound.owners, dense)

    def refresh_front(self, document_id: uuid.UUID, front: str) -> None:
        """See `Chunks.refresh_front`: in the owner's name, of a document that the asker may rename.

        Raises:
            errors.NotFoundError: there is no such document in the index, or it is not shared any more.
            errors.ForbiddenError: it is shared for reading.
        """
        self._documents.get(document_id)
        if self._access.permission != "write":
            raise refused()
        self._owners.refresh_front(document_id, front)


class SharedDeletions(PendingDeletions):
    """The files of uploads into a shared index, until they are its documents'."""

    def __init__(self, bound: SharedDatabase) -> None:
        super().__init__(bound.owners)
        self._access = bound
        self._drafts: set[uuid.UUID] = set()

    def draft(self, document_id: uuid.UUID) -> None:
        """See `Deletions.draft`. Raises ForbiddenError for who may only read."""
        self._access.require_unused(document_id)
        super().draft(document_id)
        self._drafts.add(document_id)

    @contextmanager
    def taking(self, document_id: uuid.UUID, older_than: dt.timedelta | None = None) -> Iterator[bool]:
        """See `Deletions.taking`: of one's own upload that became no document. Raises ForbiddenError of any other."""
        if document_id not in self._drafts:
            raise refused()
        with super().taking(document_id, older_than) as is_unowned:
            yield is_unowned


def _restricted_to(database: SharedDatabase, *, with_trash: bool) -> type[psycopg.Cursor[Any]]:
    """Cursors that run a statement only if it is restricted to the index in its SQL, with the right values."""

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
    """What is raised where a share does not reach."""
    return errors.ForbiddenError(
        "This collection is another's, and is not shared for that. Ask its owner to do it, or to let you."
    )

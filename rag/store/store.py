"""The store: one user's data by noun, and the few queries over all users.

Any of its methods raises `errors.StoreError` if the database or the file storage fails.
"""

import contextlib
import uuid
from functools import cached_property
from pathlib import Path
from typing import Self

from rag import errors, types
from rag.store.conversations.caches import Caches, EmbeddingCache
from rag.store.conversations.chats import AnswerLinks, Conversations
from rag.store.conversations.matrices import Matrices
from rag.store.files.file_storage import UserFiles
from rag.store.files.pending_deletions import AllPendingDeletions, PendingDeletions
from rag.store.jobs.jobs import Jobs
from rag.store.jobs.queue import Queue
from rag.store.jobs.scheduling import DocumentScheduler, JobScheduler
from rag.store.jobs.status import Health, Monitoring
from rag.store.library import documents
from rag.store.library.documents import (
    Annotations,
    Attachments,
    Sources,
    Versions,
)
from rag.store.library.indexes import Indexes, SavedFilters
from rag.store.search.chunks import Chunks
from rag.store.search.dense import DenseSearch
from rag.store.search.embedding_generations import Generations
from rag.store.server import database_roles, distribution, migrations, timeouts
from rag.store.server.database import UNKNOWN_ORIGIN, Database, UserDatabase, connect, store_errors
from rag.store.server.read_replica import ReplicatedDatabase
from rag.store.users import accounts
from rag.store.users.accounts import Logins, RateLimits
from rag.store.users.audit_log import Audit, AuditOfAllUsers
from rag.store.users.shares import SharedChunks, SharedDatabase, SharedDeletions, Shares


class UserStore:
    """One user's data by noun, each opened on first use; other users' data behaves as if it did not exist."""

    def __init__(self, database: UserDatabase, dense: DenseSearch) -> None:
        self.database = database
        self.dense = dense

    @property
    def user_id(self) -> str:
        """The user whose data it is."""
        return self.database.user_id

    indexes = cached_property(lambda store: Indexes(store.database))
    generations = cached_property(lambda store: Generations(store.database, store.dense))
    documents = cached_property(lambda store: documents.Documents(store.database))
    pending_deletions = cached_property(lambda store: PendingDeletions(store.database))
    sources = cached_property(lambda store: Sources(store.database))
    versions = cached_property(lambda store: Versions(store.database))
    attachments = cached_property(lambda store: Attachments(store.database))
    chunks = cached_property(lambda store: Chunks(store.database, store.dense))
    embedding_cache = cached_property(lambda store: EmbeddingCache(store.database))
    caches = cached_property(lambda store: Caches(store.database))
    conversations = cached_property(lambda store: Conversations(store.database))
    answer_links = cached_property(lambda store: AnswerLinks(store.database))
    account = cached_property(lambda store: accounts.OwnAccount(store.database))
    logins = cached_property(lambda store: Logins(store.database))
    api_keys = cached_property(lambda store: accounts.ApiKeys(store.database))
    jobs = cached_property(lambda store: Jobs(store.database))
    saved_filters = cached_property(lambda store: SavedFilters(store.database))
    annotations = cached_property(lambda store: Annotations(store.database, store.documents))
    matrices = cached_property(lambda store: Matrices(store.database))
    shares = cached_property(lambda store: Shares(store.database))
    audit = cached_property(lambda store: Audit(store.database))

    def put_rendition(self, files: UserFiles, document_id: uuid.UUID, path: Path) -> None:
        """Store a document's rendition, unless the document is purged meanwhile.

        The file is stored before the row is checked: a later purge finds the file, and an earlier one is noticed.
        Raises NotFoundError.
        """
        files.put(document_id, "rendition", path)
        try:
            self.documents.get(document_id)
        except errors.NotFoundError:
            self.pending_deletions.delete_files(files, document_id)
            raise


class SharedStore(UserStore):
    """A collection that another user shares with `asker`, together with the asker's own chats, caches and so on."""

    def __init__(self, database: SharedDatabase, dense: DenseSearch, asker: UserDatabase) -> None:
        super().__init__(database, dense)
        self.access = database
        self.asker = UserStore(asker, dense)

    pending_deletions = cached_property(lambda store: SharedDeletions(store.access))
    chunks = cached_property(lambda store: SharedChunks(store.access, store.dense, store.documents))
    conversations = cached_property(lambda store: Conversations(store.asker.database, store.user_id))
    annotations = cached_property(lambda store: Annotations(store.asker.database, store.documents))
    embedding_cache = cached_property(lambda store: store.asker.embedding_cache)
    caches = cached_property(lambda store: store.asker.caches)
    answer_links = cached_property(lambda store: store.asker.answer_links)
    account = cached_property(lambda store: store.asker.account)
    logins = cached_property(lambda store: store.asker.logins)
    saved_filters = cached_property(lambda store: store.asker.saved_filters)
    audit = cached_property(lambda store: store.asker.audit)


class Store:
    """The database of all users: one per process, for any number of threads. `of` returns one user's part."""

    def __init__(self, database: Database, of_all_users: Database, access: database_roles.Access) -> None:
        self._database = database
        self._of_all_users = of_all_users
        self._access = access
        self._dense = DenseSearch(database)
        self.queue = Queue(of_all_users)
        self.document_scheduler = DocumentScheduler(of_all_users)
        self.job_scheduler = JobScheduler(of_all_users)
        self.all_deletions = AllPendingDeletions(of_all_users)
        self.accounts = accounts.Accounts(of_all_users)
        self.monitoring = Monitoring(of_all_users)
        self.rate_limits = RateLimits(of_all_users)
        self.audit = AuditOfAllUsers(of_all_users, access.admin)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        pool_size: int = 8,
        admin_url: str | None = None,
        as_roles: bool = False,
        answer_seconds: float = timeouts.TIMEOUT_SECONDS,
        replica_url: str | None = None,
    ) -> Self:
        """Connect to `url` (in libpq's form) and migrate its schema; see `database_roles.prepare`.

        `answer_seconds` is the timeout of requests, except for work that is known to take long. Searches run on the
        read replica at `replica_url` while that is up to date.

        Raises:
            errors.StoreUnavailableError: the server cannot be reached, or does not answer.
            errors.StoreError: it has no pgvector, or the account lacks rights.
        """
        timeouts.breaker_for(url).timeout_seconds = answer_seconds
        with store_errors(), connect(database_roles.administrator(admin_url or url), renews=True) as admin:
            access = database_roles.prepare(admin, url, admin_url, as_roles=as_roles)
            migrations.upgrade(admin)
        app = Database(access.app, pool_size=pool_size)
        if replica_url:
            replica = Database(database_roles.replica(replica_url, access), pool_size=pool_size)
            app = ReplicatedDatabase(access.app, replica, pool_size=pool_size)
        worker = Database(access.worker, pool_size=(pool_size + 1) // 2)
        with contextlib.ExitStack() as undo:
            for database in (app, worker):
                undo.callback(database.close)
                database.open()
            if access.is_enforced:
                database_roles.require_role(app)
            undo.pop_all()
        return cls(app, worker, access)

    def of(self, user_id: str, origin: types.RequestOrigin = UNKNOWN_ORIGIN, *, actor: str | None = None) -> UserStore:
        """Return one user's data, with the user bound to every statement.

        For the audit, `origin` is where the request came from, and `actor` who acts if it is not the user.
        """
        return UserStore(UserDatabase(self._database, user_id, origin, actor=actor), self._dense)

    def shared(self, asker: str, index_id: uuid.UUID, origin: types.RequestOrigin = UNKNOWN_ORIGIN) -> SharedStore:
        """Return a collection that another user shares with `asker`, for as long and as far as it is shared.

        Raises NotFoundError.
        """
        access = SharedDatabase(self._database, asker, index_id, origin)
        return SharedStore(access, self._dense, UserDatabase(self._database, asker, origin))

    # --- of all users ---

    @property
    def backup_url(self) -> str:
        """The URL that can read all rows and write none. It may contain a password."""
        return self._access.backup

    def row_security(self) -> database_roles.RowSecurity:
        """Return how the database itself keeps users apart."""
        return database_roles.row_security(self._database)

    def distribution(self) -> types.Distribution | None:
        """Return where the tables are in a Citus cluster; None if they are not distributed."""
        return self._of_all_users.read(distribution.describe)

    def distribute(self) -> types.Distribution:
        """Distribute the tables over the nodes of a Citus cluster, see `distribution.distribute`. Raises StoreError."""
        with connect(self._access.admin, renews=True) as connection:
            return distribution.distribute(connection, migrations.tables())

    def health(self, seconds: float | None = None) -> Health:
        """Return the state of the database, within a timeout. Raises StoreUnavailableError."""
        with self._of_all_users.time_limit(seconds):
            return self.monitoring.health()

    def use_background_timeouts(self) -> None:
        """Use the longer timeouts of a background process, for a database that may only be very busy."""
        timeouts.breaker_for(self._database.url).check_timeout_seconds = timeouts.BACKGROUND_CHECK_TIMEOUT_SECONDS

    def close(self) -> None:
        """Close all connections."""
        self._of_all_users.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

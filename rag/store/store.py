"""Everything that is kept in the database, by noun."""

from types import TracebackType
from typing import Self

from rag.store import health, migrations
from rag.store.api_keys import ApiKeys
from rag.store.caches import Caches
from rag.store.chunks import Chunks
from rag.store.conversations import Conversations
from rag.store.database import Database
from rag.store.documents import Documents
from rag.store.embedding_cache import EmbeddingCache
from rag.store.generations import Generations
from rag.store.indexes import Indexes
from rag.store.jobs import Jobs
from rag.store.queue import Queue


class Store:
    """The database of all users; one per process, for any number of threads.

    Every method takes the user (or a scope that names one) first, and what belongs to others behaves as if it did
    not exist.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.indexes = Indexes(database)
        self.generations = Generations(database)
        self.documents = Documents(database)
        self.chunks = Chunks(database)
        self.embedding_cache = EmbeddingCache(database)
        self.caches = Caches(database)
        self.conversations = Conversations(database)
        self.api_keys = ApiKeys(database)
        self.jobs = Jobs(database)
        self.queue = Queue(database)

    @classmethod
    def open(cls, url: str, *, pool_size: int = 8) -> Self:
        """Connect to `url` (as libpq takes it) and bring its schema forward.

        Raises:
            errors.StoreError: the server cannot be reached, has no pgvector, or the account lacks rights.
        """
        migrations.migrate(url)
        database = Database(url, pool_size=pool_size)
        database.open()
        return cls(database)

    def health(self) -> health.Health:
        """What the database says of itself. Raises StoreError if it cannot be reached."""
        return health.read(self._database)

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

"""Everything that is kept in the database: of one user by noun, and the little that is asked of all users."""

import uuid
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rag.store import api_keys, documents, health, jobs, migrations
from rag.store.caches import Caches
from rag.store.catalogue import Catalogue
from rag.store.chunks import Chunks
from rag.store.conversations import Conversations
from rag.store.database import Database, UserDatabase
from rag.store.deletions import AllDeletions, Deletions
from rag.store.dense import DenseSearch
from rag.store.embedding_cache import EmbeddingCache
from rag.store.generations import Generations
from rag.store.glossaries import Glossary
from rag.store.indexes import Indexes
from rag.store.lanes import Lanes
from rag.store.parts import Parts
from rag.store.queue import Queue
from rag.store.readings import Readings
from rag.store.saved_filters import SavedFilters
from rag.store.sources import Sources
from rag.store.vectors import Vectors
from rag.store.versions import Versions
from rag.types import ApiKey


class UserStore:
    """What one user has in the database, by noun; what belongs to others behaves as if it did not exist."""

    def __init__(self, database: Database, dense: DenseSearch, user_id: str) -> None:
        bound = UserDatabase(database, user_id)
        self.user_id = user_id
        self.indexes = Indexes(bound)
        self.generations = Generations(bound, dense)
        self.documents = documents.Documents(bound)
        self.deletions = Deletions(bound)
        self.catalogue = Catalogue(bound)
        self.sources = Sources(bound)
        self.versions = Versions(bound)
        self.parts = Parts(bound)
        self.readings = Readings(bound)
        self.chunks = Chunks(bound, dense)
        self.vectors = Vectors(bound)
        self.embedding_cache = EmbeddingCache(bound)
        self.caches = Caches(bound)
        self.conversations = Conversations(bound)
        self.api_keys = api_keys.ApiKeys(bound)
        self.jobs = jobs.Jobs(bound)
        self.glossary = Glossary(bound)
        self.saved_filters = SavedFilters(bound)


class Store:
    """The database of all users; one per process, for any number of threads. `of` gives a user's part of it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._dense = DenseSearch(database)
        self.queue = Queue(database)
        self.lanes = Lanes(database)
        self.leftovers = AllDeletions(database)

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

    def of(self, user_id: str) -> UserStore:
        """What one user has. Every statement of it is bound to this user."""
        return UserStore(self._database, self._dense, user_id)

    # --- of all users ---

    def find_key(self, digest: bytes) -> ApiKey | None:
        """The valid key whose secret has this SHA-256 digest, whoever has it; None if there is none."""
        return api_keys.find(self._database, digest)

    def keys_exist(self) -> bool:
        """Whether anyone has a key that was not revoked."""
        return api_keys.exist(self._database)

    def unfinished_documents(self) -> Sequence[tuple[str, uuid.UUID]]:
        """User and id of every document that waits to be read, oldest first: for the restart of a worker."""
        return documents.unfinished(self._database)

    def unfinished_jobs(self) -> Sequence[tuple[str, uuid.UUID]]:
        """User and id of every job that has not ended, oldest first: for the restart of a worker."""
        return jobs.unfinished(self._database)

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

"""What is kept: rows in PostgreSQL with pgvector, files in any file system."""

from rag.store.caches import CACHE_KINDS, CacheKind, Caches, CacheStats, CompletionKind
from rag.store.embedding_cache import EmbeddingCache
from rag.store.files import FileStore, UserFiles
from rag.store.folders import Folder
from rag.store.health import Health
from rag.store.job_lane import JobLane, TakenJob
from rag.store.job_steps import JobSteps
from rag.store.jobs import Started
from rag.store.lanes import Lanes, Taken
from rag.store.lexical import LexicalMatches
from rag.store.preferences import Kept, Preferences
from rag.store.queue import Queue
from rag.store.retries import MOST_ATTEMPTS
from rag.store.store import Store, UserStore

__all__ = [
    "CACHE_KINDS",
    "MOST_ATTEMPTS",
    "CacheKind",
    "CacheStats",
    "Caches",
    "CompletionKind",
    "EmbeddingCache",
    "FileStore",
    "Folder",
    "Health",
    "JobLane",
    "JobSteps",
    "Kept",
    "Lanes",
    "LexicalMatches",
    "Preferences",
    "Queue",
    "Started",
    "Store",
    "Taken",
    "TakenJob",
    "UserFiles",
    "UserStore",
]

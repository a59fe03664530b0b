"""What is kept: rows in PostgreSQL with pgvector, files in any file system."""

from rag.store.accounts import OwnAccount
from rag.store.caches import CACHE_KINDS, CacheKind, Caches, CacheStats, CompletionKind
from rag.store.embedding_cache import EmbeddingCache
from rag.store.files import FileStore, UserFiles
from rag.store.folders import Folder
from rag.store.health import Health
from rag.store.lanes import Lanes, Taken
from rag.store.lexical import LexicalMatches
from rag.store.preferences import Kept, Preferences
from rag.store.queue import Queue
from rag.store.roots import Roots
from rag.store.store import Store, UserStore

__all__ = [
    "CACHE_KINDS",
    "CacheKind",
    "CacheStats",
    "Caches",
    "CompletionKind",
    "EmbeddingCache",
    "FileStore",
    "Folder",
    "Health",
    "Kept",
    "Lanes",
    "LexicalMatches",
    "OwnAccount",
    "Preferences",
    "Queue",
    "Roots",
    "Store",
    "Taken",
    "UserFiles",
    "UserStore",
]

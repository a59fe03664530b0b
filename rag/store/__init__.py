"""What is kept: rows in PostgreSQL with pgvector, files in any file system."""

from rag.store.accounts import OwnAccount
from rag.store.api_keys import ApiKeys
from rag.store.audit import AuditOfAll
from rag.store.caches import CACHE_KINDS, CacheKind, Caches, CacheStats, CompletionKind
from rag.store.deletions import SAFE_AGE
from rag.store.drafts import Drafts
from rag.store.embedding_cache import EmbeddingCache
from rag.store.files import Content, FileStore, UserFiles
from rag.store.folders import Folder
from rag.store.health import Health
from rag.store.job_lane import JobLane, TakenJob
from rag.store.job_steps import JobSteps
from rag.store.jobs import Started
from rag.store.lanes import Lanes, Taken
from rag.store.lexical import LexicalMatches
from rag.store.logins import Logins
from rag.store.preferences import Kept, Preferences
from rag.store.queue import Queue
from rag.store.rates import Rates
from rag.store.renditions import put_rendition
from rag.store.retries import MOST_ATTEMPTS
from rag.store.roles import Walls
from rag.store.roots import Roots
from rag.store.store import SharedStore, Store, UserStore
from rag.store.sweep import Sweep

__all__ = [
    "CACHE_KINDS",
    "MOST_ATTEMPTS",
    "SAFE_AGE",
    "ApiKeys",
    "AuditOfAll",
    "CacheKind",
    "CacheStats",
    "Caches",
    "CompletionKind",
    "Content",
    "Drafts",
    "EmbeddingCache",
    "FileStore",
    "Folder",
    "Health",
    "JobLane",
    "JobSteps",
    "Kept",
    "Lanes",
    "LexicalMatches",
    "Logins",
    "OwnAccount",
    "Preferences",
    "Queue",
    "Rates",
    "Roots",
    "SharedStore",
    "Started",
    "Store",
    "Sweep",
    "Taken",
    "TakenJob",
    "UserFiles",
    "UserStore",
    "Walls",
    "put_rendition",
]

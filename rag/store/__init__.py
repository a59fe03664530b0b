"""What is kept: rows in PostgreSQL with pgvector, files in any file system."""

from rag.store.conversations.completion_cache import CACHE_KINDS, CacheKind, Caches, CacheStats, CompletionKind
from rag.store.files.allowed_folders import Roots
from rag.store.files.file_storage import Content, FileStore, UserFiles
from rag.store.files.orphan_cleanup import Sweep
from rag.store.files.pending_deletions import SAFE_AGE
from rag.store.files.renditions import put_rendition
from rag.store.files.source_folders import Folder
from rag.store.files.temporary_folders import Drafts
from rag.store.jobs.checkpoints import JobSteps
from rag.store.jobs.job_scheduling import JobLane, TakenJob
from rag.store.jobs.jobs import Started
from rag.store.jobs.lanes import Lanes, Taken
from rag.store.jobs.queue import Queue
from rag.store.jobs.retries import MOST_ATTEMPTS
from rag.store.search.embedding_cache import EmbeddingCache
from rag.store.search.lexical import LexicalMatches
from rag.store.server.database_roles import Walls
from rag.store.server.health import Health
from rag.store.settings.preferences import Kept, Preferences
from rag.store.store import SharedStore, Store, UserStore
from rag.store.users.accounts import OwnAccount
from rag.store.users.api_keys import ApiKeys
from rag.store.users.audit_log import AuditOfAll
from rag.store.users.logins import Logins
from rag.store.users.rate_limits import Rates

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

"""Storage: rows in PostgreSQL with pgvector, and files in any file system."""

from rag.store.conversations.completion_cache import CACHE_KINDS, CacheKind, Caches, CacheStats, CompletionKind
from rag.store.files.file_storage import DiskUsage, FileStore, UserFiles
from rag.store.files.orphans import OrphanCleanup
from rag.store.files.pending_deletions import SAFE_AGE
from rag.store.files.source_folders import AllowedFolders, Folder
from rag.store.jobs.jobs import JobCheckpoints, Started
from rag.store.jobs.queue import Queue
from rag.store.jobs.scheduling import MAX_ATTEMPTS, ClaimedDocument, ClaimedJob, DocumentScheduler, JobScheduler
from rag.store.jobs.status import Health
from rag.store.search.embedding_cache import EmbeddingCache
from rag.store.search.lexical import LexicalMatches
from rag.store.server.database_roles import RowSecurity
from rag.store.settings.preferences import Preferences, SavedPreferences
from rag.store.store import SharedStore, Store, UserStore
from rag.store.users.accounts import OwnAccount
from rag.store.users.api_keys import ApiKeys
from rag.store.users.audit_log import AuditOfAllUsers
from rag.store.users.logins import Logins
from rag.store.users.rate_limits import RateLimits

__all__ = [
    "CACHE_KINDS",
    "MAX_ATTEMPTS",
    "SAFE_AGE",
    "AllowedFolders",
    "ApiKeys",
    "AuditOfAllUsers",
    "CacheKind",
    "CacheStats",
    "Caches",
    "ClaimedDocument",
    "ClaimedJob",
    "CompletionKind",
    "DiskUsage",
    "DocumentScheduler",
    "EmbeddingCache",
    "FileStore",
    "Folder",
    "Health",
    "JobCheckpoints",
    "JobScheduler",
    "LexicalMatches",
    "Logins",
    "OrphanCleanup",
    "OwnAccount",
    "Preferences",
    "Queue",
    "RateLimits",
    "RowSecurity",
    "SavedPreferences",
    "SharedStore",
    "Started",
    "Store",
    "UserFiles",
    "UserStore",
]

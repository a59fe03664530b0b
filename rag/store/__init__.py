"""What is kept: rows in PostgreSQL with pgvector, files in any file system."""

from rag.store.conversations.completion_cache import CACHE_KINDS, CacheKind, Caches, CacheStats, CompletionKind
from rag.store.files.allowed_folders import AllowedFolders
from rag.store.files.file_storage import DiskUsage, FileStore, UserFiles
from rag.store.files.orphan_cleanup import OrphanCleanup
from rag.store.files.pending_deletions import SAFE_AGE
from rag.store.files.renditions import put_rendition
from rag.store.files.source_folders import Folder
from rag.store.files.temporary_folders import PartialFiles
from rag.store.jobs.checkpoints import JobCheckpoints
from rag.store.jobs.job_scheduling import ClaimedJob, JobScheduler
from rag.store.jobs.jobs import Started
from rag.store.jobs.lanes import ClaimedDocument, DocumentScheduler
from rag.store.jobs.queue import Queue
from rag.store.jobs.retries import MAX_ATTEMPTS
from rag.store.search.embedding_cache import EmbeddingCache
from rag.store.search.lexical import LexicalMatches
from rag.store.server.database_roles import RowSecurity
from rag.store.server.health import Health
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
    "PartialFiles",
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
    "put_rendition",
]

"""One user's rows, files, models and queue: all of them, or of one collection, their own or another user's."""

import datetime as dt
import threading
import uuid
from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypedDict, Unpack

from rag import errors, providers, tracing, types
from rag.config import Config
from rag.engine.models import Models
from rag.messages import N_
from rag.store.files.file_storage import FileStore, Kind, UserFiles
from rag.store.files.orphans import OrphanCleanup
from rag.store.library.indexes import unknown_index
from rag.store.preferences import Preferences
from rag.store.server import database_roles, embedded
from rag.store.store import SharedStore, Store, UserStore
from rag.store.users.audit_log import AuditOfAllUsers

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.base.embeddings import base as embeddings
    from llama_index.core.llms import LLM
    from llama_index.core.node_parser import NodeParser


class ResourceOverrides(TypedDict, total=False):
    """Replacements for what the settings would create.

    `node_parser` splits documents in place of ours, whatever an index's chunking is.
    """

    store: Store | None
    files: FileStore | None
    embedders: "Mapping[types.EmbeddingSpace, embeddings.BaseEmbedding] | None"
    llm: "LLM | None"
    reranker: "providers.CrossEncoder | None"
    registry: providers.Registry | None
    node_parser: "NodeParser | None"


UNKNOWN_ORIGIN = types.RequestOrigin()


class Resources:
    """The shared resources of a process."""

    def __init__(self, config: Config, **parts: Unpack[ResourceOverrides]) -> None:
        self.config = config
        tracing.switch_on(config.otel_exporter_otlp_endpoint)
        self.preferences = Preferences(config.rag_data_dir)
        self.models = Models(
            config,
            parts.get("registry") or providers.Registry(),
            preferences=self.preferences,
            embedders=parts.get("embedders"),
            llm=parts.get("llm"),
            reranker=parts.get("reranker"),
        )
        self.node_parser = parts.get("node_parser")
        self.remembered_facts: OrderedDict[tuple[uuid.UUID, dt.datetime | None], types.KeyFacts] = OrderedDict()
        self._store = parts.get("store")
        self._files = parts.get("files")
        self._server: embedded.EmbeddedServer | None = None
        self._lock = threading.RLock()

    @property
    def store(self) -> Store:
        """The database of `RAG_DATABASE_URL`, else the embedded server, started if needed. Raises StoreError."""
        with self._lock:
            if self._store is None:
                url = self.database_url
                admin_url = self.admin_url if self.config.rag_database_admin_url else None
                replica = self.config.rag_database_replica_url
                self._store = Store.open(
                    url,
                    admin_url=admin_url,
                    as_roles=self._server is not None,
                    answer_seconds=self.config.rag_database_timeout_seconds,
                    replica_url=replica.get_secret_value() if replica else None,
                )
            return self._store

    @property
    def database_url(self) -> str:
        """The URL of the database, which may contain a password. Starts the embedded server if needed."""
        with self._lock:
            if self.config.rag_database_url:
                return self.config.rag_database_url.get_secret_value()
            if self._server is None:
                self._server = embedded.start(self.config.database_dir)
            return self._server.url

    @property
    def admin_url(self) -> str:
        """The database URL of the account that owns the tables, for work on all users' rows."""
        given = self.config.rag_database_url and self.config.rag_database_admin_url
        return database_roles.administrator(given.get_secret_value() if given else self.database_url)

    @property
    def files(self) -> FileStore:
        """The storage of originals and renditions."""
        with self._lock:
            if self._files is None:
                self._files = FileStore(self.config.storage_url, self.config.cache_dir)
            return self._files

    @property
    def cleanup(self) -> OrphanCleanup:
        """The cleanup of files that have no document."""
        return OrphanCleanup(self.store, self.files)

    def close(self) -> None:
        """Close all connections and release the embedded server. This closes every user's engine."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None
            if self._server is not None:
                self._server.close()
                self._server = None


SHARED_PREFIX = "shared:"
"""Prefix of a shared collection's name in requests; a name alone means one of the user's own."""


class Workspace:
    """The resources of one user; the user is bound here, once.

    With a `collection`, the default index's name means that collection of the user.
    """

    def __init__(
        self,
        resources: Resources,
        user_id: str,
        origin: types.RequestOrigin = UNKNOWN_ORIGIN,
        collection: uuid.UUID | None = None,
    ) -> None:
        """Bind a user; `origin` is recorded in the audit log. Raises NotFoundError if there is no such collection."""
        if not user_id:
            raise errors.ValidationError(N_("A user is needed: user_id is empty."))
        self._resources = resources
        self.config = resources.config
        self.models = resources.models
        self.remembered_facts = resources.remembered_facts  # key facts that a reader may not keep, by reading
        self.node_parser = resources.node_parser  # replaces our chunking, if one was given
        self.user_id = user_id
        self.origin = origin
        self._collection = collection
        if collection:
            self.find_index(types.DEFAULT_INDEX)

    def narrow(self, index_id: uuid.UUID) -> "Workspace":
        """Return the workspace of one of the user's collections. Raises NotFoundError."""
        return Workspace(self._resources, self.user_id, self.origin, index_id)

    def open_shared(self, index_id: uuid.UUID) -> "SharedWorkspace":
        """Return the workspace of a collection that another user shares. Raises NotFoundError if it is not shared."""
        return SharedWorkspace(self._resources, self.user_id, index_id, self.origin)

    @cached_property
    def store(self) -> UserStore:
        """The user's rows in the database, which is opened on first use."""
        return self._resources.store.of(self.user_id, self.origin)

    @property
    def audit_of_all_users(self) -> AuditOfAllUsers:
        """The audit log of all users; for admins only."""
        return self._resources.store.audit

    @property
    def files(self) -> UserFiles:
        """The user's originals and renditions."""
        return self._resources.files.of(self.user_id)

    def enqueue(self, document_id: uuid.UUID) -> types.Document:
        """Let a worker read a document, and return it. Raises NotFoundError."""
        document = self.store.documents.enqueue(document_id)
        self._resources.store.queue.enqueue(self.user_id, document_id)
        return document

    def create_job(self, kind: types.JobKind, index_name: str, request: Mapping[str, Any]) -> types.Job:
        """Create a job for a worker; `request` is JSON without secrets."""
        return self.enqueue_job(self.store.jobs.create(kind, index_name, request))

    def enqueue_job(self, job: types.Job) -> types.Job:
        """Let a worker do a new job, and return it."""
        self._resources.store.queue.enqueue_job(job.user_id, job.id)
        return job

    @property
    def is_admin(self) -> bool:
        """Whether the user is an admin, by the settings or by role."""
        return self.user_id in self.config.admins or self.store.account.get().role.may_administer

    @property
    def permission(self) -> types.SharePermission | None:
        """What the user may do in a collection that another user shares, None in their own."""
        return None

    def is_shared(self, index_id: uuid.UUID) -> bool:
        """Whether another user shares the index with this user now."""
        return any(shared.index.id == index_id for shared in self.store.shares.shared_with_me())

    def find_index(self, name: str) -> types.Index:
        """Return an index by name or id. Raises NotFoundError."""
        if self._collection and name == types.DEFAULT_INDEX:
            return self.store.indexes.get_by_id(self._collection)
        return self.store.indexes.find(name)

    def ensure_index(self, name: str) -> types.Index:
        """Return an index by name or id; create it if there is none.

        Raises IndexError if `RAG_EMBED_MODEL` names another embedding model than the one of its documents.
        """
        try:
            index = self.find_index(name)
        except errors.NotFoundError:
            return self.create_or_update_index(name)
        if self._collection and name == types.DEFAULT_INDEX:
            return index  # it was chosen as it is, whatever the settings say
        if self.config.rag_embed_model and self.models.default_space() != index.space:
            return self.create_or_update_index(index.name)
        return index

    def requested_index(self, name: str) -> types.Index:
        """Return the index that a request names. Only the default index is created on demand.

        Other indexes are searched with the model they were built with, whatever `RAG_EMBED_MODEL` says.
        """
        return self.ensure_index(name) if name == types.DEFAULT_INDEX else self.find_index(name)

    def shared_index_id(self, name: str | None) -> uuid.UUID | None:
        """Return the id of the index with which something is to be shared, None for none. Raises NotFoundError."""
        return None if name is None else self.requested_index(name).id

    def create_or_update_index(self, name: str) -> types.Index:
        """Create an index, or apply the current settings to an empty one.

        Raises IndexError if it has documents with vectors of another model.
        """
        if self._collection and name == types.DEFAULT_INDEX:
            name = self.find_index(name).name
        return self.store.indexes.ensure(name, self.models.default_space(), self.config.rag_chunking)


class SharedWorkspace(Workspace):
    """The owner's rows and files as far as they are shared with `asker`; the asker's own chats and caches.

    The default index's name means the shared collection.
    """

    def __init__(self, resources: Resources, asker: str, index_id: uuid.UUID, origin: types.RequestOrigin) -> None:
        """Raises NotFoundError if the collection is not shared with the asker."""
        self._shared = resources.store.shared(asker, index_id, origin)
        super().__init__(resources, self._shared.user_id, origin)
        self._collection = index_id

    @cached_property
    def store(self) -> SharedStore:
        """The shared rows; each transaction checks that they are still shared."""
        return self._shared

    @property
    def files(self) -> "SharedFiles":
        """The files of the shared documents."""
        return SharedFiles(self._resources.files.of(self.user_id), self._shared)

    @property
    def is_admin(self) -> bool:
        """Nobody is an admin of another user's collection."""
        return False

    @property
    def permission(self) -> types.SharePermission:
        """What the asker may do, as of the last transaction."""
        return self.store.access.permission

    def is_shared(self, index_id: uuid.UUID) -> bool:
        """Whether the index is shared with the asker now."""
        return any(index.id == index_id for index in self.store.indexes.list())

    # `user_id` is the owner's here: what opens another workspace of this user must not be inherited.

    def narrow(self, index_id: uuid.UUID) -> Workspace:
        """Return this workspace, which is of one collection already. Raises NotFoundError for any other."""
        self.find_index(str(index_id))
        return self

    def open_shared(self, index_id: uuid.UUID) -> "SharedWorkspace":
        """Raise NotFoundError: what others share with the owner is not shared with the asker."""
        raise unknown_index(index_id)

    def find_index(self, name: str) -> types.Index:
        """Return the collection by id, name or as the default. Raises NotFoundError for any other."""
        return super().find_index(types.DEFAULT_INDEX if name.startswith(SHARED_PREFIX) else name)

    def ensure_index(self, name: str) -> types.Index:
        """Return the collection; no index is created for its owner."""
        return self.find_index(name)

    def create_or_update_index(self, name: str) -> types.Index:
        """Raise ForbiddenError: only the owner can do this."""
        raise errors.ForbiddenError(N_("{name} would be another's index. Make it among your own."), name=repr(name))


class SharedFiles(UserFiles):
    """The owner's files, restricted to documents that are shared."""

    def __init__(self, files: UserFiles, store: SharedStore) -> None:
        self._owners = files
        self._store = store

    def put(self, document_id: uuid.UUID, kind: Kind, path: Path) -> None:
        """Store a file of a shared or new document, if the asker may write.

        Raises:
            errors.ForbiddenError: the share is read-only, or the document is outside the collection.
            errors.StoreError: the file cannot be written.
        """
        self._store.access.require_place(document_id)
        self._owners.put(document_id, kind, path)

    def local_path(self, document_id: uuid.UUID, kind: Kind) -> Path:
        """See `UserFiles.local_path`."""
        return self._files_of(document_id).local_path(document_id, kind)

    def open(self, document_id: uuid.UUID, kind: Kind) -> BinaryIO:
        """See `UserFiles.open`."""
        return self._files_of(document_id).open(document_id, kind)

    def exists(self, document_id: uuid.UUID, kind: Kind) -> bool:
        """See `UserFiles.exists`."""
        return self._files_of(document_id).exists(document_id, kind)

    def sizes(self, document_id: uuid.UUID) -> dict[Kind, int]:
        """See `UserFiles.sizes`."""
        return self._files_of(document_id).sizes(document_id)

    def delete(self, document_id: uuid.UUID) -> None:
        """Delete the file of an upload that became no document.

        Raises ForbiddenError if the share is read-only, or the document exists.
        """
        self._store.access.require_unused(document_id)
        self._owners.delete(document_id)

    def _files_of(self, document_id: uuid.UUID) -> UserFiles:
        self._store.documents.get(document_id)
        return self._owners

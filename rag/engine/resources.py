"""Connections, files, models and preferences that all users of a process share, each opened on first use."""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict, Unpack

from rag import providers, tracing, types
from rag.config import Config
from rag.engine.models import Models
from rag.store.files.file_storage import FileStore
from rag.store.files.orphans import OrphanCleanup
from rag.store.server import database_roles, embedded
from rag.store.settings.preferences import Preferences
from rag.store.store import Store

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

"""The engine of one user (`RAGEngine`) and the resources that all users share (`Installation`)."""

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from rag import answering, lazy_imports, retrieval, types, vocabulary
from rag.config import Config, load_config
from rag.engine.conversations.chats import Chats
from rag.engine.conversations.saved_answers import Answers
from rag.engine.indexes.indexes import Indexes
from rag.engine.ingestion.document_reader import DocumentReader
from rag.engine.ingestion.folders import Folders
from rag.engine.ingestion.sync import OnFile
from rag.engine.jobs.jobs import Jobs
from rag.engine.jobs.worker_tasks import WorkerTasks
from rag.engine.library.annotations import Annotations
from rag.engine.library.document_metadata import Catalogue
from rag.engine.library.documents import Documents
from rag.engine.library.files import Files
from rag.engine.library.pages import Chunks, Pages
from rag.engine.library.saved_filters import SavedFilters
from rag.engine.library.versions import Versions
from rag.engine.matrix.matrices import Matrices
from rag.engine.operations import disk_space, status
from rag.engine.operations.cleanup import Cleanup
from rag.engine.operations.data_export import Export
from rag.engine.operations.settings import Settings
from rag.engine.questions.answerer import Answerer
from rag.engine.questions.questions import Questions
from rag.engine.questions.search import Search
from rag.engine.request_parsing import parse
from rag.engine.resources import ResourceOverrides, Resources
from rag.engine.retrieval_api import Collections
from rag.engine.users import api_keys
from rag.engine.users.accounts import Accounts, Profile
from rag.engine.users.audit_log import AuditLog
from rag.engine.users.collection_access import CollectionAccess
from rag.engine.users.logins import Logins
from rag.engine.users.sharing import Sharing
from rag.engine.vector_store_api import BY_SIMILARITY, delete_result, ingest_result, require_list, require_query
from rag.engine.workspace import UNKNOWN_ORIGIN, Workspace
from rag.store import Caches, Health, RateLimits
from rag.store.backup import backup, restore
from rag.store.users.audit_log import Subject

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.llms import LLM
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.response_synthesizers import BaseSynthesizer

WARM_UP = "warm up"
DEFAULT_RETRIEVAL = types.RetrievalOptions()


class Installation:
    """The resources that all users share: one database, one file storage, one set of models, each opened on first use.

    `for_user` returns one user's engine. `settings`, `worker_tasks`, `accounts`, `logins`, `cleanup` act for all.
    """

    def __init__(self, config: Config | None = None, **parts: Unpack[ResourceOverrides]) -> None:
        """Open nothing yet. `parts` replace what the settings would create."""
        self._resources = Resources(config or load_config(), **parts)
        self.worker_tasks = WorkerTasks(self._resources)
        self.cleanup = Cleanup(self._resources)
        self.accounts = Accounts(self._resources)
        self.logins = Logins(self._resources)
        self.settings = Settings(self._resources.config, self._resources.preferences, self._resources.models)

    @property
    def config(self) -> Config:
        """The settings from the environment."""
        return self._resources.config

    def for_user(self, user_id: str, origin: types.RequestOrigin = UNKNOWN_ORIGIN) -> "RAGEngine":
        """Return a user's engine; `origin` is recorded in the audit log."""
        return RAGEngine(user_id=user_id, installation=self, workspace=self.workspace(user_id, origin))

    def workspace(self, user_id: str, origin: types.RequestOrigin = UNKNOWN_ORIGIN) -> Workspace:
        """Return a user's workspace."""
        return Workspace(self._resources, user_id, origin)

    # --- authentication ---

    def authenticate(self, secret: str) -> types.ApiKey | None:
        """Return the valid API key with this secret, or None. See `api_keys.authenticate`."""
        return api_keys.authenticate(self.config, lambda: self._resources.store, secret)

    def keys_exist(self) -> bool:
        """Whether `RAG_API_KEY` is set or any user has a key that is not revoked."""
        return bool(self.config.rag_api_key) or self._resources.store.keys_exist()

    @property
    def rates(self) -> RateLimits:
        """Rate limits, shared by all processes."""
        return self._resources.store.rate_limits

    # --- background work ---

    def recover_queue(self) -> int:
        """Requeue what a killed process left behind. Returns the number of unread documents."""
        store = self._resources.store
        store.queue.discard_stalled()
        store.document_scheduler.enqueue_abandoned()
        return len(store.unfinished_documents())

    # --- state ---

    def health(self, seconds: float | None = None) -> Health:
        """Return the state of the database and the number of live workers.

        Raises StoreUnavailableError if there is no answer within `seconds`, by default RAG_DATABASE_TIMEOUT_SECONDS.
        """
        return self._resources.store.health(seconds)

    def status(self) -> types.Status:
        """Return the state of the installation, for administrators. Raises as `health`."""
        return status.read(self._resources.store, self.config)

    @property
    def disk_warnings(self) -> tuple[str, ...]:
        """Warnings about nearly full disks of this machine."""
        return disk_space.warnings(disk_space.disk_spaces(self.config))

    def warm_up(self) -> None:
        """Connect to the database and load models and vocabularies, so that the first question does not wait."""
        self.health()
        models = self._resources.models
        if models.default_is_local():  # a vendor's model costs money and needs no loading
            models.embedder(models.default_space()).get_query_embedding(WARM_UP)
        models.reranker.scores(WARM_UP, [WARM_UP])
        models.reader.scores(WARM_UP, [WARM_UP])
        lazy_imports.load(retrieval, answering)
        vocabulary.widener()

    def forget_provider(self, name: str) -> None:
        """Reopen a provider's embedding models on next use, because its adapter was replaced."""
        self._resources.models.forget_provider(name)

    def backup(
        self,
        path: Path,
        on_progress: types.OnProgress = types.ignore_progress,
        *,
        actor: str = types.LOCAL_USER,
        origin: types.RequestOrigin = UNKNOWN_ORIGIN,
    ) -> types.BackupManifest:
        """Write the database and all files into a new archive. The app can stay in use.

        The audit log records it (in the database, not in the archive).

        Raises:
            errors.ValidationError: `path` exists.
            errors.SourceError: `path` cannot be written.
            errors.StoreError: the database or the file storage fails.
        """
        store = self._resources.store  # migrates the schema, so that every archive has a known one
        manifest = backup.write(store.backup_url, self._resources.files, path, on_progress)
        status.record_backup(store, path, manifest)
        store.of(actor, origin).audit.add(
            "export", Subject("backup", name=path.name), documents=manifest.rows["documents"], files=len(manifest.files)
        )
        return manifest

    def restore(self, path: Path, on_progress: types.OnProgress = types.ignore_progress) -> types.BackupManifest:
        """Restore an archive into an empty installation; it is checked completely before anything is changed.

        It can be repeated after an interruption, which leaves nothing behind. Raises as `check_backup`, and:

        Raises:
            errors.StoreError: the installation is not empty, or the database or the file storage fails.
        """
        return restore.restore(self._resources.admin_url, self._resources.files, path, on_progress)

    def close(self) -> None:
        """Close all connections. This closes every user's engine."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_backup(path: Path, on_progress: types.OnProgress = types.ignore_progress) -> types.BackupManifest:
    """Verify an archive against its manifest, and that this version can restore it. Needs no database.

    Raises:
        errors.SourceError: the file is missing or cannot be read.
        errors.UnreadableFileError: it is damaged, incomplete, or no backup.
        errors.UnsupportedFileError: a newer version of Pagelight wrote it.
    """
    manifest = backup.check(path, on_progress)
    restore.require_known(manifest)
    return manifest


class RAGEngine:
    """One user's documents, searches and grounded answers.

    The methods are the public contract; everything else is done by the nouns (`documents`, `questions`, `chats`, …).
    `installation` has what all users share.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        user_id: str = types.LOCAL_USER,
        installation: Installation | None = None,
        workspace: Workspace | None = None,
        **parts: Unpack[ResourceOverrides],
    ) -> None:
        """Use an existing `installation`, or create one with these settings and parts.

        `workspace` narrows the engine to one collection; see `access`.
        """
        self.installation = installation or Installation(config, **parts)
        self.user_id = user_id
        workspace = self._workspace = workspace or self.installation.workspace(user_id)
        self.documents = Documents(workspace)
        self.versions = Versions(workspace)
        self.files = Files(workspace, self.documents)
        self.pages = Pages(workspace)
        self.chunks = Chunks(workspace)
        self.questions = Questions(workspace)
        self.chats = Chats(workspace, self.questions)
        self.answers = Answers(workspace, self.chats, self.questions)
        self.indexes = Indexes(workspace, self.documents)
        self.collections = Collections(workspace)
        self.jobs = Jobs(workspace, self.documents, self.questions)
        self.matrices = Matrices(workspace, self.questions)
        self.keys = api_keys.UserKeys(workspace)
        self.profile = Profile(workspace)
        self.filters = SavedFilters(workspace)
        self.annotations = Annotations(workspace)
        self.catalogue = Catalogue(workspace)
        self.exports = Export(workspace)
        self.sharing = Sharing(workspace)
        self.access = CollectionAccess(
            self,
            workspace,
            lambda narrowed: RAGEngine(user_id=user_id, installation=self.installation, workspace=narrowed),
        )
        self.audit = AuditLog(workspace)

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self.installation.config

    @property
    def origin(self) -> types.RequestOrigin:
        """The user's origin, as recorded in the audit log."""
        return self._workspace.origin

    @property
    def caches(self) -> Caches:
        """Cached embeddings, rewrites and answers."""
        return self._workspace.store.caches

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.installation.close()

    # --- documents ---

    def ingest(self, file_paths: Sequence[str | Path], index_name: str = types.DEFAULT_INDEX) -> dict[str, Any]:
        """Ingest files by path; a changed file replaces its earlier version. A failed file does not stop the others.

        Returns `ingested_count`, `failed_count`, `chunk_count` (new chunks) and `failed_files` (paths as given). Raises
        ValidationError if no paths are given.
        """
        paths = require_list("file_paths", file_paths)
        index = self._workspace.ensure_index(index_name)
        return ingest_result(paths, Folders(self._workspace).ingest_files([Path(path) for path in paths], index))

    def delete(self, document_ids: Sequence[str | uuid.UUID], index_name: str = types.DEFAULT_INDEX) -> dict[str, Any]:
        """Move documents to the trash, given by id, path or URL, or the SHA-256 of a path or URL.

        Returns `deleted_count`, and `deleted_ids` and `not_found_ids` as given. Raises ValidationError if no ids are
        given.
        """
        references = require_list("document_ids", document_ids)
        index = self._workspace.requested_index(index_name)
        found = self._workspace.store.sources.named(index.id, references)
        touched = self.documents.trash([document_id for ids in found.values() for document_id in ids])
        return delete_result(references, found, touched)

    def index_document(self, document_id: uuid.UUID, blocks: Sequence[types.TextBlock]) -> types.Document:
        """Replace a document's content with blocks that the caller parsed.

        Raises:
            errors.ValidationError: the blocks have no text.
            errors.NotFoundError: there is no such document.
            errors.ProviderError: the embedding provider fails; the document is marked as failed.
        """
        return DocumentReader(self._workspace).index_blocks(document_id, blocks)

    # --- indexes ---

    def build_index(
        self, request: types.IndexRequest | Mapping[str, Any], on_file: OnFile | None = None
    ) -> types.SyncReport:
        """Ingest a folder's files into an index. Documents of files that left the folder stay.

        `on_file` is called after each file. Raises as `Folders.ingest_folder`.
        """
        return Folders(self._workspace).ingest_folder(parse(types.IndexRequest, request), remove=False, on_file=on_file)

    def sync_index(
        self, request: types.IndexRequest | Mapping[str, Any], on_file: OnFile | None = None
    ) -> types.SyncReport:
        """Make an index mirror a folder: ingest new and changed files, and trash documents whose files are gone.

        Files are compared by content. Raises as `Folders.ingest_folder`.
        """
        return Folders(self._workspace).ingest_folder(parse(types.IndexRequest, request), remove=True, on_file=on_file)

    def inspect_index(self, name: str = types.DEFAULT_INDEX) -> types.IndexStats:
        """Return the statistics of an index. Raises NotFoundError."""
        return self.access.index(name).indexes.stats(name)

    # --- questions ---

    def query(self, query_text: str, index_name: str = types.DEFAULT_INDEX) -> list[types.RetrievalResult]:
        """Return up to five chunks with a cosine similarity of at least 0.5, best first.

        Raises ValidationError if the query has fewer than three characters.
        """
        request = types.SearchRequest(index_name=index_name, query=require_query(query_text), retrieval=BY_SIMILARITY)
        hits = self.search(request).results
        return [types.RetrievalResult.of(hit, rank) for rank, hit in enumerate(hits, start=1)]

    def search(self, request: types.SearchRequest | Mapping[str, Any]) -> types.SearchResponse:
        """Return the passages that match a query, best first. Raises as `Questions.search`."""
        parsed = parse(types.SearchRequest, request)
        return self.access.index(parsed.index_name).questions.search(parsed)

    def answer(
        self, request: types.AnswerRequest | Mapping[str, Any] | str, document_id: uuid.UUID | str | None = None
    ) -> types.AnswerResponse:
        """Answer a question from the documents, with citations. See `Questions.answer`."""
        if isinstance(request, str):
            return self.questions.answer(request, document_id)
        parsed = parse(types.AnswerRequest, request)
        return self.access.index(parsed.index_name).questions.answer(parsed, document_id)

    # --- LlamaIndex ---

    def as_retriever(
        self, index_name: str = types.DEFAULT_INDEX, options: types.RetrievalOptions = DEFAULT_RETRIEVAL
    ) -> "retrieval.HybridRetriever":
        """Return the search as a LlamaIndex retriever of the `top_k` best chunks by fused score."""
        request = types.RetrievalRequest(index_name=index_name, retrieval=options)
        return Search(self._workspace, self._workspace.requested_index(index_name), request).retriever(options.top_k)

    def as_query_engine(
        self,
        index_name: str = types.DEFAULT_INDEX,
        options: types.RetrievalOptions = DEFAULT_RETRIEVAL,
        *,
        retriever: "BaseRetriever | None" = None,
        node_postprocessors: "Sequence[BaseNodePostprocessor] | None" = None,
        response_synthesizer: "BaseSynthesizer | None" = None,
        llm: "LLM | None" = None,
        streaming: bool = False,
    ) -> "RetrieverQueryEngine":
        """Return the question answering as a LlamaIndex query engine; a given part replaces ours.

        `node_postprocessors` replace all of ours (`rag.retrieval.stages` returns ours); `llm` replaces the configured
        model. The response is a `GroundedResponse`, or with `streaming` a `GroundedStream` (of `aquery` a
        `GroundedAsyncStream`), unless another synthesizer is given.
        """
        # each query has a question of its own
        request = types.AnswerRequest.model_construct(index_name=index_name, question="", retrieval=options)
        index, llm = self._workspace.requested_index(index_name), llm or self._workspace.models.language_model()
        return Answerer(self._workspace, index, request, llm=llm).query_engine(
            streaming=streaming,
            retriever=retriever,
            postprocessors=node_postprocessors,
            synthesizer=response_synthesizer,
        )

    def as_chat_engine(
        self,
        index_name: str = types.DEFAULT_INDEX,
        options: types.RetrievalOptions = DEFAULT_RETRIEVAL,
        *,
        llm: "LLM | None" = None,
        query_engine: "BaseQueryEngine | None" = None,
    ) -> "answering.GroundedChatEngine":
        """Return the same as a LlamaIndex chat engine, which keeps its history in memory only; `chats` are stored."""
        asked = query_engine or self.as_query_engine(index_name, options, llm=llm, streaming=True)
        return answering.GroundedChatEngine.from_query_engine(asked, llm or self._workspace.models.language_model())

"""The engine of one user (`RAGEngine`) and the resources that all users share (`Installation`)."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from rag import answering, errors, lazy_imports, parsing, retrieval, types, vocabulary
from rag.answering.fields.schemas import json_schema_of
from rag.config import Config, load_config
from rag.engine.conversations.chats import Answers, Chats
from rag.engine.indexes import Indexes
from rag.engine.ingestion.document_reader import DocumentReader
from rag.engine.ingestion.folders import Folders, OnFile
from rag.engine.jobs import Jobs, WorkerTasks
from rag.engine.library.documents import Documents
from rag.engine.library.files import Files
from rag.engine.library.pages import Annotations, Pages
from rag.engine.library.saved_filters import SavedFilters
from rag.engine.library.tables import Tables
from rag.engine.library.versions import Versions
from rag.engine.matrices import Matrices
from rag.engine.operations import status
from rag.engine.operations.data_export import Export
from rag.engine.operations.settings import Settings
from rag.engine.questions.answerer import Answerer
from rag.engine.questions.questions import Questions
from rag.engine.questions.search import Search
from rag.engine.request_parsing import parse
from rag.engine.retrieval_api import RetrievalApi
from rag.engine.templates import Templates
from rag.engine.users import accounts
from rag.engine.users.accounts import Accounts, Logins, Profile
from rag.engine.users.audit_log import AuditLog
from rag.engine.users.sharing import Sharing
from rag.engine.workspace import UNKNOWN_ORIGIN, ResourceOverrides, Resources, Workspace
from rag.store.backup import backup, restore
from rag.store.store import UserStore
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
BY_SIMILARITY = types.RetrievalOptions(top_k=5, min_score=0.5, mode="vector", passage="chunk")
"""Retrieval options of `RAGEngine.query`: single chunks, scored by cosine similarity."""
MIN_QUERY_CHARS = 3


class Installation(Resources):
    """The resources that all users share: one database, one file storage, one set of models, each opened on first use.

    `for_user` returns one user's engine. `settings`, `worker_tasks`, `accounts`, `logins` and `cleanup` act for all;
    `store` has the rows of all users.
    """

    def __init__(self, config: Config | None = None, **parts: Unpack[ResourceOverrides]) -> None:
        """Open nothing yet. `parts` replace what the settings would create."""
        super().__init__(config or load_config(), **parts)
        self.worker_tasks = WorkerTasks(self)
        self.accounts = Accounts(self)
        self.logins = Logins(self)
        self.settings = Settings(self.config, self.preferences, self.models)

    def for_user(self, user_id: str, origin: types.RequestOrigin = UNKNOWN_ORIGIN) -> "RAGEngine":
        """Return a user's engine; `origin` is recorded in the audit log."""
        return RAGEngine(user_id=user_id, installation=self, workspace=self.workspace(user_id, origin))

    def workspace(self, user_id: str, origin: types.RequestOrigin = UNKNOWN_ORIGIN) -> Workspace:
        """Return a user's workspace."""
        return Workspace(self, user_id, origin)

    # --- authentication ---

    def authenticate(self, secret: str) -> types.ApiKey | None:
        """Return the valid API key with this secret, or None. See `accounts.authenticate`."""
        return accounts.authenticate(self.config, lambda: self.store, secret)

    def keys_exist(self) -> bool:
        """Whether `RAG_API_KEY` is set or any user has a key that is not revoked."""
        return bool(self.config.rag_api_key) or self.store.accounts.keys_exist()

    # --- background work ---

    def recover_queue(self) -> int:
        """Requeue what a killed process left behind. Returns the number of unread documents."""
        self.store.queue.discard_stalled()
        self.store.document_scheduler.enqueue_abandoned()
        return len(self.store.document_scheduler.unfinished())

    # --- state ---

    def status(self) -> types.Status:
        """Return the state of the installation, for administrators. Raises StoreError."""
        return status.read(self.store, self.config)

    @property
    def disk_warnings(self) -> tuple[str, ...]:
        """Warnings about nearly full disks of this machine."""
        return status.warnings(status.disk_spaces(self.config))

    def warm_up(self) -> None:
        """Connect to the database and load models and vocabularies, so that the first question does not wait."""
        self.store.health()
        models = self.models
        if models.default_is_local():  # a vendor's model costs money and needs no loading
            models.embedder(models.default_space()).get_query_embedding(WARM_UP)
        models.reranker.scores(WARM_UP, [WARM_UP])
        models.reader.scores(WARM_UP, [WARM_UP])
        lazy_imports.load(retrieval, answering)
        vocabulary.widener()

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
        store = self.store  # migrates the schema, so that every archive has a known one
        manifest = backup.write(store.backup_url, self.files, path, on_progress)
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
        return restore.restore(self.admin_url, self.files, path, on_progress)

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

        `workspace` narrows the engine to one collection; see `for_collection`.
        """
        self.installation = installation or Installation(config, **parts)
        self.user_id = user_id
        workspace = self._workspace = workspace or self.installation.workspace(user_id)
        self.documents = Documents(workspace)
        self.versions = Versions(workspace)
        self.files = Files(workspace)
        self.pages = Pages(workspace)
        self.tables = Tables(workspace)
        self.questions = Questions(workspace)
        self.chats = Chats(workspace, self.questions)
        self.answers = Answers(workspace, self.chats, self.questions)
        self.indexes = Indexes(workspace, self.documents)
        self.retrieval_api = RetrievalApi(workspace)
        self.jobs = Jobs(workspace, self.documents, self.questions)
        self.templates = Templates(workspace)
        self.matrices = Matrices(workspace, self.questions, self.templates)
        self.keys = accounts.UserKeys(lambda: workspace.store.api_keys)
        self.profile = Profile(workspace)
        self.filters = SavedFilters(workspace)
        self.annotations = Annotations(workspace)
        self.exports = Export(workspace)
        self.sharing = Sharing(workspace)
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
    def store(self) -> UserStore:
        """The user's rows by noun, for what needs nothing else, such as `caches` and `conversations`."""
        return self._workspace.store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.installation.close()

    # --- collections that the user may use; ask again for every request, because shares can end at any time ---

    @property
    def is_shared(self) -> bool:
        """Whether this engine's collection belongs to another user."""
        return self._workspace.permission is not None

    @property
    def may_write(self) -> bool:
        """Whether the engine may change documents; False for read-only shares."""
        return self._workspace.permission != "read"

    def for_index(self, name: str) -> "RAGEngine":
        """Return the engine of an index; a shared one is named by its id or as `shared:NAME`.

        Raises:
            errors.NotFoundError: no collection of this name is shared with the user.
            errors.ConflictError: several are; `details` have their ids.
        """
        index_id = None if self.is_shared else self.sharing.resolve(name)
        return self._with(self._workspace.open_shared(index_id)) if index_id else self

    def for_collection(self, name: str) -> "RAGEngine":
        """Return the engine of one collection, in which the default index's name means that collection.

        `name` is the default's, or the id of a collection. Raises NotFoundError.
        """
        if name == types.DEFAULT_INDEX:
            return self
        engine = self.for_index(name)
        if engine is not self:
            return engine
        return self._with(self._workspace.narrow(self._workspace.find_index(name).id))

    def for_document(self, document_id: uuid.UUID) -> "RAGEngine":
        """Return the engine of a document, the user's own or a shared one. Raises NotFoundError."""
        store = self._workspace.store
        try:
            store.documents.names(document_id)
        except errors.NotFoundError:
            if self.is_shared:
                raise
            return self._with(self._workspace.open_shared(store.shares.holding(document_id)))
        return self

    def for_matrix(self, matrix_id: uuid.UUID) -> "RAGEngine":
        """Return the engine of a matrix, the user's own or that of a shared collection. Raises NotFoundError."""
        store = self._workspace.store
        try:
            store.matrices.get(matrix_id)
        except errors.NotFoundError:
            shared = [] if self.is_shared else [one for one in store.shares.matrices() if one.id == matrix_id]
            if not shared:
                raise
            return self.for_index(str(shared[0].index_id))
        return self

    def for_chat(self, conversation_id: uuid.UUID) -> "RAGEngine":
        """Return the engine of a chat's collection, or the user's own if it is not shared now. Raises NotFoundError."""
        conversation = self._workspace.store.conversations.get(conversation_id)
        return self.for_index(str(conversation.index_id)) if conversation.index_owner else self

    def _with(self, workspace: Workspace) -> "RAGEngine":
        return RAGEngine(user_id=self.user_id, installation=self.installation, workspace=workspace)

    # --- documents ---

    def ingest(self, file_paths: Sequence[str | Path], index_name: str = types.DEFAULT_INDEX) -> dict[str, Any]:
        """Ingest files by path; a changed file replaces its earlier version. A failed file does not stop the others.

        Of a folder, the files in it are ingested as by `pagelight ingest`; one without any fails. To follow a folder
        and what is deleted there, use `sync_index`. Returns `ingested_count`, `failed_count`, `chunk_count` (new
        chunks) and `failed_files` (paths as given). Raises ValidationError if no paths are given.
        """
        paths: list[str] = []
        for path in _require_list("file_paths", file_paths):
            paths += [str(file) for file in _files_in(path)] or [path]
        index = self._workspace.ensure_index(index_name)
        reports = Folders(self._workspace).ingest_files([Path(path) for path in paths], index)
        failed = [path for path, report in zip(paths, reports, strict=True) if report.state == "failed"]
        return {
            "ingested_count": len(paths) - len(failed),
            "failed_count": len(failed),
            "chunk_count": sum(report.chunks for report in reports),
            "failed_files": failed,
        }

    def delete(self, document_ids: Sequence[str | uuid.UUID], index_name: str = types.DEFAULT_INDEX) -> dict[str, Any]:
        """Move documents to the trash, given by id, path or URL, or the SHA-256 of a path or URL.

        Returns `deleted_count`, and `deleted_ids` and `not_found_ids` as given. Raises ValidationError if no ids are
        given.
        """
        references = _require_list("document_ids", document_ids)
        index = self._workspace.requested_index(index_name)
        named = self._workspace.store.sources.named(index.id, references)
        trashed = self.documents.trash([document_id for ids in named.values() for document_id in ids])
        deleted = [reference for reference in references if set(named.get(reference, ())) & set(trashed)]
        return {
            "deleted_count": len(trashed),
            "deleted_ids": deleted,
            "not_found_ids": [reference for reference in references if reference not in deleted],
        }

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
        return self.for_index(name).indexes.stats(name)

    # --- questions ---

    def query(self, query_text: str, index_name: str = types.DEFAULT_INDEX) -> list[types.RetrievalResult]:
        """Return up to five chunks with a cosine similarity of at least 0.5, best first.

        Raises ValidationError if the query has fewer than three characters.
        """
        query = _require_query(query_text)
        hits = self.search(types.SearchRequest(index_name=index_name, query=query, retrieval=BY_SIMILARITY)).results
        return [types.RetrievalResult.of(hit, rank) for rank, hit in enumerate(hits, start=1)]

    def search(self, request: types.SearchRequest | Mapping[str, Any]) -> types.SearchResponse:
        """Return the passages that match a query, best first. Raises as `Questions.search`."""
        parsed = parse(types.SearchRequest, request)
        return self.for_index(parsed.index_name).questions.search(parsed)

    def answer(
        self, request: types.AnswerRequest | Mapping[str, Any] | str, document_id: uuid.UUID | str | None = None
    ) -> types.AnswerResponse:
        """Answer a question from the documents, with citations. See `Questions.answer`."""
        if isinstance(request, str):
            return self.questions.answer(request, document_id)
        parsed = parse(types.AnswerRequest, request)
        return self.for_index(parsed.index_name).questions.answer(parsed, document_id)

    def extract(
        self,
        schema: type | Mapping[str, Any] | Sequence[types.FieldDefinition | Mapping[str, Any] | str] | str,
        document_ids: Sequence[uuid.UUID | str],
        generation: types.GenerationOptions | Mapping[str, Any] | None = None,
    ) -> types.Extraction:
        """Read typed fields from documents, each with its words, their places and a confidence. Nothing is saved.

        `schema` is a pydantic model or other class that pydantic can describe, a JSON Schema, a list of fields (a plain
        text is a question), or the name of a template. Raises as `Matrices.extract`.
        """
        asked: dict[str, Any]
        if isinstance(schema, str):
            asked = {"template": schema}
        elif isinstance(schema, type):
            asked = {"schema": json_schema_of(schema)}
        else:
            asked = {"schema": {**schema}} if isinstance(schema, Mapping) else {"fields": schema}
        return self.matrices.extract({**asked, "document_ids": [*document_ids], "generation": generation or {}})

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
        engine = query_engine or self.as_query_engine(index_name, options, llm=llm, streaming=True)
        return answering.GroundedChatEngine.from_query_engine(engine, llm or self._workspace.models.language_model())


def _files_in(path: str | Path) -> list[Path]:
    """Return the files in a folder; none for what is no folder, or cannot be looked at, which fails as a file."""
    try:
        return parsing.files_in(Path(path)) if Path(path).is_dir() else []
    except OSError:
        return []


def _require_list(field: str, values: object) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Collection) or not values:
        raise errors.ValidationError(f"{field} must be a list with at least one entry.", details={"field": field})
    return [str(value) for value in values]


def _require_query(text: object) -> str:
    stripped = text.strip() if isinstance(text, str) else ""
    if len(stripped) < MIN_QUERY_CHARS:
        raise errors.ValidationError(
            f"query_text must be a text of at least {MIN_QUERY_CHARS} characters.", details={"field": "query_text"}
        )
    return stripped

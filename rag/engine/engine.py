"""RAGEngine: everything one user can do, as the doors (app, REST, command line, worker) see it."""

import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from llama_index.core.base.embeddings import base as embeddings
from llama_index.core.llms import LLM

from rag import answering, errors, parsing, providers, retrieval
from rag.config import Config, load_config
from rag.engine.explanation import Explainer
from rag.engine.folders import DEFAULT_INDEX, Folders, find_index
from rag.engine.interface import BY_SIMILARITY, QUESTION_TOP_K, deleted, ingested, named, queried, within
from rag.engine.library import FileContent, Library, OnProgress
from rag.engine.reembedding import Reembedding
from rag.engine.requests import own_key, parse, with_own_key
from rag.engine.resources import Resources
from rag.engine.sync import OnFile
from rag.store import CACHE_KINDS, CacheKind, CacheStats, FileStore, Health, Store
from rag.types import (
    AnswerEvent,
    AnswerOptions,
    AnswerRequest,
    AnswerResponse,
    ChatMessage,
    Chunk,
    Conversation,
    Document,
    DocumentStatus,
    EmbeddingGeneration,
    EmbeddingSpace,
    Explanation,
    GenerationComparison,
    GenerationOptions,
    Highlight,
    Index,
    IndexRequest,
    IndexStats,
    Passage,
    Region,
    RetrievalOptions,
    RetrievalRequest,
    RetrievalResult,
    Scope,
    SearchRequest,
    SearchResponse,
    SyncReport,
    TextBlock,
)

LOCAL_USER = "local"
CROSS_ENCODER = "local:ms-marco-MiniLM-L-12-v2"


class RAGEngine:
    """Documents in, grounded answers out, for one user.

    Everything is opened when first used. `store`, `files`, `embedders`, `llm`, `reranker` and `registry` (the known
    model providers) replace what the settings would give.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        user_id: str = LOCAL_USER,
        store: Store | None = None,
        files: FileStore | None = None,
        embedders: Mapping[EmbeddingSpace, embeddings.BaseEmbedding] | None = None,
        llm: LLM | None = None,
        reranker: providers.CrossEncoder | None = None,
        registry: providers.Registry | None = None,
    ) -> None:
        resources = Resources(
            config or load_config(),
            store=store,
            files=files,
            embedders=embedders,
            llm=llm,
            reranker=reranker,
            registry=registry,
        )
        self._bind(resources, user_id)

    def _bind(self, resources: Resources, user_id: str) -> None:
        if not user_id:
            raise errors.ValidationError("A user is needed: user_id is empty.")
        self._resources = resources
        self.user_id = user_id
        self._library = Library(resources, user_id)
        self._folders = Folders(resources, self._library, user_id)

    def for_user(self, user_id: str) -> "RAGEngine":
        """The same connections and models for another user."""
        other = object.__new__(RAGEngine)
        other._bind(self._resources, user_id)
        return other

    def close(self) -> None:
        """Give back connections; every engine over the same resources is closed with it."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def config(self) -> Config:
        """The settings in force."""
        return self._resources.config

    # --- indexes ---

    def index(self, name: str = DEFAULT_INDEX) -> Index:
        """The index called `name`, or with this id; created empty if there is none.

        Raises:
            errors.IndexError: `RAG_EMBED_MODEL` names another embedding model than the one its documents have.
        """
        try:
            index = find_index(self._resources, self.user_id, name)
        except errors.NotFoundError:
            return self._create_index(name)
        if self.config.rag_embed_model and self._resources.preferred_space() != index.space:
            return self._create_index(index.name)
        return index

    def _asked(self, name: str) -> Index:
        """The index that a request names: it is not made by asking, but for the default one.

        An index of another name is searched with the model that it was built with, whatever `RAG_EMBED_MODEL` says.
        """
        return self.index() if name == DEFAULT_INDEX else find_index(self._resources, self.user_id, name)

    def _create_index(self, name: str) -> Index:
        return self._resources.store.indexes.ensure(
            self.user_id, name, self._resources.preferred_space(), self.config.rag_chunking
        )

    def indexes(self) -> list[Index]:
        """All indexes of this user."""
        return self._resources.store.indexes.list(self.user_id)

    def inspect_index(self, name: str = DEFAULT_INDEX) -> IndexStats:
        """What an index holds. Raises NotFoundError if there is none of this name or id."""
        return self._resources.store.indexes.stats(self.user_id, self._asked(name).id)

    def build_index(self, request: IndexRequest | Mapping[str, Any], on_file: OnFile | None = None) -> SyncReport:
        """Take a folder's files into an index; what is in it and no longer in the folder stays.

        `on_file` is called for each file as it is done. Raises as `Folders.take_in`.
        """
        return self._folders.take_in(parse(IndexRequest, request), remove=False, on_file=on_file)

    def sync_index(self, request: IndexRequest | Mapping[str, Any], on_file: OnFile | None = None) -> SyncReport:
        """Make an index follow a folder: new and changed files are read, documents of files that are gone are trashed.

        Files are compared by their content. Raises as `Folders.take_in`.
        """
        return self._folders.take_in(parse(IndexRequest, request), remove=True, on_file=on_file)

    def models(self, index_name: str = DEFAULT_INDEX) -> dict[str, str]:
        """Which model embeds, which one writes answers, and which one orders candidates anew, as `provider:model`."""
        space = self.index(index_name).space
        llm = self._resources.language_model(GenerationOptions())
        return {
            "embedding": f"{space.provider}:{space.model}",
            "answers": llm.metadata.model_name if llm else providers.EXTRACTIVE,
            "reranking": CROSS_ENCODER,
        }

    # --- another embedding model for an index ---

    def embedding_generations(self, index_name: str = DEFAULT_INDEX) -> list[EmbeddingGeneration]:
        """The embedding models whose vectors an index has, oldest first; one of them is searched."""
        return self._reembedding(index_name).generations()

    def reembed(
        self, index_name: str, model: str, on_progress: Callable[[int, int], None] | None = None
    ) -> EmbeddingGeneration:
        """Build the vectors of `model` (`provider:model`) beside those that are searched, which stay as they are.

        Called again it goes on where it was. `on_progress` is told how many of how many chunks are done.

        Raises:
            errors.NotFoundError: there is no such index.
            errors.ValidationError: there is no such model.
            errors.IndexError: another process is at it, or the vectors were dropped meanwhile.
            errors.ProviderError: the vendor refuses; what is embedded is kept.
        """
        return self._reembedding(index_name).build(model, on_progress)

    def compare_generations(
        self, index_name: str, questions_file: Path, generation: int | None = None
    ) -> GenerationComparison:
        """How the searched vectors and others (the latest built, unless named) serve the questions of a JSONL file.

        Raises:
            errors.SourceError: the file cannot be read.
            errors.ValidationError: it has no question on a document of the index.
            errors.IndexError: there are no other vectors, or not all of them.
        """
        return self._reembedding(index_name).compare(questions_file, self._search_in, generation)

    def switch_generation(self, index_name: str = DEFAULT_INDEX, generation: int | None = None) -> Index:
        """Search with other vectors (the latest built, unless named) from the next search on.

        Documents that came since they were built are embedded first. Raises as `reembed`.
        """
        return self._reembedding(index_name).switch(generation)

    def rollback_generation(self, index_name: str = DEFAULT_INDEX) -> Index:
        """Undo the last switch. Raises IndexError if there was none, or the earlier vectors were dropped."""
        return self._reembedding(index_name).rollback()

    def drop_generation(
        self, index_name: str = DEFAULT_INDEX, generation: int | None = None
    ) -> list[EmbeddingGeneration]:
        """Remove vectors that are not searched, all of them unless one is named; a build of them ends.

        Raises:
            errors.IndexError: the named ones are searched.
        """
        return self._reembedding(index_name).drop(generation)

    def _reembedding(self, index_name: str) -> Reembedding:
        return Reembedding(self._resources, find_index(self._resources, self.user_id, index_name))

    def forget_provider(self, name: str) -> None:
        """Open a provider's embedding models anew when they are needed next: another adapter bears its name."""
        self._resources.forget_provider(name)

    # --- documents ---

    def add_file(
        self,
        content: FileContent,
        name: str,
        *,
        index_name: str = DEFAULT_INDEX,
        password: str | None = None,
        source: str | None = None,
        enqueue: bool = True,
    ) -> Document:
        """Take a file in; a worker reads it unless `enqueue` is False: then call `process`. Raises as `Library.add`."""
        document = self._library.add(content, name, self.index(index_name), password=password, source=source)
        return self._enqueue(document) if enqueue else document

    def _enqueue(self, document: Document) -> Document:
        if document.status is DocumentStatus.QUEUED:
            self._resources.store.jobs.enqueue(self.user_id, document.id)
        return document

    def unlock(self, document_id: uuid.UUID, password: str) -> Document:
        """Give an encrypted document its password; it is read next. Raises PasswordError if it is wrong."""
        return self._enqueue(self._library.unlock(document_id, password))

    def retry(self, document_id: uuid.UUID) -> Document:
        """Read a failed document again."""
        return self._enqueue(self._library.retry(document_id))

    def process(self, document_id: uuid.UUID, on_progress: OnProgress | None = None) -> Document:
        """Read a queued document here and now; its failure is recorded on it."""
        return self._library.process(document_id, on_progress)

    def index_document(self, document_id: uuid.UUID, blocks: Sequence[TextBlock]) -> Document:
        """Make a document searchable by the caller's own blocks."""
        return self._library.index_blocks(document_id, blocks)

    def documents(
        self, index_name: str = DEFAULT_INDEX, *, search: str | None = None, in_trash: bool = False
    ) -> list[Document]:
        """Documents of an index, newest first; `search` looks in their names."""
        return self._resources.store.documents.list(
            self.user_id, self.index(index_name).id, search=search, in_trash=in_trash
        )

    def document(self, document_id: uuid.UUID) -> Document:
        """One document, in the trash or not. Raises NotFoundError."""
        return self._resources.store.documents.get(self.user_id, document_id)

    def trash(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Put documents in the trash: out of every search at once, restorable. Returns those that were touched."""
        return self._resources.store.documents.trash(self.user_id, document_ids)

    def ingest(self, file_paths: Sequence[str | Path], index_name: str = DEFAULT_INDEX) -> dict[str, Any]:
        """Take in files by path; one that was taken in before is replaced if it changed. A failure stops no other file.

        Returns `ingested_count` (files that are in the index now), `failed_count`, `chunk_count` (chunks made now) and
        `failed_files` (their paths, as given).

        Raises:
            errors.ValidationError: no paths are given.
        """
        paths = named("file_paths", file_paths)
        reports = self._folders.ingest([Path(path) for path in paths], self.index(index_name))
        return ingested(paths, reports)

    def query(self, query_text: str, index_name: str = DEFAULT_INDEX) -> list[RetrievalResult]:
        """Up to five chunks whose cosine similarity to the query is 0.5 or more, best first.

        Raises:
            errors.ValidationError: the query has fewer than three characters.
        """
        request = SearchRequest(index_name=index_name, query=queried(query_text), retrieval=BY_SIMILARITY)
        hits = self.search(request).results
        return [RetrievalResult.of(hit, rank) for rank, hit in enumerate(hits, start=1)]

    def delete(self, document_ids: Sequence[str | uuid.UUID], index_name: str = DEFAULT_INDEX) -> dict[str, Any]:
        """Put documents in the trash by id, by path or URL, or by the SHA-256 of path or URL.

        Returns `deleted_count` (documents), `deleted_ids` and `not_found_ids` (as given).

        Raises:
            errors.ValidationError: no ids are given.
        """
        references = named("document_ids", document_ids)
        found = self._resources.store.documents.named(self.user_id, self._asked(index_name).id, references)
        touched = self.trash([document_id for ids in found.values() for document_id in ids])
        return deleted(references, found, touched)

    def restore(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Take documents out of the trash."""
        return self._resources.store.documents.restore(self.user_id, document_ids)

    def purge(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Remove documents in the trash for good."""
        return self._library.purge(document_ids)

    def original(self, document_id: uuid.UUID) -> Path:
        """The file as it was uploaded."""
        return self._library.original(document_id)

    def rendition(self, document_id: uuid.UUID) -> Path:
        """The PDF that is shown and highlighted."""
        return self._library.rendition(document_id)

    def chunks(
        self, document_id: uuid.UUID, page_number: int | None = None, *, limit: int | None = None, offset: int = 0
    ) -> list[Chunk]:
        """A document's chunks in reading order, or those on one page."""
        return self._resources.store.chunks.of_document(
            self.user_id, document_id, page_number=page_number, limit=limit, offset=offset
        )

    # --- work in the background, of all users ---

    def run_jobs(self, process: Callable[[str, uuid.UUID], None], *, wait: bool = True) -> None:
        """Call `process` with user and document for each queued one until SIGINT or SIGTERM, or while any is left."""
        self._resources.store.jobs.run(process, wait=wait)

    def recover_jobs(self) -> int:
        """Queue again what a killed worker left behind; returns how many documents are to be read."""
        self._resources.store.jobs.discard_stalled()
        unfinished = self._resources.store.documents.unfinished()
        for user_id, document_id in unfinished:
            self._resources.store.jobs.enqueue(user_id, document_id)
        return len(unfinished)

    def health(self) -> Health:
        """What the database says of itself, and how many workers are alive. Raises StoreError if it is unreachable."""
        return self._resources.store.health()

    # --- pages ---

    def page_window(self, document_id: uuid.UUID, first: int, last: int, highlights: Sequence[Highlight] = ()) -> bytes:
        """Pages `first` to `last` as a PDF with `highlights` burnt in."""
        return parsing.page_window(self.rendition(document_id), first=first, last=last, highlights=highlights)

    def page_image(
        self, document_id: uuid.UUID, page_number: int, *, zoom: float = 2.0, regions: Sequence[Region] = ()
    ) -> bytes:
        """A page as PNG at `zoom` pixels per point, the boxes of `regions` drawn on it."""
        return parsing.page_image(self.rendition(document_id), page_number, zoom=zoom, regions=regions)

    def locate(self, document_id: uuid.UUID, passage: Passage, start: int, end: int) -> tuple[Region, ...]:
        """The boxes of exactly the characters `passage.text[start:end]`."""
        return parsing.locate(self.rendition(document_id), passage, start, end)

    # --- searching and answering ---

    def search(self, request: SearchRequest | Mapping[str, Any]) -> SearchResponse:
        """Find the places that fit a query, best first.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such index.
            errors.AuthError: the provider that embeds the query refuses the request's own key.
            errors.ProviderError: that provider refuses or is down.
        """
        request = parse(SearchRequest, request)
        with own_key(request.auth):
            return self._search_in(self._asked(request.index_name), request)

    def _search_in(self, index: Index, request: SearchRequest) -> SearchResponse:
        return self._searcher(index, request).search(self._scope(index, request.retrieval), request)

    def _scope(self, index: Index, options: RetrievalOptions) -> Scope:
        return Scope(
            user_id=self.user_id,
            index_id=index.id,
            filters=options.filters,
            must_include=options.must_include,
            must_include_mode=options.must_include_mode,
        )

    def _searcher(self, index: Index, request: RetrievalRequest) -> retrieval.Searcher:
        return retrieval.Searcher(
            store=self._resources.store,
            space=index.space,
            embedder=self._resources.embedder(index.space, request.auth, request.embedding.provider_options),
            reranker=self._resources.reranker,
            llm=self._resources.language_model(GenerationOptions()) if request.retrieval.needs_language_model else None,
        )

    def why(self, request: SearchRequest | Mapping[str, Any], passage: str) -> Explanation:
        """Why some words of a document are, or are not, among what an answer to the request's query is made from.

        Raises:
            errors.ValidationError: `passage` is empty.
        """
        request = parse(SearchRequest, request)
        if not passage.split():
            raise errors.ValidationError("The passage is empty. Give some words as they stand in the document.")
        index = self._asked(request.index_name)
        searcher, scope = self._searcher(index, request), self._scope(index, request.retrieval)
        explainer = Explainer(self._resources.store, searcher, scope, request)
        return explainer.explain(passage, context_tokens=AnswerOptions().max_context_tokens)

    def answer(
        self, request: AnswerRequest | Mapping[str, Any] | str, document_id: uuid.UUID | str | None = None
    ) -> AnswerResponse:
        """Answer a question from the documents, every claim cited; `contexts` of the answer are the cited hits.

        A bare question is answered from the best five places of the default index. `document_id` narrows the search.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: there is no such index.
            errors.AuthError: a provider refuses the request's own key.
            errors.ProviderError: a provider refuses or is down.
        """
        if isinstance(request, str):
            request = {"question": request, "retrieval": {"top_k": QUESTION_TOP_K}}
        asked = parse(AnswerRequest, request)
        *_, response = self.stream_answer(within(asked, document_id) if document_id else asked)
        if not isinstance(response, AnswerResponse):
            raise errors.GroundingError("The answer broke off before it was checked. Ask again.")
        return response

    def stream_answer(self, request: AnswerRequest | Mapping[str, Any]) -> Iterator[AnswerEvent]:
        """Pieces of the answer as they come, then the checked answer, which replaces them."""
        request = parse(AnswerRequest, request)
        generation = self._generation(request)
        llm = self._resources.language_model(generation)
        with own_key(generation.auth):
            question = answering.condense(request.question, request.history, llm)
        found = self.search(
            SearchRequest(
                index_name=request.index_name,
                query=question,
                retrieval=request.retrieval,
                auth=request.auth,
                embedding=request.embedding,
            )
        )
        events = answering.stream(
            question,
            found,
            request,
            llm=llm,
            reranker=self._resources.reranker,
            locate=self.locate,
            memory=self._memory,
        )
        return with_own_key(events, generation.auth)

    def _generation(self, request: AnswerRequest) -> GenerationOptions:
        """With the request's key where it can only be meant for the provider that writes, too: never for another."""
        generation = request.generation
        if generation.auth.api_key or not generation.provider or not request.auth.api_key:
            return generation
        embeds = self._asked(request.index_name).space.provider
        is_meant = embeds == generation.provider or not self._resources.takes_key(embeds)
        return generation.model_copy(update={"auth": request.auth}) if is_meant else generation

    @property
    def _memory(self) -> retrieval.Memory:
        return retrieval.Memory(self._resources.store.caches, self.user_id)

    # --- caches ---

    def caches(self) -> list[CacheStats]:
        """How much each of this user's caches holds, and how often it had what was asked of it."""
        return self._resources.store.caches.stats(self.user_id)

    def clear_caches(self, kinds: Collection[CacheKind] = CACHE_KINDS) -> int:
        """Forget what this user's caches hold; returns the number of entries."""
        return self._resources.store.caches.clear(self.user_id, kinds)

    # --- conversations ---

    def start_conversation(
        self, title: str, *, index_name: str = DEFAULT_INDEX, document_ids: Sequence[uuid.UUID] = ()
    ) -> Conversation:
        """A new chat over an index, or over some of its documents."""
        return self._resources.store.conversations.create(
            self.user_id, self.index(index_name).id, title=title, document_ids=document_ids
        )

    def conversations(self, index_name: str = DEFAULT_INDEX) -> list[Conversation]:
        """This user's chats, the latest first."""
        return self._resources.store.conversations.list(self.user_id, self.index(index_name).id)

    def messages(self, conversation_id: uuid.UUID) -> list[ChatMessage]:
        """A chat's turns in order."""
        return self._resources.store.conversations.messages(self.user_id, conversation_id)

    def append_message(
        self,
        conversation_id: uuid.UUID,
        role: Literal["user", "assistant"],
        content: str,
        response: AnswerResponse | None = None,
    ) -> ChatMessage:
        """Keep a turn."""
        return self._resources.store.conversations.append(
            self.user_id, conversation_id, role=role, content=content, response=response
        )

    def rename_conversation(self, conversation_id: uuid.UUID, title: str) -> None:
        """Give a chat another title."""
        self._resources.store.conversations.rename(self.user_id, conversation_id, title)

    def delete_conversation(self, conversation_id: uuid.UUID) -> None:
        """Remove a chat and its turns."""
        self._resources.store.conversations.delete(self.user_id, conversation_id)

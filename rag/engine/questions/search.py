"""Search an index as one request says: LlamaIndex's retriever and node postprocessors, with our parts."""

import contextlib
import itertools
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from rag import errors, providers, retrieval, types, vocabulary
from rag.answering.extraction.summary import to_hit
from rag.answering.generation.context import ReadDocuments
from rag.engine.library import saved_filters
from rag.engine.questions.document_mentions import find_mentions, without_names
from rag.engine.request_parsing import restrict_to_documents
from rag.engine.workspace import Workspace

Request = TypeVar("Request", bound=types.RetrievalRequest)


class Restricted(NamedTuple, Generic[Request]):
    """A request restricted to the documents that its question names, and the text to search their passages for."""

    request: Request
    passage_text: str
    named: Mapping[uuid.UUID, str]


if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.postprocessor.types import BaseNodePostprocessor


def restrict_to_named(workspace: Workspace, index: types.Index, request: Request, question: str) -> Restricted[Request]:
    """Restrict a request to the documents that its question names, unless the request says not to.

    The name of a single thing is left out of the text that is searched for.
    """
    options = saved_filters.resolve_saved_filter(workspace.store, request).retrieval
    if not options.routing:
        return Restricted(request, question, {})
    documents = workspace.store.documents.subjects(types.Scope(index_id=index.id, filters=options.filters))
    mentions = find_mentions(question, documents)
    if not any(mention.is_certain for mention in mentions):
        return Restricted(request, question, {})
    named = {document.id: document.name for mention in mentions for document in mention.documents}
    are_same = len({frozenset(one.id for one in mention.documents) for mention in mentions}) == 1
    text = without_names(question, mentions) if are_same else question
    return Restricted(restrict_to_documents(request, named), text, named)


class Search:
    """The search of one request; what it was asked with is bound here, once."""

    def __init__(self, workspace: Workspace, index: types.Index, request: types.RetrievalRequest) -> None:
        self._workspace = workspace
        self._index = index
        asked = saved_filters.resolve_saved_filter(workspace.store, request).retrieval
        self.options = retrieval.as_configured(asked, workspace.config)
        self._store = workspace.store
        self.scope = types.Scope(
            index_id=index.id,
            filters=self.options.filters,
            must_include=self.options.must_include,
            must_include_mode=self.options.must_include_mode,
        )
        embedder = workspace.models.embedder(index.space, request.auth, request.embedding.provider_options)
        self._embedder = providers.CachedEmbedding(embedder, index.space, self._store.embedding_cache)
        self._llm = workspace.models.language_model() if self.options.needs_language_model else None

    def retriever(self, depth: int | None = None) -> "retrieval.HybridRetriever":
        """Return the retriever of as many candidates as the stages need, or `depth`."""
        return retrieval.HybridRetriever(
            store=self._store,
            space=self._index.space,
            embedder=self._embedder,
            scope=self.scope,
            options=self.options,
            depth=depth or retrieval.candidate_count(self.options),
            widener=vocabulary.widener,
            similarity=lambda: self._workspace.models.scales.of(self._index.space, self._embedder),
            llm=self._llm,
            languages=self._workspace.models.languages(self._index.space),
        )

    def stages(self) -> "list[BaseNodePostprocessor]":
        """Return the node postprocessors."""
        return retrieval.stages(self.options, store=self._store, reranker=self._workspace.models.reranker)

    def run(self, query: "retrieval.Query") -> types.SearchResponse:
        """Search for a query, which then holds its vector and the trace of each candidate."""
        started = time.perf_counter()
        nodes = self.retriever().retrieve(query)
        for stage in self.stages():
            nodes = stage.postprocess_nodes(nodes, query)
        return self.response(query, retrieval.to_hits(nodes), time.perf_counter() - started)

    def response(self, query: "retrieval.Query", hits: Sequence[types.Hit], seconds: float) -> types.SearchResponse:
        """Return the search response for the hits of a query."""
        options = self.options
        texts = [variant.text for variant in query.findings.variants] if options.by_meaning else []
        return types.SearchResponse(
            query=query.query_str,
            top_k=options.top_k,
            min_score=options.min_score,
            mode=options.mode,
            results=hits,
            usage=types.total_usage(query.findings.spent).model_copy(
                update={"embedding_tokens": sum(map(providers.count_tokens, texts)), "latency_ms": seconds * 1000}
            ),
            trace=retrieval.trace(query.findings, hits, options) if options.trace else None,
        )


MAX_WHOLE_DOCUMENTS = 8
"""In a scope of more documents, only those with hits are read whole."""

MIN_CHUNK_TOKENS, CHUNK_TOKENS = 60, 250
"""A document of more chunks than the room has times the first is not read; a full chunk has the second."""


def all_fit(workspace: Workspace, index: types.Index, request: types.RetrievalRequest, budget_tokens: int) -> bool:
    """Return whether all documents that `request` asks will be read whole, whatever is found."""
    options = saved_filters.resolve_saved_filter(workspace.store, request).retrieval
    documents = _always_read(workspace, index, options)
    return bool(documents) and sum(one.chunk_count for one in documents) <= budget_tokens // CHUNK_TOKENS


def _always_read(workspace: Workspace, index: types.Index, options: types.RetrievalOptions) -> list[types.Document]:
    """Return the documents in scope that are read whole without a hit; none of many, nor where passages are asked."""
    if options.must_include or options.passage == "chunk":
        return []
    scope = types.DocumentQuery(filters=options.filters, disabled=False)
    documents = workspace.store.documents.list(index.id, scope, limit=MAX_WHOLE_DOCUMENTS + 1)
    return documents if len(documents) <= MAX_WHOLE_DOCUMENTS else []


def whole_documents(
    workspace: Workspace, index: types.Index, request: types.RetrievalRequest, *, only_found: bool = False
) -> ReadDocuments:
    """Return the function that reads the documents that `request` asks, or `only_found` those that hits are from.

    It returns the documents that may fit into a number of tokens, those with hits first, as hits page by page; none if
    the request wants passages of another kind: only chunks, or only those with certain words.
    """
    store = workspace.store
    options = saved_filters.resolve_saved_filter(store, request).retrieval

    def read(hits: Sequence[types.Hit], budget_tokens: int) -> list[list[types.Hit]]:
        if options.must_include or options.passage == "chunk":
            return []
        ids = dict.fromkeys(hit.passage.document_id for hit in hits)
        if not only_found:
            ids |= dict.fromkeys(document.id for document in _always_read(workspace, index, options))
        read_whole = []
        for document_id in ids:
            with contextlib.suppress(errors.NotFoundError):  # purged meanwhile, or a node of the caller's own
                document = store.documents.get(document_id)
                if document.chunk_count <= budget_tokens // MIN_CHUNK_TOKENS:
                    read_whole.append(page_hits(document, store.chunks.of_document(document_id)))
        return [pages for pages in read_whole if pages]

    return read


def page_hits(document: types.Document, chunks: Sequence[types.Chunk]) -> list[types.Hit]:
    """Return the pages of a document with these `chunks` as hits, in reading order.

    A page has all its lines, and the rest of its chunks that begin or end on another page, so that a sentence across a
    page break is whole in one of both.
    """
    of_page: dict[int, list[types.Chunk]] = {}
    lines: dict[object, types.Line] = {}
    for chunk in chunks:
        of_page.setdefault(chunk.main_page, []).append(chunk)
        for line in chunk.lines:
            lines.setdefault(_key(line), line)
    in_order = sorted(lines.values(), key=lambda line: (line.page_number, line.number))
    on_page = {page: [*group] for page, group in itertools.groupby(in_order, key=lambda line: line.page_number)}
    hits = []
    for page, own in sorted(of_page.items()):
        beyond = {_key(line) for chunk in own for line in chunk.lines if line.page_number != page}
        near = sorted({page, *(number for chunk in own for number in chunk.pages)})
        kept = (line for number in near for line in on_page[number] if number == page or _key(line) in beyond)
        hits.append(to_hit(own[0], document, tuple(kept), score=0.0))
    return hits


def _key(line: types.Line) -> object:
    # the parts of a long line have one number
    return line.page_number, line.number, line.text, line.bbox

"""Hybrid search: variants of the question, dense and lexical candidates, fused, ordered, gathered to places."""

import hashlib
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from concurrent import futures
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from llama_index.core.base.embeddings import base as embeddings
from llama_index.core.llms import LLM

from rag import errors, providers
from rag.config import Config
from rag.retrieval import tracing
from rag.retrieval.augmentation import variants
from rag.retrieval.completions import Completions, Memory
from rag.retrieval.configured import ConfiguredOptions, as_configured
from rag.retrieval.diversity import maximal_marginal_relevance
from rag.retrieval.fusion import ranks
from rag.retrieval.places import Place, around, gather_places
from rag.retrieval.ranking import Ranking, best_first, merge, rank
from rag.retrieval.reranking import ModelReranker, Reranker
from rag.store import LexicalMatches, Store
from rag.types import (
    Candidate,
    Chunk,
    Document,
    EmbeddingSpace,
    Hit,
    Passage,
    RetrievalOptions,
    Scope,
    SearchRequest,
    SearchResponse,
    Usage,
)

POOL = 100
"""Candidates asked of each list; more change the first ten places hardly ever."""
PER_PLACE = 4
"""Chunks looked at for each place asked for: several may lie on the same pages."""
SPARE = 5
"""Chunks looked at beside those asked for, since one may just be deleted."""
SEARCHES_AT_ONCE = 4
"""Of the variants' dense and lexical searches; each keeps a process of the database busy."""


STANDING_POOL = 1000
"""How far a chunk that was not found is looked for."""


class Standing(NamedTuple):
    """Where a chunk stands in both searches, if it is among the first `looked_at` there. Scores as in a hit."""

    looked_at: int
    vector_rank: int | None
    vector_score: float | None
    lexical_rank: int | None
    lexical_score: float | None


class Searcher:
    """Searches one embedding space of a store, for one request; it remembers the vectors of what it searched for."""

    def __init__(
        self,
        *,
        store: Store,
        space: EmbeddingSpace,
        embedder: embeddings.BaseEmbedding,
        reranker: Reranker,
        config: Config,
        llm: LLM | None = None,
    ) -> None:
        """`config` says how to search where a request does not.

        `llm` writes rewrites and hypothetical answers, and rates passages, where a request asks for it.
        """
        self._store = store
        self._space = space
        self._embedder = embedder
        self._reranker = reranker
        self._config = config
        self._llm = llm
        self._embedded: dict[bytes, Sequence[float]] = {}

    def search(self, scope: Scope, request: SearchRequest) -> SearchResponse:
        """The best places for the request's query within `scope`, best first.

        Raises:
            errors.ConfigError: the request needs a language model, and there is none.
            errors.ProviderError: the vendor of the embedding or the language model refuses.
            errors.RetrievalError: the language model's order of the passages cannot be read.
            errors.StoreError: the database fails.
        """
        started = time.perf_counter()
        options = as_configured(request.retrieval, self._config)
        completions = self._completions(scope.user_id, options)
        searched = variants(request.query, options, completions)
        ranking = self._candidates(scope, [variant.text for variant in searched], options)
        considered = best_first(ranking.fused)[: _considered(options)]
        found = {chunk.id: (chunk, document) for chunk, document in self._store.chunks.get(scope.user_id, considered)}
        chunks = [found[key][0] for key in considered if key in found]
        ranking = self._decide(request.query, chunks, ranking, options, completions)
        ordered = self._diversify(scope.user_id, ranking, options)
        places = _places([found[key][0] for key in ordered], options)
        documents = {document.id: document for _, document in found.values()}
        results = self._hits(scope, places, documents, ranking, options)
        return SearchResponse(
            query=request.query,
            top_k=options.top_k,
            min_score=options.min_score,
            mode=options.mode,
            results=results,
            usage=Usage(
                embedding_tokens=0
                if options.mode == "lexical"
                else sum(providers.count_tokens(variant.text) for variant in searched),
                latency_ms=(time.perf_counter() - started) * 1000,
            ),
            trace=tracing.trace(searched, ranking, considered=considered, chunks=chunks, hits=results, options=options)
            if options.trace
            else None,
        )

    def query_vector(self, user_id: str, query: str) -> Sequence[float]:
        """The query's vector, of unit length, as the searches use it."""
        return self._vectors(user_id, [query])[0]

    def standing(self, scope: Scope, request: SearchRequest, ids: Collection[uuid.UUID]) -> Standing:
        """The best ranks of any of the chunks `ids` for the request's query itself, far beyond what a search reads."""
        (vector,) = self._vectors(scope.user_id, [request.query])
        near = self._store.chunks.dense(scope, self._space, vector, STANDING_POOL)
        matches = self._store.chunks.lexical(scope, request.query, STANDING_POOL)
        found = rank(near, matches, as_configured(request.retrieval, self._config))
        best = [
            min(((place, scores[key]) for key, place in ranks(scores).items() if key in ids), default=(None, None))
            for scores in (found.vector, found.lexical)
        ]
        return Standing(STANDING_POOL, *best[0], *best[1])

    def _completions(self, user_id: str, options: RetrievalOptions) -> Completions | None:
        if not options.needs_language_model:
            return None
        if self._llm is None:
            raise errors.ConfigError(
                "Rewrites, hypothetical answers and reranking by a language model need one, and no provider's key is "
                "given. Set a key, or search without them."
            )
        return Completions(self._llm, Memory(self._store.caches, user_id))

    def _candidates(self, scope: Scope, texts: Sequence[str], options: ConfiguredOptions) -> Ranking:
        """All searches at the same time."""
        with futures.ThreadPoolExecutor(SEARCHES_AT_ONCE, thread_name_prefix="search") as threads:
            matches = [threads.submit(self._lexical, scope, text, options) for text in texts]
            vectors = [] if options.mode == "lexical" else self._vectors(scope.user_id, texts)
            near = [threads.submit(self._dense, scope, vector) for vector in vectors]
            dense = [done.result() for done in near] or [[] for _ in texts]
            lexical = [done.result() for done in matches]
        return merge([rank(*found, options) for found in zip(dense, lexical, strict=True)])

    def _vectors(self, user_id: str, texts: Sequence[str]) -> list[Sequence[float]]:
        """The queries' vectors, each embedded once per user and model."""
        asked = {hashlib.sha256(f"query\n{text}".encode()).digest(): text for text in texts}
        wanted = {key: text for key, text in asked.items() if key not in self._embedded}
        if wanted:
            cache = self._store.embedding_cache
            known = cache.get(user_id, self._space, [*wanted])
            missing = {key: text for key, text in wanted.items() if key not in known}
            fresh = {key: providers.embed_query(self._embedder, text) for key, text in missing.items()}
            if fresh:
                cache.put(user_id, self._space, fresh)
            self._embedded |= {**known, **fresh}
        by_text = {text: self._embedded[key] for key, text in asked.items()}
        return [by_text[text] for text in texts]

    def _dense(self, scope: Scope, vector: Sequence[float]) -> list[Candidate]:
        return self._store.chunks.dense(scope, self._space, vector, POOL)

    def _lexical(self, scope: Scope, text: str, options: RetrievalOptions) -> LexicalMatches:
        if options.mode == "vector":
            return LexicalMatches([], {})
        return self._store.chunks.lexical(scope, text, POOL)

    def _decide(
        self,
        query: str,
        chunks: Sequence[Chunk],
        ranking: Ranking,
        options: RetrievalOptions,
        completions: Completions | None,
    ) -> Ranking:
        """The final scores of `chunks`: the fused ones or, where asked for, their mean with the reranker's.

        What the reranker did not see counts as unfit: it must not overtake what was seen and found wanting.
        """
        fused = {chunk.id: ranking.fused[chunk.id] for chunk in chunks}
        if not options.rerank.enabled:
            return replace(ranking, final=fused)
        reranker = ModelReranker(completions) if completions and options.rerank.by == "llm" else self._reranker
        chosen = chunks[: options.rerank.top_n]
        scores = reranker.scores(query, [f"{chunk.context}\n{chunk.text}" for chunk in chosen])
        reranked = {chunk.id: score for chunk, score in zip(chosen, scores, strict=True)}
        final = {key: (score + reranked.get(key, 0.0)) / 2 for key, score in fused.items()}
        return replace(ranking, final=final, reranked=reranked)

    def _diversify(self, user_id: str, ranking: Ranking, options: RetrievalOptions) -> list[uuid.UUID]:
        """What scores high enough, in the order it is taken."""
        keys = [key for key in best_first(ranking.final) if ranking.final[key] >= options.min_score]
        if not options.diversity or not keys:
            return keys
        vectors = self._store.chunks.vectors(user_id, keys)
        present = [key for key in keys if key in vectors]
        order = maximal_marginal_relevance(
            np.array([ranking.final[key] for key in present]),
            np.array([vectors[key] for key in present]),
            diversity=options.diversity,
            limit=len(present),
        )
        return [present[position] for position in order]

    def _hits(
        self,
        scope: Scope,
        places: Sequence[Place],
        documents: Mapping[uuid.UUID, Document],
        ranking: Ranking,
        options: RetrievalOptions,
    ) -> tuple[Hit, ...]:
        wanted = [(place.document_id, page) for place in places for page in place.pages]
        pages = self._store.chunks.page_lines(scope.user_id, wanted) if options.passage == "pages" else {}
        vector_ranks, lexical_ranks = ranks(ranking.vector), ranks(ranking.lexical)
        hits = []
        for place in places:
            read = place.chunk.lines
            if options.passage == "pages":
                lines = [line for page in sorted(place.pages) for line in pages.get((place.document_id, page), ())]
                if not lines:
                    continue  # deleted since it was found
                read = around(lines, place.chunk)
            key, document = place.chunk.id, documents[place.document_id]
            hits.append(
                Hit(
                    chunk=place.chunk,
                    passage=Passage(document_id=place.document_id, lines=read),
                    document_name=document.name,
                    mime_type=document.mime_type,
                    title=document.title,
                    source=document.source,
                    vector_score=ranking.vector.get(key),
                    lexical_score=ranking.lexical.get(key),
                    rerank_score=ranking.reranked.get(key),
                    final_score=ranking.final[key],
                    vector_rank=vector_ranks.get(key),
                    lexical_rank=lexical_ranks.get(key),
                )
            )
        return tuple(hits)


def _considered(options: RetrievalOptions) -> int:
    """How many candidates are read: where each chunk is a place of its own, hardly more than are asked for."""
    each_counts = options.passage == "chunk" and not options.diversity
    places = options.top_k + SPARE if each_counts else options.top_k * PER_PLACE
    return max(places, options.rerank.top_n if options.rerank.enabled else 0)


def _places(chunks: Sequence[Chunk], options: RetrievalOptions) -> list[Place]:
    """The first places of `chunks`, each with its neighbours; or each chunk as a place of its own."""
    if options.passage == "chunk":
        return [Place(chunk, [*chunk.pages]) for chunk in chunks[: options.top_k]]
    return gather_places(chunks)[: options.top_k]

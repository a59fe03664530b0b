"""Hybrid search: dense and lexical candidates, fused, with the document as evidence, gathered to places."""

import time
import uuid
from collections.abc import Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass, field, replace

from llama_index.core.base.embeddings import base as embeddings

from rag import providers
from rag.retrieval.fusion import min_max, ranks, reciprocal_rank_fusion, weighted_fusion
from rag.retrieval.places import Place, around, gather_places
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
DOCUMENT_WEIGHT = 0.3
"""What the whole document's fit counts beside the chunk's own (1.0): of two equal chunks, the one whose document
also speaks of the rest of the question is the better. Measured between 0.1 and 0.8; flat from 0.3 on."""
PER_PLACE = 4
"""Chunks looked at for each place asked for: several may lie on the same pages."""

Scores = dict[uuid.UUID, float]


@dataclass(frozen=True)
class Ranking:
    """Scores by chunk: cosine similarity, BM25 as a share of the best, both fused, the cross-encoder's, the final."""

    vector: Scores
    lexical: Scores
    fused: Scores
    reranked: Scores = field(default_factory=dict)
    final: Scores = field(default_factory=dict)


class Searcher:
    """Searches one embedding space of a store."""

    def __init__(
        self,
        *,
        store: Store,
        space: EmbeddingSpace,
        embedder: embeddings.BaseEmbedding,
        reranker: providers.CrossEncoder,
    ) -> None:
        self._store = store
        self._space = space
        self._embedder = embedder
        self._reranker = reranker

    def search(self, scope: Scope, request: SearchRequest) -> SearchResponse:
        """The best places for the request's query within `scope`, best first.

        Raises:
            errors.ProviderError: the embedding vendor refuses the query.
            errors.StoreError: the database fails.
        """
        started = time.perf_counter()
        options = request.retrieval
        ranking = self._candidates(scope, request.query, options)
        best = _best_first(ranking.fused)[: options.top_k * PER_PLACE]
        found = {chunk.id: (chunk, document) for chunk, document in self._store.chunks.get(scope.user_id, best)}
        present = [found[key][0] for key in best if key in found]
        ranking = self._decide(request.query, present, ranking, options)
        ranked = [key for key in _best_first(ranking.final) if ranking.final[key] >= options.min_score]
        places = gather_places(found[key][0] for key in ranked)[: options.top_k]
        documents = {document.id: document for _, document in found.values()}
        return SearchResponse(
            query=request.query,
            top_k=options.top_k,
            min_score=options.min_score,
            mode=options.mode,
            results=self._hits(scope, places, documents, ranking),
            usage=Usage(latency_ms=(time.perf_counter() - started) * 1000),
        )

    def _candidates(self, scope: Scope, query: str, options: RetrievalOptions) -> Ranking:
        """Both lists, asked for at the same time: each keeps another process of the database busy."""
        with futures.ThreadPoolExecutor(1, thread_name_prefix="lexical") as thread:
            words = thread.submit(self._lexical, scope, query, options)
            near = self._dense(scope, query, options)
            matches, whole = words.result()
        documents = {candidate.chunk_id: candidate.document_id for candidate in (*near, *matches)}
        vector = {candidate.chunk_id: candidate.score for candidate in near}
        top = max((candidate.score for candidate in matches), default=1.0)
        lexical = {candidate.chunk_id: candidate.score / top for candidate in matches}
        fused = fuse(vector, lexical, options)
        if options.mode == "hybrid" and len(set(documents.values())) > 1:
            fused = with_documents(fused, documents, whole)
        return Ranking(vector, lexical, fused)

    def _dense(self, scope: Scope, query: str, options: RetrievalOptions) -> list[Candidate]:
        if options.mode == "lexical":
            return []
        return self._store.chunks.dense(scope, self._space, providers.embed_query(self._embedder, query), POOL)

    def _lexical(self, scope: Scope, query: str, options: RetrievalOptions) -> LexicalMatches:
        if options.mode == "vector":
            return LexicalMatches([], {})
        return self._store.chunks.lexical(scope, query, POOL)

    def _decide(self, query: str, chunks: Sequence[Chunk], ranking: Ranking, options: RetrievalOptions) -> Ranking:
        """The final scores of `chunks`: the fused ones or, where asked for, their mean with the cross-encoder's.

        What the cross-encoder did not see counts as unfit: it must not overtake what was seen and found wanting.
        """
        fused = {chunk.id: ranking.fused[chunk.id] for chunk in chunks}
        if not options.rerank.enabled:
            return replace(ranking, final=fused)
        chosen = chunks[: options.rerank.top_n]
        scores = self._reranker.scores(query, [f"{chunk.context}\n{chunk.text}" for chunk in chosen])
        reranked = {chunk.id: score for chunk, score in zip(chosen, scores, strict=True)}
        final = {key: (score + reranked.get(key, 0.0)) / 2 for key, score in fused.items()}
        return replace(ranking, final=final, reranked=reranked)

    def _hits(
        self,
        scope: Scope,
        places: Sequence[Place],
        documents: Mapping[uuid.UUID, Document],
        ranking: Ranking,
    ) -> tuple[Hit, ...]:
        wanted = [(place.document_id, page) for place in places for page in place.pages]
        pages = self._store.chunks.page_lines(scope.user_id, wanted)
        vector_ranks, lexical_ranks = ranks(ranking.vector), ranks(ranking.lexical)
        hits = []
        for place in places:
            lines = [line for page in sorted(place.pages) for line in pages.get((place.document_id, page), ())]
            if not lines:
                continue  # deleted since it was found
            key, document = place.chunk.id, documents[place.document_id]
            hits.append(
                Hit(
                    chunk=place.chunk,
                    passage=Passage(document_id=place.document_id, lines=around(lines, place.chunk)),
                    document_name=document.name,
                    mime_type=document.mime_type,
                    title=document.title,
                    vector_score=ranking.vector.get(key),
                    lexical_score=ranking.lexical.get(key),
                    rerank_score=ranking.reranked.get(key),
                    final_score=ranking.final[key],
                    vector_rank=vector_ranks.get(key),
                    lexical_rank=lexical_ranks.get(key),
                )
            )
        return tuple(hits)


def _best_first(scores: Scores) -> list[uuid.UUID]:
    return sorted(scores, key=lambda key: -scores[key])


def fuse(vector: Scores, lexical: Scores, options: RetrievalOptions) -> Scores:
    """One score per chunk in 0..1. A search in one mode keeps that mode's own scores."""
    if options.mode == "vector":
        return vector
    if options.mode == "lexical":
        return lexical
    lists = [(vector, options.vector_weight), (lexical, options.lexical_weight)]
    if options.fusion == "rrf":
        return reciprocal_rank_fusion(lists, options.rrf_k)
    return weighted_fusion(lists)


def with_documents(fused: Scores, documents: Mapping[uuid.UUID, uuid.UUID], whole: Mapping[uuid.UUID, float]) -> Scores:
    """`fused` with the score of each chunk's whole document mixed in; still in 0..1."""
    fit = min_max({document: whole.get(document, 0.0) for document in set(documents.values())})
    return {
        key: (score + DOCUMENT_WEIGHT * fit[documents[key]]) / (1 + DOCUMENT_WEIGHT) for key, score in fused.items()
    }

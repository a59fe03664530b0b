"""Hybrid search as a LlamaIndex retriever."""

import asyncio
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent import futures
from typing import NamedTuple

from llama_index.core import schema
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings import base as embeddings
from llama_index.core.llms import LLM

from rag import errors, tracing, types
from rag.messages import N_
from rag.retrieval.completion_cache import Completions
from rag.retrieval.nodes import HitNode
from rag.retrieval.query_expansion import variants
from rag.retrieval.query_understanding import Understanding, understand
from rag.retrieval.ranking import Ranking, best_first, merge, rank, ranks
from rag.retrieval.search_defaults import ConfiguredOptions
from rag.retrieval.similarity import COSINES, Similarity
from rag.retrieval.tracing import Findings, Query, searched_text
from rag.store.search.lexical import LexicalMatches
from rag.store.store import UserStore
from rag.vocabulary import Widener

POOL = 100
"""Candidates per search; more hardly ever change the first ten results."""
SEARCHES_AT_ONCE = 4
"""Maximum number of concurrent searches; each keeps a database process busy."""
CHUNK_RANKS_LIMIT = 1000
"""Number of ranks to scan for a chunk that was not found."""


class ChunkRanks(NamedTuple):
    """The ranks and scores of a chunk in both searches, None beyond the first `looked_at`."""

    looked_at: int
    vector_rank: int | None
    vector_score: float | None
    lexical_rank: int | None
    lexical_score: float | None


class HybridRetriever(BaseRetriever):
    """Retrieves chunks of one user in one scope by vectors (`PGVectorStore`) and BM25, best first.

    Node scores are the fused scores (see `ranking`). `depth` is the number of chunks to return.
    """

    def __init__(
        self,
        *,
        store: UserStore,
        space: types.EmbeddingSpace,
        embedder: embeddings.BaseEmbedding,
        scope: types.Scope,
        options: ConfiguredOptions,
        depth: int,
        widener: Callable[[], Widener],
        similarity: Callable[[], Similarity] = lambda: COSINES,
        llm: LLM | None = None,
        languages: Collection[str] = frozenset(),
    ) -> None:
        """`widener` and `similarity` are called at each search, for the current vocabulary and the space's scale.

        `llm` writes query variants. `languages` are those that the embedding model supports, empty if multilingual.
        """
        self._store = store
        self._space = space
        self._embedder = embedder
        self._scope = scope
        self._options = options
        self._depth = depth
        self._widener = widener
        self._similarity = similarity
        self._llm = llm
        self._languages = frozenset(languages)
        super().__init__()

    @tracing.span("retrieve")
    def _retrieve(self, query_bundle: schema.QueryBundle) -> list[schema.NodeWithScore]:
        """Return the best chunks, and set `query_bundle.embedding` to the query vector, if any.

        Raises:
            errors.ValidationError: the question is too long.
            errors.ConfigError: the options need a language model, and there is none.
            errors.ProviderError: the vendor of the embedding or the language model refuses.
            errors.StoreError: the database fails.
        """
        question = types.bounded_question(query_bundle.query_str)
        completions = self._completions()
        searched = variants(question, self._options, completions)
        passage_text = searched_text(query_bundle)
        if passage_text != query_bundle.query_str:  # a name may be that of the document, and a label in it
            searched = (searched[0], types.Variant(kind="rewrite", text=passage_text), *searched[1:])
        understood = self._understand([variant.text for variant in searched])
        rankings, vectors = self._rankings(understood)
        query_bundle.embedding = next(iter(vectors), None)
        ranking = merge(rankings)
        considered = best_first(ranking.fused)
        found = self._store.chunks.get(considered[: self._depth])
        spare = sum(chunk.kinds <= types.NO_EVIDENCE for chunk, _ in found)  # they take nobody's place
        found += self._store.chunks.get(considered[self._depth : self._depth + spare])
        considered = considered[: self._depth + spare]
        if isinstance(query_bundle, Query):
            chunks = {chunk.id: chunk for chunk, _ in found}
            query_bundle.findings = Findings(searched, understood[0].rewritings, ranking, tuple(considered), chunks)
            query_bundle.findings.spent = completions.spent if completions else ()
        vector_ranks, lexical_ranks = ranks(ranking.vector), ranks(ranking.lexical)
        return [HitNode.of(_hit(chunk, document, ranking, vector_ranks, lexical_ranks)) for chunk, document in found]

    async def _aretrieve(self, query_bundle: schema.QueryBundle) -> list[schema.NodeWithScore]:
        """Run `_retrieve` in a thread."""
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def chunk_ranks(self, query: str, ids: Collection[uuid.UUID]) -> ChunkRanks:
        """Return the best ranks of the chunks `ids` for the query, far beyond the candidates of a search."""
        understood = understand(query, self._options, self._widener())
        near = self._dense(self._embedder.get_query_embedding(understood.text), CHUNK_RANKS_LIMIT)
        matches = self._lexical(understood, CHUNK_RANKS_LIMIT)
        found = rank(near, matches, self._options)
        best = [
            min(((place, scores[key]) for key, place in ranks(scores).items() if key in ids), default=(None, None))
            for scores in (found.vector, found.lexical)
        ]
        return ChunkRanks(CHUNK_RANKS_LIMIT, *best[0], *best[1])

    def _completions(self) -> Completions | None:
        if not self._options.needs_language_model:
            return None
        if self._llm is None:
            raise errors.ConfigError(
                N_(
                    "Rewrites and hypothetical answers need a language model, and no provider's key is given. Set a "
                    "key, or search without them."
                )
            )
        return Completions(self._llm, self._store.caches)

    def _understand(self, texts: Sequence[str]) -> list[Understanding]:
        with tracing.span("understand", texts=len(texts)):
            widener = self._widener()
            return [understand(text, self._options, widener) for text in texts]

    def _rankings(self, understood: Sequence[Understanding]) -> tuple[list[Ranking], list[list[float]]]:
        """Run all searches concurrently; return their rankings and the query vectors."""
        by_meaning, by_words = self._options.by_meaning, self._options.by_words
        with futures.ThreadPoolExecutor(SEARCHES_AT_ONCE, thread_name_prefix="search") as threads:
            matches = (
                [threads.submit(tracing.bind_context(self._lexical), asked) for asked in understood] if by_words else []
            )
            vectors = [self._embedder.get_query_embedding(asked.text) for asked in understood] if by_meaning else []
            near = [threads.submit(tracing.bind_context(self._dense), vector) for vector in vectors]
            dense = [done.result() for done in near] or [[] for _ in understood]
            lexical = [done.result() for done in matches] or [LexicalMatches.none() for _ in understood]
        foreign = self._foreign(dense, lexical)
        needs_scale = by_meaning and self._options.mode == "hybrid" and not self._options.by_ranks
        similarity = self._similarity() if needs_scale else COSINES
        found = zip(dense, lexical, strict=True)
        with tracing.span("fuse", fusion=self._options.fusion):
            return [rank(*lists, self._options, similarity, foreign=foreign) for lists in found], vectors

    def _foreign(
        self, dense: Sequence[Sequence[types.Candidate]], lexical: Sequence[LexicalMatches]
    ) -> frozenset[uuid.UUID]:
        """Return the candidates' documents in languages that the embedding model does not support, in hybrid search."""
        searched = frozenset().union(*(matches.languages for matches in lexical))
        if self._options.mode != "hybrid" or not self._languages or searched <= self._languages:
            return frozenset()
        found = (*dense, *(matches.chunks for matches in lexical))
        ids = {candidate.document_id for candidates in found for candidate in candidates}
        languages = self._store.documents.languages(ids)
        return frozenset(key for key, language in languages.items() if language not in self._languages)

    def _dense(self, vector: Sequence[float], limit: int = POOL) -> list[types.Candidate]:
        with tracing.span("dense", model=self._space.model, limit=limit) as step:
            found = self._store.chunks.dense(self._scope, self._space, vector, limit)
            step.add(found=len(found))
            return found

    def _lexical(self, asked: Understanding, limit: int = POOL) -> LexicalMatches:
        with tracing.span("lexical", limit=limit) as step:
            found = self._store.chunks.lexical(
                self._scope, asked.text, limit, added=asked.added, landmarks=asked.landmarks
            )
            step.add(found=len(found.chunks))
            return found


def _hit(
    chunk: types.Chunk,
    document: types.Document,
    ranking: Ranking,
    vector_ranks: Mapping[uuid.UUID, int],
    lexical_ranks: Mapping[uuid.UUID, int],
) -> types.Hit:
    """Return a hit of the chunk alone, which `PageExpansion` expands; all values are validated already."""
    return types.Hit.model_construct(
        chunk=chunk,
        passage=types.Passage.model_construct(document_id=chunk.document_id, lines=chunk.lines),
        document_name=document.name,
        mime_type=document.mime_type,
        title=document.title,
        source=document.source,
        shown_source=document.shown_source,
        vector_score=ranking.vector.get(chunk.id),
        lexical_score=ranking.lexical.get(chunk.id),
        final_score=ranking.fused[chunk.id],
        vector_rank=vector_ranks.get(chunk.id),
        lexical_rank=lexical_ranks.get(chunk.id),
    )

"""An embedding model with a cache, so that no text is embedded twice."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import llama_index.core
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from rag import tracing, types
from rag.providers.batch_embedding import BatchEmbedding
from rag.providers.model_calls import embed_query, embed_texts

EMBEDDING_BATCH = 64
"""Texts embedded between two progress reports; a killed job loses at most this many vectors."""

OnBatch = Callable[[int], None]
"""Called before each batch with the number of texts embedded so far; what it raises ends the work."""


class VectorCache(Protocol):
    """A store of vectors by the digest of the embedded text."""

    def get(self, space: types.EmbeddingSpace, text_hashes: Sequence[bytes]) -> dict[bytes, Sequence[float]]:
        """Return the cached vectors."""

    def put(self, space: types.EmbeddingSpace, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Save vectors."""


class CachedEmbedding(BatchEmbedding):
    """An embedding model that embeds only what its cache does not have for its space."""

    _embedder: BaseEmbedding = PrivateAttr()
    _space: types.EmbeddingSpace = PrivateAttr()
    _cache: VectorCache = PrivateAttr()
    _on_batch: OnBatch = PrivateAttr()
    _done: int = PrivateAttr(default=0)

    def __init__(
        self,
        embedder: BaseEmbedding,
        space: types.EmbeddingSpace,
        cache: VectorCache,
        on_batch: OnBatch = lambda _: None,
        **options: Any,
    ) -> None:
        super().__init__(model_name=space.name, embed_batch_size=EMBEDDING_BATCH, **options)
        self._embedder = embedder
        self._space = space
        self._cache = cache
        self._on_batch = on_batch

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self._on_batch(self._done)
        by_digest = {_digest(text): text for text in texts}
        with tracing.span("embed chunks", model=self.model_name, texts=len(texts)):
            vectors = self._vectors(by_digest, lambda missing: embed_texts(self._embedder, missing))
        self._done += len(texts)
        return [[*vectors[_digest(text)]] for text in texts]

    def _get_query_embedding(self, query: str) -> list[float]:
        digest = _digest(f"query\n{query}")
        with tracing.span("embed question", model=self.model_name):
            vectors = self._vectors(
                {digest: query}, lambda texts: [embed_query(self._embedder, each) for each in texts]
            )
        return [*vectors[digest]]

    def _vectors(
        self, texts: Mapping[bytes, str], embed: Callable[[list[str]], list[list[float]]]
    ) -> dict[bytes, Sequence[float]]:
        """Return the vectors of `texts` by digest, embedding and saving those that are not cached."""
        vectors = self._cache.get(self._space, [*texts])
        missing = {digest: text for digest, text in texts.items() if digest not in vectors}
        if missing:
            embedded = dict(zip(missing, embed([*missing.values()]), strict=True))
            self._cache.put(self._space, embedded)
            vectors |= embedded
        return vectors


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()

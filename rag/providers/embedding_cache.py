"""An embedding model whose vectors are kept, so that no text is embedded twice."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import llama_index.core
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from rag.providers.model_calls import embed_query, embed_texts
from rag.types import EmbeddingSpace

EMBEDDING_BATCH = 64
"""Texts embedded between two reports of progress; what is embedded is kept, so a killed job loses at most this."""

OnBatch = Callable[[int], None]
"""Told before each batch how many texts are embedded so far; what it raises ends the work."""


class VectorCache(Protocol):
    """Where vectors are kept by the digest of what was embedded."""

    def get(self, space: EmbeddingSpace, text_hashes: Sequence[bytes]) -> dict[bytes, Sequence[float]]:
        """The vectors of those that are known."""

    def put(self, space: EmbeddingSpace, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Keep vectors."""


class CachedEmbedding(BaseEmbedding):
    """`embedder` behind a cache: what was embedded before in its space is not embedded again."""

    _embedder: BaseEmbedding = PrivateAttr()
    _space: EmbeddingSpace = PrivateAttr()
    _cache: VectorCache = PrivateAttr()
    _on_batch: OnBatch = PrivateAttr()
    _done: int = PrivateAttr(default=0)

    def __init__(
        self,
        embedder: BaseEmbedding,
        space: EmbeddingSpace,
        cache: VectorCache,
        on_batch: OnBatch = lambda _: None,
        **options: Any,
    ) -> None:
        super().__init__(model_name=space.name, embed_batch_size=EMBEDDING_BATCH, **options)
        self._embedder = embedder
        self._space = space
        self._cache = cache
        self._on_batch = on_batch

    @classmethod
    def class_name(cls) -> str:
        """As LlamaIndex names components."""
        return "CachedEmbedding"

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self._on_batch(self._done)
        digests = [_digest(text) for text in texts]
        vectors = self._vectors(
            dict(zip(digests, texts, strict=True)), lambda missing: embed_texts(self._embedder, missing)
        )
        self._done += len(texts)
        return [[*vectors[digest]] for digest in digests]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        digest = _digest(f"query\n{query}")
        found = self._vectors({digest: query}, lambda texts: [embed_query(self._embedder, text) for text in texts])
        return [*found[digest]]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _vectors(
        self, texts: Mapping[bytes, str], embed: Callable[[list[str]], list[list[float]]]
    ) -> dict[bytes, Sequence[float]]:
        known = self._cache.get(self._space, [*texts])
        missing = {digest: text for digest, text in texts.items() if digest not in known}
        if missing:
            fresh = dict(zip(missing, embed([*missing.values()]), strict=True))
            self._cache.put(self._space, fresh)
            known |= fresh
        return known


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()

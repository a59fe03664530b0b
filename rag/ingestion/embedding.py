"""Vectors of texts; what was embedded before is not embedded again."""

import hashlib
from collections.abc import Callable, Iterator, Sequence

from llama_index.core.base.embeddings import base as embeddings

from rag import providers
from rag.store import Store
from rag.types import EmbeddingSpace

EMBEDDING_BATCH = 64
"""Texts embedded between two reports of progress; what is embedded is kept, so a killed job loses at most this."""


def embed_cached(
    texts: Sequence[str],
    *,
    store: Store,
    user_id: str,
    space: EmbeddingSpace,
    embedder: embeddings.BaseEmbedding,
    on_progress: Callable[[int, int], None],
) -> Iterator[Sequence[float]]:
    """One vector per text, in order; those of texts seen before under the same model come out of the cache.

    `on_progress` is told before each batch how many of how many texts are done.

    Raises:
        errors.ProviderError: the embedding vendor refuses.
        errors.StoreError: the database fails.
    """
    for start in range(0, len(texts), EMBEDDING_BATCH):
        on_progress(start, len(texts))
        batch = texts[start : start + EMBEDDING_BATCH]
        hashes = [hashlib.sha256(text.encode()).digest() for text in batch]
        known = store.embedding_cache.get(user_id, space, hashes)
        missing = {key: text for key, text in zip(hashes, batch, strict=True) if key not in known}
        fresh = dict(zip(missing, providers.embed_texts(embedder, list(missing.values())), strict=True))
        store.embedding_cache.put(user_id, space, fresh)
        known.update(fresh)
        yield from (known[key] for key in hashes)

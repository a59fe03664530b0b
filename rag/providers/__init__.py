"""Embedding models, language models and the cross-encoder; the only package that knows model vendors."""

from rag.providers.local import CrossEncoder, LocalEmbedding, count_tokens

__all__ = ["CrossEncoder", "LocalEmbedding", "count_tokens"]

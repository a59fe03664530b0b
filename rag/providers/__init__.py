"""Embedding models, language models and the cross-encoder; the only package that knows model vendors."""

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM

from rag.config import Config
from rag.providers.cached import CachedEmbedding
from rag.providers.calls import complete, complete_stream, context_window, embed_query, embed_texts, model_id, room_left
from rag.providers.catalogue import LOCAL, EmbeddingModel, Provider
from rag.providers.drive import DriveFolder, is_drive
from rag.providers.local import CrossEncoder, LocalEmbedding, count_tokens, most_tokens
from rag.providers.openid import OpenIdProvider
from rag.providers.registry import EXTRACTIVE, Embed, EmbeddingCapabilities, Registry
from rag.providers.servers import find_servers
from rag.providers.vendor import own_embedding
from rag.types import EmbeddingSpace, GenerationOptions

__all__ = [
    "EXTRACTIVE",
    "LOCAL",
    "CachedEmbedding",
    "CrossEncoder",
    "DriveFolder",
    "Embed",
    "EmbeddingCapabilities",
    "EmbeddingModel",
    "LocalEmbedding",
    "OpenIdProvider",
    "Provider",
    "Registry",
    "complete",
    "complete_stream",
    "context_window",
    "count_tokens",
    "embed_query",
    "embed_texts",
    "embedding_model",
    "find_servers",
    "is_drive",
    "language_model",
    "model_id",
    "most_tokens",
    "own_embedding",
    "room_left",
]


def embedding_model(config: Config, space: EmbeddingSpace | None = None) -> tuple[EmbeddingSpace, BaseEmbedding]:
    """`Registry.embedding_model` of the built-in providers."""
    return Registry().embedding_model(config, space)


def language_model(config: Config, options: GenerationOptions | None = None) -> LLM | None:
    """`Registry.language_model` of the built-in providers."""
    return Registry().language_model(config, options)

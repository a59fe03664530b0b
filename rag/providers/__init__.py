"""Embedding models, language models and the cross-encoder; the only package that knows model vendors."""

from typing import TYPE_CHECKING

from rag import lazy_imports
from rag.config import Config
from rag.providers.google_drive import DriveFolder, is_drive
from rag.providers.local_servers import find_servers
from rag.providers.oidc_tokens import OpenIdProvider
from rag.providers.provider_catalogue import LOCAL, Embed, EmbeddingModel, Provider
from rag.providers.registry import EXTRACTIVE, EmbeddingCapabilities, Registry
from rag.providers.web_files import Web, WebFile, is_public
from rag.types import EmbeddingSpace, GenerationOptions

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms import LLM

    from rag.providers.embedded_models import CrossEncoder, LocalEmbedding, count_tokens, most_tokens
    from rag.providers.embedding_cache import CachedEmbedding
    from rag.providers.model_calls import (
        complete,
        complete_stream,
        context_window,
        cost,
        embed_query,
        embed_texts,
        model_id,
        room_left,
    )
    from rag.providers.vendor_models import own_embedding
else:
    __getattr__ = lazy_imports.names(
        __name__,
        {
            "embedding_cache": ("CachedEmbedding",),
            "model_calls": (
                "complete",
                "complete_stream",
                "context_window",
                "cost",
                "embed_query",
                "embed_texts",
                "model_id",
                "room_left",
            ),
            "embedded_models": ("CrossEncoder", "LocalEmbedding", "count_tokens", "most_tokens"),
            "vendor_models": ("own_embedding",),
        },
    )

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
    "Web",
    "WebFile",
    "complete",
    "complete_stream",
    "context_window",
    "cost",
    "count_tokens",
    "embed_query",
    "embed_texts",
    "embedding_model",
    "find_servers",
    "is_drive",
    "is_public",
    "language_model",
    "model_id",
    "most_tokens",
    "own_embedding",
    "room_left",
]


def embedding_model(config: Config, space: EmbeddingSpace | None = None) -> "tuple[EmbeddingSpace, BaseEmbedding]":
    """`Registry.embedding_model` of the built-in providers."""
    return Registry().embedding_model(config, space)


def language_model(config: Config, options: GenerationOptions | None = None) -> "LLM | None":
    """`Registry.language_model` of the built-in providers."""
    return Registry().language_model(config, options)

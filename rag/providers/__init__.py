"""Embedding models, language models, the cross-encoder and the reader; the only package that knows model vendors."""

from typing import TYPE_CHECKING

from rag import lazy_imports, types
from rag.config import Config
from rag.providers.downloads.catalogue import MULTILINGUAL_DOWNLOAD
from rag.providers.downloads.model_downloads import ModelDownloads
from rag.providers.google_drive import DriveFolder, is_drive_url
from rag.providers.oidc_tokens import OpenIdProvider
from rag.providers.provider_catalogue import LOCAL, Embed, EmbeddingModel, Provider
from rag.providers.registry import EXTRACTIVE, EmbeddingCapabilities, Registry
from rag.providers.web_files import WebDownloader, WebFile, is_public

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms import LLM

    from rag.providers.embedded_models import CrossEncoder, LocalEmbedding, Reader, count_tokens, estimate_max_tokens
    from rag.providers.embedding_cache import CachedEmbedding
    from rag.providers.entailment_model import EntailmentModel, open_entailment_model
    from rag.providers.model_calls import (
        StreamEnd,
        complete,
        complete_stream,
        context_window,
        cost,
        embed_query,
        embed_texts,
        is_small,
        model_id,
        reading_budget,
        reading_cost,
        reading_seconds,
        remaining_tokens,
    )
    from rag.providers.reasoning import strip_reasoning
    from rag.providers.vendor_models import wrap_custom_embedding
else:
    __getattr__ = lazy_imports.names(
        __name__,
        {
            "embedding_cache": ("CachedEmbedding",),
            "model_calls": (
                "StreamEnd",
                "complete",
                "complete_stream",
                "context_window",
                "cost",
                "embed_query",
                "embed_texts",
                "is_small",
                "model_id",
                "reading_budget",
                "reading_cost",
                "reading_seconds",
                "remaining_tokens",
            ),
            "embedded_models": ("CrossEncoder", "LocalEmbedding", "Reader", "count_tokens", "estimate_max_tokens"),
            "entailment_model": ("EntailmentModel", "open_entailment_model"),
            "reasoning": ("strip_reasoning",),
            "vendor_models": ("wrap_custom_embedding",),
        },
    )

__all__ = [
    "EXTRACTIVE",
    "LOCAL",
    "MULTILINGUAL_DOWNLOAD",
    "CachedEmbedding",
    "CrossEncoder",
    "DriveFolder",
    "Embed",
    "EmbeddingCapabilities",
    "EmbeddingModel",
    "EntailmentModel",
    "LocalEmbedding",
    "ModelDownloads",
    "OpenIdProvider",
    "Provider",
    "Reader",
    "Registry",
    "StreamEnd",
    "WebDownloader",
    "WebFile",
    "complete",
    "complete_stream",
    "context_window",
    "cost",
    "count_tokens",
    "embed_query",
    "embed_texts",
    "embedding_model",
    "estimate_max_tokens",
    "is_drive_url",
    "is_public",
    "is_small",
    "language_model",
    "model_id",
    "open_entailment_model",
    "reading_budget",
    "reading_cost",
    "reading_seconds",
    "remaining_tokens",
    "strip_reasoning",
    "wrap_custom_embedding",
]


def embedding_model(
    config: Config, space: types.EmbeddingSpace | None = None
) -> "tuple[types.EmbeddingSpace, BaseEmbedding]":
    """Open an embedding model of a built-in provider (see `Registry.embedding_model`)."""
    return Registry().embedding_model(config, space)


def language_model(config: Config, options: types.GenerationOptions | None = None) -> "LLM | None":
    """Open a language model of a built-in provider (see `Registry.language_model`)."""
    return Registry().language_model(config, options)

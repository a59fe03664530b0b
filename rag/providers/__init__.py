"""Embedding models, language models, the cross-encoder and the reader; the only package that knows model vendors."""

from typing import TYPE_CHECKING

from rag import lazy_imports

if TYPE_CHECKING:
    from rag.providers.downloads.catalogue import MULTILINGUAL_DOWNLOAD
    from rag.providers.downloads.model_downloads import ModelDownloads
    from rag.providers.embedded_models import CrossEncoder, LocalEmbedding, Reader, count_tokens, estimate_max_tokens
    from rag.providers.embedding_cache import CachedEmbedding
    from rag.providers.entailment_model import EntailmentModel, open_entailment_model
    from rag.providers.google_drive import DriveFolder, is_drive_url
    from rag.providers.model_calls import (
        Completion,
        StreamEnd,
        complete,
        complete_stream,
        context_window,
        cost,
        embed_query,
        embed_texts,
        is_small,
        model_id,
        prompt_size,
        reading_budget,
        reading_cost,
        reading_seconds,
        remaining_tokens,
        strip_reasoning,
        used,
    )
    from rag.providers.oidc_tokens import OpenIdProvider
    from rag.providers.provider_catalogue import LOCAL, Embed, EmbeddingModel, Provider
    from rag.providers.registry import EXTRACTIVE, EmbeddingCapabilities, Registry
    from rag.providers.vendor_models import wrap_custom_embedding
    from rag.providers.web_files import WebDownloader, WebFile, is_public
else:
    __getattr__ = lazy_imports.exports(__name__)

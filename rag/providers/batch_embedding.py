"""A base class for LlamaIndex embedding models that embed texts in batches, and its adapter for plain functions."""

import asyncio

import llama_index.core
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from rag.providers.provider_catalogue import Embed


class BatchEmbedding(BaseEmbedding):
    """An embedding model that embeds batches; single texts are batches of one, asynchronous calls run in threads.

    Subclasses implement `_get_query_embedding` and `_get_text_embeddings`.
    """

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex records the model."""
        return cls.__name__

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


class FunctionEmbedding(BatchEmbedding):
    """A function from texts to vectors as a LlamaIndex embedding model; queries may have one of their own."""

    _embed: Embed = PrivateAttr()
    _embed_queries: Embed = PrivateAttr()

    def __init__(self, embed: Embed, embed_queries: Embed | None = None, *, embed_batch_size: int) -> None:
        super().__init__(embed_batch_size=embed_batch_size)
        self._embed = embed
        self._embed_queries = embed_queries or embed

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embed_queries([query])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embed(texts)

"""A caller's own function that embeds, as LlamaIndex has models."""

import llama_index.core
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from rag.providers.provider_catalogue import Embed


def as_embedding(adapter: BaseEmbedding | Embed) -> BaseEmbedding:
    """A model as it is; a function from texts to vectors as one."""
    return adapter if isinstance(adapter, BaseEmbedding) else _FunctionEmbedding(adapter)


class _FunctionEmbedding(BaseEmbedding):
    """A function from texts to vectors as a LlamaIndex embedding."""

    _embed: Embed = PrivateAttr()

    def __init__(self, embed: Embed) -> None:
        super().__init__()
        self._embed = embed

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embed([query])[0]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._embed([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embed(texts)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

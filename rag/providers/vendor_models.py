"""LlamaIndex models of vendors that raise this package's errors and do not show their key."""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
import llama_index.core
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.generic_utils import chat_to_completion_decorator, stream_chat_to_completion_decorator
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import LLM, CustomLLM
from pydantic import PrivateAttr

from rag import errors
from rag.providers import http_connections, vendor_errors
from rag.providers.provider_catalogue import EmbeddingModel, Price, Protocol, Provider
from rag.types import EmbeddingSpace

Piece = TypeVar("Piece", ChatResponse, CompletionResponse)


@dataclass(frozen=True, repr=False)
class Boundary:
    """A provider and the key used with it: inside `guard()`, foreign errors become ours without that key."""

    provider: Provider
    secrets: tuple[str, ...] = ()

    @property
    def is_own(self) -> bool:
        """Whether the model is the caller's own and not a vendor's."""
        return self.provider.protocol is Protocol.CUSTOM

    def guard(self) -> AbstractContextManager[None]:
        """Where the vendor's client is called."""
        if self.is_own:
            return vendor_errors.own_errors(self.provider.label)
        return vendor_errors.vendor_errors(self.provider.label, self.provider.key_name, self.secrets)


class VendorEmbedding(BaseEmbedding):
    """An embedding model behind a `Boundary`: prefixes as the model wants them, vectors of length 1 and one size.

    Shortened vectors are not of length 1 by themselves. Its key shows neither in its repr nor in events.
    """

    _inner: BaseEmbedding = PrivateAttr()
    _boundary: Boundary = PrivateAttr()
    _model: EmbeddingModel = PrivateAttr()

    def __init__(self, inner: BaseEmbedding, boundary: Boundary, model: EmbeddingModel) -> None:
        """`inner` is LlamaIndex's integration or an adapter; `model.dimensions` None accepts any size."""
        super().__init__(model_name=model.name, embed_batch_size=model.max_batch)
        self._inner = inner
        self._boundary = boundary
        self._model = model

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex records it."""
        return "VendorEmbedding"

    def _get_query_embedding(self, query: str) -> list[float]:
        with self._boundary.guard():
            vector = _unit(self._inner.get_query_embedding(self._model.query_prefix + query))
        return self._checked([vector], 1)[0]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        with self._boundary.guard():
            found = self._inner.get_text_embedding_batch([self._model.text_prefix + text for text in texts])
            vectors = [_unit(vector) for vector in found]
        return self._checked(vectors, len(texts))

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)

    def _checked(self, vectors: list[list[float]], count: int) -> list[list[float]]:
        label = self._boundary.provider.label
        if len(vectors) != count:
            raise errors.ProviderError(f"{label} returned {len(vectors)} vectors for {count} texts. Try again.")
        for vector in vectors:
            if self._model.dimensions not in {None, len(vector)}:
                error = errors.ProviderError if self._boundary.is_own else errors.EmbeddingCapabilityError
                raise error(
                    f"{label}'s {self._model.name} returned {len(vector)} dimensions, not {self._model.dimensions}. "
                    "Choose another embedding model, or re-index with this one."
                )
        return vectors


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.hypot(*vector)
    if not math.isfinite(length):
        raise ValueError("A vector has a value that is no number.")
    return [value / length for value in vector] if length else list(vector)


def own_embedding(inner: BaseEmbedding, space: EmbeddingSpace) -> VendorEmbedding:
    """A caller's own model of `space`, behind a boundary."""
    provider = Provider(name=space.provider, label=space.provider, protocol=Protocol.CUSTOM)
    model = EmbeddingModel(space.model, dimensions=space.dimensions, max_batch=inner.embed_batch_size)
    return VendorEmbedding(inner, Boundary(provider), model)


class VendorLLM(CustomLLM):
    """A language model behind a `Boundary`. A stream that ends before its end mark is an error, not an answer."""

    _inner: LLM = PrivateAttr()
    _boundary: Boundary = PrivateAttr()
    _window: Callable[[], int] | None = PrivateAttr()

    def __init__(self, inner: LLM, boundary: Boundary, window: Callable[[], int] | None = None) -> None:
        """`inner` is LlamaIndex's integration; `window` asks the model's server how much it takes at once."""
        super().__init__()
        self._inner = inner
        self._boundary = boundary
        self._window = window

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex records it."""
        return "VendorLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """The inner model's; tools are not passed through."""
        return self._inner.metadata.model_copy(update={"is_function_calling_model": False})

    @property
    def context_window(self) -> int:
        """Tokens of prompt and answer together; a server of models is asked, each time, for it may have changed."""
        return self._window() if self._window else self._inner.metadata.context_window

    @property
    def provider(self) -> str:
        """The name of its provider."""
        return self._boundary.provider.name

    def price(self) -> Price | None:
        """What it costs; None where that is not known."""
        return self._boundary.provider.price(self.metadata.model_name)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """One answer.

        Raises:
            errors.ProviderError: the vendor refuses or is down.
        """
        with self._boundary.guard():
            return self._inner.chat(messages, **kwargs)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """The answer piece by piece.

        Raises:
            errors.ProviderError: also while it is read.
        """
        answers: list[httpx.Response] = []
        with self._boundary.guard(), http_connections.noting(answers):
            pieces = self._inner.stream_chat(messages, **kwargs)
        return self._guarded(pieces, answers)

    def _guarded(self, pieces: ChatResponseGen, answers: list[httpx.Response]) -> ChatResponseGen:
        finished = False
        try:
            with closing(pieces):
                while (piece := self._next(pieces, answers)) is not None:
                    finished = finished or _is_last(piece)
                    yield piece
        finally:
            for answer in answers:
                answer.close()
        if not finished:
            label = self._boundary.provider.label
            raise errors.ProviderError(f"{label} stopped before its answer was complete. Ask again.")

    def _next(self, pieces: Iterator[ChatResponse], answers: list[httpx.Response]) -> ChatResponse | None:
        with self._boundary.guard(), http_connections.noting(answers):
            return next(pieces, None)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """One answer to a bare prompt."""
        del formatted  # a chat model formats by itself
        response: CompletionResponse = chat_to_completion_decorator(self.chat)(prompt, **kwargs)
        return response

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """The answer to a bare prompt, piece by piece."""
        del formatted
        pieces: CompletionResponseGen = stream_chat_to_completion_decorator(self.stream_chat)(prompt, **kwargs)
        return pieces

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """`chat` in a thread."""
        return await asyncio.to_thread(self.chat, messages, **kwargs)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """`complete` in a thread."""
        return await asyncio.to_thread(self.complete, prompt, formatted, **kwargs)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """`stream_chat` in threads."""
        return _in_threads(await asyncio.to_thread(self.stream_chat, messages, **kwargs))

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        """`stream_complete` in threads."""
        return _in_threads(await asyncio.to_thread(self.stream_complete, prompt, formatted, **kwargs))


async def _in_threads(pieces: Generator[Piece, None, None]) -> AsyncGenerator[Piece, None]:
    with closing(pieces):
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield piece


def _is_last(piece: ChatResponse) -> bool:
    """Whether the vendor says that it ends: as an event, in OpenAI's choice, or in Gemini's candidate, a dict."""
    if isinstance(piece.raw, dict):
        return bool(piece.raw.get("finish_reason"))
    if getattr(piece.raw, "type", None) in {"response.completed", "response.incomplete"}:
        return True
    return any(choice.finish_reason for choice in getattr(piece.raw, "choices", None) or ())

"""LlamaIndex models that raise this package's errors and hide the vendor's key."""

import asyncio
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

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
from llama_index.core.llms import CustomLLM
from pydantic import PrivateAttr

from rag import errors, types
from rag.async_streams import in_threads
from rag.messages import N_
from rag.providers import clients, http_connections, vendor_errors
from rag.providers.batch_embedding import BatchEmbedding
from rag.providers.provider_catalogue import EmbeddingModel, Protocol, Provider

GGUF = ".gguf"
"""The ending of llama.cpp's model files."""
REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Fields of a delta with reasoning: of llama.cpp, vLLM and LM Studio; of Ollama and OpenRouter."""
CUT_OFF_REASONS = {"length", "MAX_TOKENS"}
"""Ends of answers that reached their length limit: of OpenAI and Gemini."""


@dataclass(frozen=True, repr=False)
class ErrorBoundary:
    """A provider and its secrets; within `guard()`, foreign errors become `errors.ProviderError` without secrets."""

    provider: Provider
    secrets: tuple[str, ...] = ()

    @property
    def is_custom(self) -> bool:
        """Whether the caller brought the model."""
        return self.provider.protocol is Protocol.CUSTOM

    def guard(self) -> AbstractContextManager[None]:
        """Return the context in which to call the model."""
        if self.is_custom:
            return vendor_errors.map_custom_model_errors(self.provider.label)
        return vendor_errors.map_vendor_errors(self.provider.label, self.provider.key_variable, self.secrets)


class VendorEmbedding(BatchEmbedding):
    """An embedding model behind an `ErrorBoundary`, with the model's prefixes and with unit vectors of one size.

    Vectors are scaled because shortened ones lose their unit length. Neither repr nor events show the key.
    """

    _inner: BaseEmbedding = PrivateAttr()
    _boundary: ErrorBoundary = PrivateAttr()
    _model: EmbeddingModel = PrivateAttr()

    def __init__(self, inner: BaseEmbedding, boundary: ErrorBoundary, model: EmbeddingModel) -> None:
        """Wrap `inner`, LlamaIndex's integration or an adapter; `model.dimensions` None accepts any size."""
        super().__init__(model_name=model.name, embed_batch_size=model.max_batch)
        self._inner = inner
        self._boundary = boundary
        self._model = model

    def _get_query_embedding(self, query: str) -> list[float]:
        with self._boundary.guard():
            vector = _normalize(self._inner.get_query_embedding(self._model.query_prefix + query))
        return self._check([vector], 1)[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        with self._boundary.guard():
            embedded = self._inner.get_text_embedding_batch([self._model.text_prefix + text for text in texts])
            vectors = [_normalize(vector) for vector in embedded]
        return self._check(vectors, len(texts))

    def _check(self, vectors: list[list[float]], count: int) -> list[list[float]]:
        label = self._boundary.provider.label
        if len(vectors) != count:
            raise errors.ProviderError(
                N_("{label} returned {count} vectors for {total} texts. Try again."),
                label=label,
                count=len(vectors),
                total=count,
            )
        for vector in vectors:
            if self._model.dimensions not in {None, len(vector)}:
                error = errors.ProviderError if self._boundary.is_custom else errors.EmbeddingCapabilityError
                raise error(
                    f"{label}'s {self._model.name} returned {len(vector)} dimensions, not {self._model.dimensions}. "
                    "Choose another embedding model, or re-index with this one."
                )
        return vectors


def _normalize(vector: Sequence[float]) -> list[float]:
    length = math.hypot(*vector)
    if not math.isfinite(length):
        raise ValueError("A vector has a value that is no number.")
    return [value / length for value in vector] if length else list(vector)


def wrap_custom_embedding(inner: BaseEmbedding, space: types.EmbeddingSpace) -> VendorEmbedding:
    """Wrap the caller's model of `space` in an `ErrorBoundary`."""
    provider = Provider(name=space.provider, label=space.provider, protocol=Protocol.CUSTOM)
    model = EmbeddingModel(space.model, dimensions=space.dimensions, max_batch=inner.embed_batch_size)
    return VendorEmbedding(inner, ErrorBoundary(provider), model)


class VendorLLM(CustomLLM):
    """A language model behind an `ErrorBoundary`, whose streams fail unless they reach the vendor's end mark."""

    _inner: clients.ChatModel = PrivateAttr()
    _boundary: ErrorBoundary = PrivateAttr()
    _window: Callable[[], int] = PrivateAttr()
    _cost: Callable[[types.Usage], float | None] = PrivateAttr()
    _count_parameters: Callable[[], float] | None = PrivateAttr()

    def __init__(
        self,
        inner: clients.ChatModel,
        boundary: ErrorBoundary,
        *,
        window: Callable[[], int],
        cost: Callable[[types.Usage], float | None],
        count_parameters: Callable[[], float] | None = None,
    ) -> None:
        """Wrap `inner`, the vendor's client; `window` returns its context window, `cost` the dollars of a usage.

        `count_parameters` asks a server on this machine for the model's size.
        """
        super().__init__()
        self._inner = inner
        self._boundary = boundary
        self._window = window
        self._cost = cost
        self._count_parameters = functools.cache(count_parameters) if count_parameters else None

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex records the model."""
        return "VendorLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """The inner model's metadata, without function calling; llama.cpp names models by the path of their file."""
        metadata = self._inner.metadata
        name = metadata.model_name
        short = PurePath(name).stem if name.endswith(GGUF) else name
        return metadata.model_copy(update={"is_function_calling_model": False, "model_name": short})

    @property
    def context_window(self) -> int:
        """Tokens of prompt and answer together; a model server is asked each time, as its setting may change."""
        return self._window()

    @property
    def is_local(self) -> bool:
        """Whether the model's server runs on this machine."""
        return self._count_parameters is not None

    @property
    def parameters(self) -> float:
        """The number of parameters, 0 if unknown; the server is asked once."""
        return self._count_parameters() if self._count_parameters else 0.0

    @property
    def provider(self) -> str:
        """The provider's name."""
        return self._boundary.provider.name

    def schema_arguments(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `chat` for a reply in JSON of `schema`, {} if the protocol has none.

        Sources: https://platform.openai.com/docs/guides/structured-outputs, which Ollama, LM Studio, llama.cpp and vLLM
        follow; https://ai.google.dev/gemini-api/docs/structured-output.
        """
        match self._boundary.provider.protocol:
            case Protocol.OPENAI:
                named = {"name": "reply", "strict": True, "schema": schema}
                return {"response_format": {"type": "json_schema", "json_schema": named}}
            case Protocol.GEMINI:
                return {"response_mime_type": "application/json", "response_json_schema": schema}
        return {}

    def cost(self, usage: types.Usage) -> float | None:
        """Return what `usage` costs in dollars by the vendor's list price, None if that is unknown."""
        return self._cost(usage)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return one answer.

        Raises:
            errors.ProviderError: the vendor refuses or is down.
        """
        responses: list[httpx.Response] = []
        try:
            with self._boundary.guard(), http_connections.record_responses(responses):
                return self._inner.chat(messages, **kwargs)
        finally:
            http_connections.close_all(responses)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Stream an answer.

        Raises:
            errors.ProviderError: the vendor refuses, is down or breaks off.
        """
        responses: list[httpx.Response] = []
        with self._boundary.guard(), http_connections.record_responses(responses):
            pieces = self._inner.stream_chat(messages, **kwargs)
        return self._guard_stream(pieces, responses)

    def _guard_stream(self, pieces: ChatResponseGen, responses: list[httpx.Response]) -> ChatResponseGen:
        finished = False
        try:
            with closing(pieces):
                while (piece := self._next(pieces, responses)) is not None:
                    finished = finished or bool(_end_mark(piece))
                    yield piece
        finally:
            http_connections.close_all(responses)
        if not finished:
            label = self._boundary.provider.label
            raise errors.ProviderError(N_("{label} stopped before its answer was complete. Ask again."), label=label)

    def _next(self, pieces: Iterator[ChatResponse], responses: list[httpx.Response]) -> ChatResponse | None:
        with self._boundary.guard(), http_connections.record_responses(responses):
            return next(pieces, None)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Answer a bare prompt."""
        del formatted  # chat models format prompts themselves
        response: CompletionResponse = chat_to_completion_decorator(self.chat)(prompt, **kwargs)
        return response

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Stream the answer to a bare prompt."""
        del formatted
        pieces: CompletionResponseGen = stream_chat_to_completion_decorator(self.stream_chat)(prompt, **kwargs)
        return pieces

    # Asynchronous calls run in threads: Gemini's integration fails where an event loop runs.

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Run `chat` in a thread."""
        return await asyncio.to_thread(self.chat, messages, **kwargs)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Run `complete` in a thread."""
        return await asyncio.to_thread(self.complete, prompt, formatted, **kwargs)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """Run `stream_chat` in threads."""
        return in_threads(await asyncio.to_thread(self.stream_chat, messages, **kwargs))

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        """Run `stream_complete` in threads."""
        return in_threads(await asyncio.to_thread(self.stream_complete, prompt, formatted, **kwargs))


def is_cut_off(piece: ChatResponse) -> bool:
    """Return whether the answer ends with this piece because it reached its length limit."""
    return _end_mark(piece) in CUT_OFF_REASONS


def is_output(piece: ChatResponse) -> bool:
    """Return whether the piece has text: of the answer, or of reasoning that the server sends in a field of its own."""
    deltas = [choice.delta for choice in getattr(piece.raw, "choices", None) or ()]
    return bool(piece.delta) or any(getattr(delta, name, None) for delta in deltas for name in REASONING_FIELDS)


def _end_mark(piece: ChatResponse) -> str:
    """Return why the answer ends with this piece, "" if it goes on."""
    if isinstance(piece.raw, dict):  # Gemini
        return str(piece.raw.get("finish_reason") or "")
    reasons = (choice.finish_reason for choice in getattr(piece.raw, "choices", None) or ())
    return next((str(reason) for reason in reasons if reason), "")

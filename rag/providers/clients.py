"""LlamaIndex's own integrations, built from a provider's row; imported only when a provider is used.

Each client retries by itself (429, 5xx, timeouts, with back-off and the vendor's Retry-After); the second layer of
retries that the integrations put around it is off, or attempts would multiply.
"""

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM

from rag import errors
from rag.providers.catalogue import ChatModels, EmbeddingModel, Protocol, Provider
from rag.types import GenerationOptions

NO_KEY = "none"
"""What the OpenAI client must be given where a server wants no key."""

REASONING_TEMPERATURE = 1.0
"""The only one that OpenAI's reasoning models accept; the integration always sends one."""


@cache
def http_client() -> httpx.Client:
    """The process's connections to all vendors: a model is opened per request, its connection is not."""
    client = httpx.Client(follow_redirects=True)
    atexit.register(client.close)
    return client


@dataclass(frozen=True, repr=False)
class Access:
    """How a provider is reached."""

    provider: Provider
    key: str | None
    base_url: str | None
    timeout_seconds: float
    max_retries: int


def open_embedding(access: Access, model: EmbeddingModel) -> BaseEmbedding:
    """The integration that embeds with `model`.

    Raises:
        errors.ConfigError: the extra that brings it is not installed.
    """
    with _extra(access.provider):
        if access.provider.protocol is Protocol.GEMINI:
            return _gemini_embedding(access, model)
        return _openai_embedding(access, model)


def open_llm(access: Access, model: str, family: ChatModels, options: GenerationOptions) -> LLM:
    """The integration that chats with `model`, with the parameters its family takes.

    Raises:
        errors.ConfigError: the extra that brings it is not installed.
    """
    with _extra(access.provider):
        if access.provider.protocol is Protocol.GEMINI:
            return _gemini_llm(access, model, family, options)
        return _openai_llm(access, model, family, options)


@contextmanager
def _extra(provider: Provider) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise errors.ConfigError(
            f"{provider.label} needs a package that is not installed ({error.name}). "
            f'Install it: pip install "pagelight[{provider.extra}]"'
        ) from error


# --- OpenAI's protocol ------------------------------------------------------------------------------


def _openai_embedding(access: Access, model: EmbeddingModel) -> BaseEmbedding:
    from llama_index.embeddings.openai import OpenAIEmbedding

    class ClientRetries(OpenAIEmbedding):
        """The client retries; the integration's own decorator would repeat all of its attempts."""

        def _create_retry_decorator(self) -> Callable[[Any], Any]:
            return lambda call: call

    return ClientRetries(
        model_name=model.name,
        embed_batch_size=model.max_batch,
        dimensions=model.dimensions if model.reducible else None,
        api_key=access.key or NO_KEY,
        api_base=access.base_url,
        max_retries=access.max_retries,
        timeout=access.timeout_seconds,
        http_client=http_client(),
    )


def _openai_llm(access: Access, model: str, family: ChatModels, options: GenerationOptions) -> LLM:
    import openai
    from llama_index.llms.openai_like import OpenAILike

    extra: dict[str, Any] = {}
    if access.provider.stream_usage:
        extra["stream_options"] = {"include_usage": True}
    if access.provider.body:
        extra["extra_body"] = dict(access.provider.body)
    if family.effort:
        extra["reasoning_effort"] = family.effort
        extra["max_completion_tokens"] = options.max_output_tokens + family.reasoning_tokens
    client = openai.OpenAI(
        api_key=access.key or NO_KEY,
        base_url=access.base_url,
        timeout=access.timeout_seconds,
        max_retries=access.max_retries,
        http_client=http_client(),
    )
    return OpenAILike(
        model=model,
        openai_client=client,
        api_key=access.key or NO_KEY,
        api_base=access.base_url,
        is_chat_model=True,
        context_window=family.context_window,
        temperature=options.temperature if family.temperature else REASONING_TEMPERATURE,
        max_tokens=None if family.effort else options.max_output_tokens + family.reasoning_tokens,
        additional_kwargs=extra,
        max_retries=0,
    )


# --- Gemini's protocol ------------------------------------------------------------------------------


def _http_options(access: Access) -> Any:
    """`google.genai.types.HttpOptions` as a dict: the integrations turn the object into JSON, which holds no client.

    They take a dict as well, but do not declare it, hence Any.
    """
    return {
        "base_url": access.base_url,
        "timeout": int(access.timeout_seconds * 1000),
        "retry_options": {"attempts": access.max_retries + 1},
        "httpx_client": http_client(),
    }


def _gemini_embedding(access: Access, model: EmbeddingModel) -> BaseEmbedding:
    from llama_index.embeddings.google_genai import GoogleGenAIEmbedding

    return GoogleGenAIEmbedding(
        model_name=model.name,
        api_key=access.key,
        embed_batch_size=model.max_batch,
        embedding_config={"output_dimensionality": model.dimensions} if model.reducible else None,
        http_options=_http_options(access),
        retries=1,
    )


def _gemini_llm(access: Access, model: str, family: ChatModels, options: GenerationOptions) -> LLM:
    from google.genai import types
    from llama_index.llms.google_genai import GoogleGenAI

    limit = options.max_output_tokens + family.reasoning_tokens
    return GoogleGenAI(
        model=model,
        api_key=access.key,
        context_window=family.context_window,  # this and max_tokens spare a request for the model's card
        max_tokens=limit,
        generation_config=types.GenerateContentConfig(
            temperature=options.temperature if family.temperature else None,
            max_output_tokens=limit,
            thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel(family.effort.upper()))
            if family.effort
            else None,
        ),
        http_options=_http_options(access),
        file_mode="inline",
        max_retries=0,
    )

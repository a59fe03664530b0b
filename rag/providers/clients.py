"""LlamaIndex's own integrations, built from a provider's row; imported only when a provider is used.

Each client retries by itself (429, 5xx, timeouts, with back-off and the vendor's Retry-After); the second layer of
retries that the integrations put around it is off, or attempts would multiply.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from rag import errors
from rag.providers.http_connections import http_client, tls_context
from rag.providers.provider_catalogue import ChatModels, EmbeddingModel, Protocol, Provider
from rag.types import GenerationOptions

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms import LLM

NO_KEY = "none"
"""What the OpenAI client must be given where a server wants no key."""

REASONING_TEMPERATURE = 1.0
"""The only one that OpenAI's reasoning models accept; the integration always sends one."""


GOOGLE = {Protocol.GEMINI, Protocol.VERTEX}

CLOUD_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
"""What Vertex AI wants a token to allow."""


@dataclass(frozen=True, repr=False)
class Access:
    """How a provider is reached; `settings` are the values of its row's `client_settings`."""

    provider: Provider
    key: str | None
    base_url: str | None
    timeout_seconds: float
    max_retries: int
    settings: Mapping[str, Any] = field(default_factory=dict)


def open_embedding(access: Access, model: EmbeddingModel) -> "BaseEmbedding":
    """The integration that embeds with `model`.

    Raises:
        errors.ConfigError: the extra that brings it is not installed.
    """
    with _extra(access.provider):
        if access.provider.protocol in GOOGLE:
            return _google_embedding(access, model)
        return _openai_embedding(access, model)


def open_llm(access: Access, model: str, family: ChatModels, options: GenerationOptions) -> "LLM":
    """The integration that chats with `model`, with the parameters its family takes.

    Raises:
        errors.ConfigError: the extra that brings it is not installed.
    """
    with _extra(access.provider):
        if access.provider.protocol in GOOGLE:
            return _google_llm(access, model, family, options)
        if access.provider.protocol is Protocol.RESPONSES:
            return _responses_llm(access, model, family, options)
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


def _openai_embedding(access: Access, model: EmbeddingModel) -> "BaseEmbedding":
    import llama_index.core
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


def _openai_llm(access: Access, model: str, family: ChatModels, options: GenerationOptions) -> "LLM":
    import llama_index.core
    from llama_index.llms.openai_like import OpenAILike

    extra: dict[str, Any] = {"stream_options": {"include_usage": True}}
    if family.effort:
        extra["reasoning_effort"] = family.effort
        extra["max_completion_tokens"] = options.max_output_tokens + family.reasoning_tokens
    return OpenAILike(
        model=model,
        openai_client=_openai_client(access),
        api_key=access.key or NO_KEY,
        api_base=access.base_url,
        is_chat_model=True,
        context_window=family.context_window,
        temperature=options.temperature if family.temperature else REASONING_TEMPERATURE,
        max_tokens=None if family.effort else options.max_output_tokens + family.reasoning_tokens,
        additional_kwargs=extra,
        max_retries=0,
    )


def _responses_llm(access: Access, model: str, family: ChatModels, options: GenerationOptions) -> "LLM":
    from rag.providers.openai_responses import ResponsesLLM

    return ResponsesLLM(
        label=access.provider.label,
        secrets=(access.key,) if access.key else (),
        model=model,
        openai_client=_openai_client(access),
        async_http_client=httpx.AsyncClient(verify=tls_context()),
        api_key=access.key or NO_KEY,
        api_base=access.base_url,
        context_window=family.context_window,
        temperature=options.temperature,
        max_output_tokens=options.max_output_tokens + family.reasoning_tokens,
    )


def _openai_client(access: Access) -> Any:
    """OpenAI's own client."""
    import openai

    return openai.OpenAI(
        api_key=access.key or NO_KEY,
        base_url=access.base_url,
        timeout=access.timeout_seconds,
        max_retries=access.max_retries,
        http_client=http_client(),
    )


# --- Google's protocols -----------------------------------------------------------------------------

NO_CLOUD: Any = {"project": "none", "location": "none"}
"""With it the client that the integrations open reads no key or project from the environment; ours replaces it."""


def _google_client(access: Access) -> Any:
    """Google's own client: the integrations can't open it with a key for Vertex AI, nor with the settings alone."""
    from google import genai

    is_vertex = access.provider.protocol is Protocol.VERTEX
    return genai.Client(
        vertexai=is_vertex,
        api_key=access.key,
        project=access.settings.get("google_cloud_project"),
        location=access.settings.get("google_cloud_location"),
        credentials=_google_credentials(access) if is_vertex and access.key is None else None,
        http_options=_http_options(access),
    )


def _http_options(access: Access) -> Any:
    """`google.genai.types.HttpOptions` as a dict: the integrations turn the object into JSON, which holds no client.

    They take a dict as well, but do not declare it, hence Any.
    """
    return {
        "base_url": access.base_url,
        "timeout": int(access.timeout_seconds * 1000),
        "retry_options": {"attempts": access.max_retries + 1},
        "httpx_client": http_client(),
        "async_client_args": {"verify": tls_context(), "ssl": tls_context()},  # httpx's name for it, and aiohttp's
    }


def _google_credentials(access: Access) -> Any:
    """A service account's, if the setting names its key file; None leaves it to Google's library to find others."""
    from google.oauth2 import service_account

    open_account: Callable[..., Any] = service_account.Credentials.from_service_account_info
    path = access.settings.get("google_application_credentials")
    if path is None:
        return None
    try:
        info = json.loads(path.read_text("utf-8"))
        if info.get("type") != "service_account":
            return None
        return open_account(info, scopes=CLOUD_SCOPES)
    except (OSError, ValueError) as error:
        raise errors.ConfigError(f"GOOGLE_APPLICATION_CREDENTIALS: {path} is no key file that can be read.") from error


def _google_embedding(access: Access, model: EmbeddingModel) -> "BaseEmbedding":
    import llama_index.core
    from llama_index.embeddings.google_genai import GoogleGenAIEmbedding

    embedding = GoogleGenAIEmbedding(
        model_name=model.name,
        vertexai_config=NO_CLOUD,
        embed_batch_size=model.max_batch,
        embedding_config={"output_dimensionality": model.dimensions} if model.reducible else None,
        http_options=_http_options(access),
        retries=1,
    )
    embedding._client = _google_client(access)
    return embedding


def _google_llm(access: Access, model: str, family: ChatModels, options: GenerationOptions) -> "LLM":
    import llama_index.core
    from google.genai import types
    from llama_index.llms.google_genai import GoogleGenAI

    limit = options.max_output_tokens + family.reasoning_tokens
    llm = GoogleGenAI(
        model=model,
        vertexai_config=NO_CLOUD,
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
    llm._client = _google_client(access)
    return llm

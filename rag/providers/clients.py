"""Build LlamaIndex's vendor integrations from rows of the provider catalogue.

The vendors' clients retry by themselves (429, 5xx, timeouts, with back-off and Retry-After); the integrations' own
retries are off, or attempts would multiply.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from rag import errors, types
from rag.messages import N_
from rag.providers.http_connections import http_client, tls_context
from rag.providers.local_servers import EMBEDDING_NAME
from rag.providers.provider_catalogue import ChatModels, EmbeddingModel, Protocol, Provider

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms import LLM

NO_KEY = "none"
"""Placeholder key for servers that need none: the OpenAI client refuses an empty one."""

REASONING_TEMPERATURE = 1.0
"""The only temperature that OpenAI's reasoning models accept; the integration always sends one."""

GOOGLE = {Protocol.GEMINI, Protocol.VERTEX}

CLOUD_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
"""OAuth scopes that Vertex AI requires."""


@dataclass(frozen=True, repr=False)
class ProviderConnection:
    """The key, address and limits for requests to a provider, and the values of its `client_settings`."""

    provider: Provider
    key: str | None
    base_url: str | None
    timeout_seconds: float
    max_retries: int
    settings: Mapping[str, Any] = field(default_factory=dict)


def open_embedding(connection: ProviderConnection, model: EmbeddingModel) -> "BaseEmbedding":
    """Open the integration that embeds with `model`.

    Raises:
        errors.ConfigError: the extra with the integration is not installed.
    """
    with _missing_extra_errors(connection.provider):
        if connection.provider.protocol in GOOGLE:
            return _google_embedding(connection, model)
        return _openai_embedding(connection, model)


def open_llm(connection: ProviderConnection, model: str, family: ChatModels, options: types.GenerationOptions) -> "LLM":
    """Open the integration that chats with `model`, with the parameters of its family.

    Raises:
        errors.ConfigError: the extra with the integration is not installed.
    """
    with _missing_extra_errors(connection.provider):
        if connection.provider.protocol in GOOGLE:
            return _google_llm(connection, model, family, options)
        if connection.provider.protocol is Protocol.RESPONSES:
            return _responses_llm(connection, model, family, options)
        return _openai_llm(connection, model, family, options)


@contextmanager
def _missing_extra_errors(provider: Provider) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise errors.ConfigError(
            N_("{label} needs a package that is not installed ({error}). Install it: {command}"),
            label=provider.label,
            error=error.name,
            command=f'pip install "pagelight[{provider.extra}]"',
        ) from error


# --- OpenAI's protocol ------------------------------------------------------------------------------


def _openai_embedding(connection: ProviderConnection, model: EmbeddingModel) -> "BaseEmbedding":
    import llama_index.core
    from llama_index.embeddings.openai import OpenAIEmbedding

    class WithoutRetries(OpenAIEmbedding):
        """OpenAI embeddings without the integration's retries, which would multiply the client's."""

        def _create_retry_decorator(self) -> Callable[[Any], Any]:
            return lambda call: call

    return WithoutRetries(
        model_name=model.name,
        embed_batch_size=model.max_batch,
        dimensions=model.dimensions if model.reducible else None,
        api_key=connection.key or NO_KEY,
        api_base=connection.base_url,
        max_retries=connection.max_retries,
        timeout=connection.timeout_seconds,
        http_client=http_client(),
    )


def _openai_llm(
    connection: ProviderConnection, model: str, family: ChatModels, options: types.GenerationOptions
) -> "LLM":
    import llama_index.core
    from llama_index.llms.openai_like import OpenAILike

    extra: dict[str, Any] = {"stream_options": {"include_usage": True}}
    if family.effort:
        extra["reasoning_effort"] = family.effort
        extra["max_completion_tokens"] = options.max_output_tokens + family.reasoning_tokens
    return OpenAILike(
        model=model,
        openai_client=_openai_client(connection),
        api_key=connection.key or NO_KEY,
        api_base=connection.base_url,
        is_chat_model=True,
        context_window=family.context_window,
        temperature=options.temperature if family.temperature else REASONING_TEMPERATURE,
        max_tokens=None if family.effort else options.max_output_tokens + family.reasoning_tokens,
        additional_kwargs=extra,
        max_retries=0,
    )


def _responses_llm(
    connection: ProviderConnection, model: str, family: ChatModels, options: types.GenerationOptions
) -> "LLM":
    from rag.providers.openai_responses import ResponsesLLM

    return ResponsesLLM(
        label=connection.provider.label,
        secrets=(connection.key,) if connection.key else (),
        model=model,
        openai_client=_openai_client(connection),
        async_http_client=httpx.AsyncClient(verify=tls_context()),
        api_key=connection.key or NO_KEY,
        api_base=connection.base_url,
        context_window=family.context_window,
        temperature=options.temperature,
        max_output_tokens=options.max_output_tokens + family.reasoning_tokens,
    )


def _openai_client(connection: ProviderConnection) -> Any:
    import openai

    return openai.OpenAI(
        api_key=connection.key or NO_KEY,
        base_url=connection.base_url,
        timeout=connection.timeout_seconds,
        max_retries=connection.max_retries,
        http_client=http_client(),
    )


# --- Google's protocols -----------------------------------------------------------------------------

NO_CLOUD: Any = {"project": "none", "location": "none"}
"""Keeps the integrations' own client, which ours replaces, from reading a key or project from the environment."""


def _google_client(connection: ProviderConnection) -> Any:
    """Open Google's client, which the integrations can't with a key for Vertex AI or with our settings."""
    from google import genai

    is_vertex = connection.provider.protocol is Protocol.VERTEX
    return genai.Client(
        vertexai=is_vertex,
        api_key=connection.key,
        project=connection.settings.get("google_cloud_project"),
        location=connection.settings.get("google_cloud_location"),
        credentials=_google_credentials(connection) if is_vertex and connection.key is None else None,
        http_options=_http_options(connection),
    )


def _http_options(connection: ProviderConnection) -> Any:
    """Return `google.genai.types.HttpOptions` as a dict, as the integrations would turn the object into JSON.

    They accept a dict without declaring it, hence Any.
    """
    return {
        "base_url": connection.base_url,
        "timeout": int(connection.timeout_seconds * 1000),
        "retry_options": {"attempts": connection.max_retries + 1},
        "httpx_client": http_client(),
        "async_client_args": {"verify": tls_context(), "ssl": tls_context()},  # httpx's name for it, and aiohttp's
    }


def _google_credentials(connection: ProviderConnection) -> Any:
    """Load the service account's credentials; None lets Google's library look for other ones."""
    from google.oauth2 import service_account

    open_account: Callable[..., Any] = service_account.Credentials.from_service_account_info
    path = connection.settings.get("google_application_credentials")
    if path is None:
        return None
    try:
        info = json.loads(path.read_text("utf-8"))
        if info.get("type") != "service_account":
            return None
        return open_account(info, scopes=CLOUD_SCOPES)
    except (OSError, ValueError) as error:
        raise errors.ConfigError(
            N_("GOOGLE_APPLICATION_CREDENTIALS: {path} is no key file that can be read."), path=path
        ) from error


def _google_embedding(connection: ProviderConnection, model: EmbeddingModel) -> "BaseEmbedding":
    import llama_index.core
    from llama_index.embeddings.google_genai import GoogleGenAIEmbedding

    embedding = GoogleGenAIEmbedding(
        model_name=model.name,
        vertexai_config=NO_CLOUD,
        embed_batch_size=model.max_batch,
        embedding_config={"output_dimensionality": model.dimensions} if model.reducible else None,
        http_options=_http_options(connection),
        retries=1,
    )
    embedding._client = _google_client(connection)
    return embedding


def _google_llm(
    connection: ProviderConnection, model: str, family: ChatModels, options: types.GenerationOptions
) -> "LLM":
    import llama_index.core
    from google.genai import types
    from llama_index.llms.google_genai import GoogleGenAI

    limit = options.max_output_tokens + family.reasoning_tokens
    llm = GoogleGenAI(
        model=model,
        vertexai_config=NO_CLOUD,
        context_window=family.context_window,  # with max_tokens, saves a request for the model's card
        max_tokens=limit,
        generation_config=types.GenerateContentConfig(
            temperature=options.temperature if family.temperature else None,
            max_output_tokens=limit,
            thinking_config=types.ThinkingConfig(thinking_level=types.ThinkingLevel(family.effort.upper()))
            if family.effort
            else None,
        ),
        http_options=_http_options(connection),
        file_mode="inline",
        max_retries=0,
    )
    llm._client = _google_client(connection)
    return llm


# --- what a key may use -----------------------------------------------------------------------------

MAX_MODELS = 1000
"""The longest list that is read; OpenRouter has some hundreds."""

_NO_TEXT = re.compile(
    r"\b(tts|whisper|dall-e|image|imagen|audio|realtime|transcribe|moderation|sora|veo|speech|video|live|babbage|davinci)\b",
    re.IGNORECASE,
)
"""Names of models that do not answer in text; OpenAI's protocol does not mark them."""


def list_models(connection: ProviderConnection) -> tuple[types.ServedModel, ...]:
    """Return the models that write or embed, by name. Raises ConfigError, and the errors of the vendor's client."""
    with _missing_extra_errors(connection.provider):
        if connection.provider.protocol in GOOGLE:
            models = _google_models(connection)
        else:
            try:
                listed = itertools.islice(_openai_client(connection).models.list(), MAX_MODELS)
            except AttributeError:  # how the client ends where it gets no object
                raise ValueError("It lists no models.") from None
            ids = (getattr(model, "id", None) for model in listed)  # the client does not check what it gets
            models = {(name, bool(EMBEDDING_NAME.search(name))) for name in ids if isinstance(name, str)}
    if not models:
        raise ValueError("It lists no models.")
    return tuple(
        types.ServedModel(name=name, embeds=embeds)
        for name, embeds in sorted(models, key=lambda model: (model[0].casefold(), model))
        if not _NO_TEXT.search(name)
    )


def _google_models(connection: ProviderConnection) -> set[tuple[str, bool]]:
    found = set()
    for model in itertools.islice(_google_client(connection).models.list(), MAX_MODELS):
        name = (model.name or "").rpartition("models/")[2]
        embeds = bool(EMBEDDING_NAME.search(name))
        actions = model.supported_actions or ["embedContent", "generateContent"]  # Vertex AI does not tell them
        if ("embedContent" if embeds else "generateContent") in actions:
            found.add((name, embeds))
    return found

"""Build clients of vendors and servers for a connection.

The vendors' clients retry by themselves (429, 5xx, timeouts, with back-off and Retry-After); the integrations' own
retries are off, or attempts would multiply.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rag import errors, types
from rag.messages import N_
from rag.providers import local_servers, provider_catalogue
from rag.providers.http_connections import http_client, tls_context
from rag.providers.provider_catalogue import ChatModels, EmbeddingModel, Provider

if TYPE_CHECKING:  # see `rag.lazy_imports`
    import openai
    from google import genai
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms import ChatMessage, ChatResponse, ChatResponseGen, LLMMetadata

NO_KEY = "none"
"""Placeholder key for servers that need none: the OpenAI client refuses an empty one."""

REASONING_TEMPERATURE = 1.0
"""The only temperature that OpenAI's reasoning models accept; the integration always sends one."""


class ChatModel(Protocol):
    """What is used of a language model: LlamaIndex's integrations have it."""

    @property
    def metadata(self) -> "LLMMetadata":
        """The model's name and limits."""

    def chat(self, messages: "Sequence[ChatMessage]", **options: Any) -> "ChatResponse":
        """Return one answer."""

    def stream_chat(self, messages: "Sequence[ChatMessage]", **options: Any) -> "ChatResponseGen":
        """Stream an answer."""


@dataclass(frozen=True, repr=False)
class ProviderConnection:
    """The key, address and limits for requests to a provider."""

    provider: Provider
    key: str | None
    base_url: str | None
    timeout_seconds: float
    max_retries: int

    @property
    def is_gemini(self) -> bool:
        """Whether it speaks Gemini's protocol, not OpenAI's."""
        return self.provider.protocol is provider_catalogue.Protocol.GEMINI


def open_embedding(connection: ProviderConnection, model: EmbeddingModel) -> "BaseEmbedding":
    """Open a client that embeds with `model`.

    Raises:
        errors.ConfigError: the extra with the client is not installed.
    """
    with _missing_extra_errors(connection.provider):
        if connection.is_gemini:
            from rag.providers import gemini_models

            return gemini_models.open_embedding(_google_client(connection), model)
        import openai

        from rag.providers.batch_embedding import FunctionEmbedding

        client = _openai_client(connection)
        dimensions = model.dimensions if model.reducible and model.dimensions else openai.omit

        def embed(texts: list[str]) -> list[list[float]]:
            vectors = client.embeddings.create(model=model.name, input=texts, dimensions=dimensions).data
            return [entry.embedding for entry in vectors]

        return FunctionEmbedding(embed, embed_batch_size=model.max_batch)


def open_llm(
    connection: ProviderConnection, model: str, family: ChatModels, options: types.GenerationOptions
) -> ChatModel:
    """Open a client that chats with `model`, with the parameters of its family.

    Raises:
        errors.ConfigError: the extra with the client is not installed.
    """
    limit = options.max_output_tokens + family.reasoning_tokens
    with _missing_extra_errors(connection.provider):
        if connection.is_gemini:
            from google.genai import types as gemini

            from rag.providers.gemini_models import GeminiChat

            thinking = gemini.ThinkingLevel(family.effort.upper()) if family.effort else None
            config = gemini.GenerateContentConfig(
                temperature=options.temperature if family.temperature else None,
                max_output_tokens=limit,
                thinking_config=gemini.ThinkingConfig(thinking_level=thinking) if thinking else None,
            )
            return GeminiChat(_google_client(connection), model, connection.provider.context_window, config)

        import llama_index.core
        from llama_index.llms.openai_like import OpenAILike

        extra: dict[str, Any] = {"stream_options": {"include_usage": True}}
        if family.effort:
            extra |= {"reasoning_effort": family.effort, "max_completion_tokens": limit}
        return OpenAILike(
            model=model,
            openai_client=_openai_client(connection),
            api_key=connection.key or NO_KEY,
            api_base=connection.base_url,
            is_chat_model=True,
            context_window=connection.provider.context_window,
            temperature=options.temperature if family.temperature else REASONING_TEMPERATURE,
            max_tokens=None if family.effort else limit,
            additional_kwargs=extra,
            max_retries=0,
        )


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


def _openai_client(connection: ProviderConnection) -> "openai.OpenAI":
    import openai

    return openai.OpenAI(
        api_key=connection.key or NO_KEY,
        base_url=connection.base_url,
        timeout=connection.timeout_seconds,
        max_retries=connection.max_retries,
        http_client=http_client(),
    )


def _google_client(connection: ProviderConnection) -> "genai.Client":
    from google import genai
    from google.genai import types as gemini

    return genai.Client(
        vertexai=False,  # whatever the environment says
        api_key=connection.key,
        http_options=gemini.HttpOptions(
            base_url=connection.base_url,
            timeout=int(connection.timeout_seconds * 1000),
            retry_options=gemini.HttpRetryOptions(attempts=connection.max_retries + 1),
            httpx_client=http_client(),
            async_client_args={"verify": tls_context(), "ssl": tls_context()},  # httpx's name for it, and aiohttp's
        ),
    )


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
        names = _gemini_names(connection) if connection.is_gemini else _openai_names(connection)
        models = {name: bool(local_servers.EMBEDDING_NAME.search(name)) for name in names}
    if not models:
        raise ValueError("It lists no models.")
    return tuple(
        types.ServedModel(name=name, embeds=models[name])
        for name in sorted(models, key=lambda name: (name.casefold(), name))
        if not _NO_TEXT.search(name)
    )


def _openai_names(connection: ProviderConnection) -> Iterable[str]:
    try:
        models = [*itertools.islice(_openai_client(connection).models.list(), MAX_MODELS)]
    except AttributeError:  # how the client ends where it gets no object
        return []
    names = (getattr(model, "id", None) for model in models)  # the client does not check what it gets
    return [name for name in names if isinstance(name, str)]


def _gemini_names(connection: ProviderConnection) -> Iterable[str]:
    for model in itertools.islice(_google_client(connection).models.list(), MAX_MODELS):
        name = (model.name or "").rpartition("models/")[2]
        action = "embedContent" if local_servers.EMBEDDING_NAME.search(name) else "generateContent"
        if action in (model.supported_actions or ()):
            yield name

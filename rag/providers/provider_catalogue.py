"""The connections to model vendors and servers: their settings, and what their models need that no list tells.

Names of models are typed freely; prices and context windows are looked up in the installed package genai-prices,
without a network. The parameters of model families and the prompts of embedding models were checked in November 2026
against developers.openai.com, ai.google.dev and the models' cards.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from rag import types

if TYPE_CHECKING:  # the data take a quarter of a second to load
    from genai_prices.types import PriceCalculation

REASONING_TOKENS = 4096
"""Added to the output limit, as vendors count hidden reasoning against it."""

Embed = Callable[[list[str]], list[list[float]]]
"""A caller's embedding function: texts in, one vector per text out."""


class Protocol(StrEnum):
    """The protocol of a provider; each has its own client code."""

    LOCAL = "local"
    FOLDER = "folder"
    OPENAI = "openai"
    GEMINI = "gemini"
    CUSTOM = "custom"


@dataclass(frozen=True)
class EmbeddingModel:
    """An embedding model.

    `dimensions` is the requested vector size, None until the first vector tells. `reducible` models shorten vectors on
    request (Matryoshka). `max_tokens` limits a text, `max_batch` the texts of a request. The prefixes are the model's
    instructions for retrieval. `languages` is empty if the model is multilingual or its languages are unknown.
    """

    name: str
    dimensions: int | None = None
    max_tokens: int = 8192
    max_batch: int = 64
    reducible: bool = False
    query_prefix: str = ""
    text_prefix: str = ""
    languages: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ChatModels:
    """A family of language models with the same parameters; `patterns` are shell patterns of their names.

    `temperature` tells whether one may be set, `effort` is the reasoning effort to request, `reasoning_tokens` are
    added to the output limit.
    """

    patterns: tuple[str, ...]
    temperature: bool = True
    effort: str | None = None
    reasoning_tokens: int = 0


@dataclass(frozen=True)
class Provider:
    """A connection. Names in `…_setting` are fields of `rag.config.Config`.

    `extra` is the optional dependency with the client. `price_list` is the vendor's id in genai-prices; other vendors
    are recognised by their address. `context_window` is taken where neither the list nor the server tells.
    """

    name: str
    label: str
    protocol: Protocol
    key_setting: str | None = None
    base_url: str | None = None
    base_url_setting: str | None = None
    extra: str | None = None
    price_list: str | None = None
    context_window: int = 128_000
    default_chat_model: str | None = None
    chat_models: tuple[ChatModels, ...] = ()
    default_embedding_model: str | None = None
    embedding_models: tuple[EmbeddingModel, ...] = ()
    accepts_unlisted_embedding_models: bool = True

    def chat_family(self, model: str) -> ChatModels | None:
        """Return the first family that matches `model`."""
        return next(
            (family for family in self.chat_models if any(fnmatchcase(model, form) for form in family.patterns)), None
        )

    def embedding_model(self, name: str) -> EmbeddingModel | None:
        """Return the model of that name, also an unlisted one if the provider accepts those."""
        listed = next((model for model in self.embedding_models if model.name == name), None)
        return listed or (EmbeddingModel(name) if self.accepts_unlisted_embedding_models else None)

    @property
    def required_setting(self) -> str | None:
        """The setting without which the connection cannot be used: its key, else its address."""
        return self.key_setting if self.base_url or self.protocol is Protocol.GEMINI else self.base_url_setting

    @property
    def key_variable(self) -> str:
        """The environment variable to check when a key is refused."""
        return (self.key_setting or "").upper()


ANY_MODEL = ChatModels(patterns=("*",))
REASONING = ChatModels(patterns=(), temperature=False, effort="low", reasoning_tokens=REASONING_TOKENS)
ENGLISH_ONLY = frozenset({types.ENGLISH})

LOCAL = Provider(
    name="local",
    label="Embedded model",
    protocol=Protocol.LOCAL,
    default_embedding_model="bge-small-en-v1.5",
    embedding_models=(EmbeddingModel("bge-small-en-v1.5", dimensions=384, max_tokens=512, languages=ENGLISH_ONLY),),
    accepts_unlisted_embedding_models=False,
)

FOLDER = Provider(name="folder", label="Model folder", protocol=Protocol.FOLDER)
"""The user's own embedding models, see `rag.providers.folder_embedding`."""

# natively 3072, too many for a pgvector HNSW index; 1536 cost less than a point on MTEB
TEXT_EMBEDDING_3 = EmbeddingModel("text-embedding-3-large", dimensions=1536, reducible=True)

OPENAI = Provider(
    name="openai",
    label="OpenAI",
    protocol=Protocol.OPENAI,
    key_setting="openai_api_key",
    base_url="https://api.openai.com/v1",
    base_url_setting="openai_base_url",
    extra="openai",
    price_list="openai",
    default_chat_model="gpt-6-luna",
    chat_models=(
        ChatModels(patterns=("gpt-3.5*", "gpt-4*", "chatgpt-4o*")),
        replace(REASONING, patterns=("gpt-*", "o1*", "o3*", "o4*")),
        ANY_MODEL,
    ),
    default_embedding_model="text-embedding-3-small",
    embedding_models=(replace(TEXT_EMBEDDING_3, name="text-embedding-3-small"), TEXT_EMBEDDING_3),
)

GEMINI = Provider(
    name="gemini",
    label="Google Gemini",
    protocol=Protocol.GEMINI,
    key_setting="gemini_api_key",
    base_url_setting="gemini_base_url",
    extra="gemini",
    price_list="google",
    context_window=1_048_576,
    default_chat_model="gemini-3.8-flash",
    chat_models=(
        ChatModels(patterns=("gemini-1.*", "gemini-2.0*")),
        ChatModels(patterns=("gemini-2.5*",), reasoning_tokens=REASONING_TOKENS),
        replace(REASONING, patterns=("gemini-*",)),
        replace(REASONING, patterns=("*",)),
    ),
    default_embedding_model="gemini-embedding-2",
    embedding_models=(
        # the task is a prefix: https://ai.google.dev/gemini-api/docs/embeddings
        EmbeddingModel(
            "gemini-embedding-2",
            dimensions=768,
            reducible=True,
            query_prefix="task: search result | query: ",
            text_prefix="title: none | text: ",
        ),
        EmbeddingModel("gemini-embedding-001", dimensions=768, max_tokens=2048, reducible=True),
    ),
)

# the task is a prefix: https://huggingface.co/nomic-ai/nomic-embed-text-v1.5
NOMIC_EMBED_TEXT = EmbeddingModel(
    "nomic-embed-text",
    dimensions=768,
    max_tokens=2048,
    query_prefix="search_query: ",
    text_prefix="search_document: ",
    languages=ENGLISH_ONLY,
)

OPENAI_COMPATIBLE = Provider(
    name="openai_compatible",
    label="OpenAI-compatible server",
    protocol=Protocol.OPENAI,
    key_setting="openai_compatible_api_key",
    base_url_setting="openai_compatible_base_url",
    extra="openai",
    chat_models=(replace(REASONING, patterns=("openai/gpt-[56]*", "openai/o[134]*")), ANY_MODEL),
    embedding_models=(
        # indexes were made without this model's prefixes here
        EmbeddingModel("nomic-embed-text", dimensions=768, max_tokens=2048, languages=ENGLISH_ONLY),
        replace(NOMIC_EMBED_TEXT, name="text-embedding-nomic-embed-text-v1.5"),  # LM Studio's name
        replace(NOMIC_EMBED_TEXT, name="nomic-ai/nomic-embed-text-v1.5"),  # vLLM's name
        replace(TEXT_EMBEDDING_3, name="openai/text-embedding-3-small"),  # OpenRouter's names
        replace(TEXT_EMBEDDING_3, name="openai/text-embedding-3-large"),
    ),
)

OLLAMA = Provider(
    name="ollama",
    label="Ollama",
    protocol=Protocol.OPENAI,
    base_url="http://127.0.0.1:11434/v1",
    base_url_setting="ollama_base_url",
    extra="openai",
    chat_models=(ANY_MODEL,),
    embedding_models=(NOMIC_EMBED_TEXT,),
)
"""Used only if a setting or request names it."""

PROVIDERS = (OPENAI, GEMINI, OPENAI_COMPATIBLE, OLLAMA, FOLDER, LOCAL)
"""In order of preference when no setting names a provider; the last needs no key."""

FORMER = {
    "openrouter": "https://openrouter.ai/api/v1",
    "perplexity": "https://openrouter.ai/api/v1",  # its own chat completions ended in September 2026
    "lm_studio": "http://127.0.0.1:1234/v1",
    "llama_cpp": "http://127.0.0.1:8080/v1",
    "vllm": "http://127.0.0.1:8000/v1",
    "vertex_gemini": None,
}
"""Providers of earlier releases, and the address by which an OpenAI-compatible connection reaches their models.

None stands for a Gemini connection.
"""


def list_price(provider: Provider, base_url: str | None, model: str, usage: types.Usage) -> float | None:
    """Return the dollars for `usage` by the vendor's list price, None if it is unknown; gateways may charge others."""
    calculation = _calculate(provider, base_url, model, usage)
    return float(calculation.total_price) if calculation else None


def listed_context_window(provider: Provider, base_url: str | None, model: str) -> int | None:
    """Return the listed limit of tokens, prompt and answer together; None if unknown."""
    calculation = _calculate(provider, base_url, model, types.Usage())
    return calculation.model.context_window if calculation else None


def _calculate(provider: Provider, base_url: str | None, model: str, usage: types.Usage) -> "PriceCalculation | None":
    import genai_prices

    counts = genai_prices.Usage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
    try:
        if provider.price_list:
            return genai_prices.calc_price(counts, model, provider_id=provider.price_list)
        return genai_prices.calc_price(counts, model, provider_api_url=base_url or "")
    except LookupError:
        return None

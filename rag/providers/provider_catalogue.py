"""The catalogue of providers: their models, parameters, addresses and prices.

Checked in November 2026 against developers.openai.com (models, deprecations), ai.google.dev (models, embeddings,
deprecations), docs.cloud.google.com (Gemini on Vertex AI, now "Agent Platform": models, text embeddings),
docs.perplexity.ai and openrouter.ai/docs. Retired models stay listed, as gateways and private deployments may still
serve them. Unlisted models can be chosen by name.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from rag import types

REASONING_TOKENS = 4096
"""Added to the output limit, as vendors count hidden reasoning against it."""

Embed = Callable[[list[str]], list[list[float]]]
"""A caller's embedding function: texts in, one vector per text out."""


class Protocol(StrEnum):
    """The protocol of a provider; each has its own client code."""

    LOCAL = "local"
    FOLDER = "folder"
    OPENAI = "openai"
    RESPONSES = "responses"
    GEMINI = "gemini"
    VERTEX = "vertex"
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
    context_window: int
    temperature: bool = True
    effort: str | None = None
    reasoning_tokens: int = 0


@dataclass(frozen=True)
class Price:
    """The vendor's list price in dollars per million input and output tokens; gateways may charge other prices."""

    patterns: tuple[str, ...]
    input: float
    output: float


@dataclass(frozen=True)
class Provider:
    """A provider of models. Names in `…_setting`, `…_settings` and `access` are fields of `rag.config.Config`.

    `access` has groups of settings, one of which must be complete; by default the key is required. `client_settings`
    go to the client besides key and address. `extra` is the optional dependency with the client. A provider that
    `is_model_server` is asked for context windows. `renamed_models` maps former names to present ones.
    """

    name: str
    label: str
    protocol: Protocol
    key_setting: str | None = None
    access: tuple[tuple[str, ...], ...] = ()
    client_settings: tuple[str, ...] = ()
    base_url: str | None = None
    base_url_setting: str | None = None
    extra: str | None = None
    default_chat_model: str | None = None
    chat_models: tuple[ChatModels, ...] = ()
    default_embedding_model: str | None = None
    embedding_models: tuple[EmbeddingModel, ...] = ()
    accepts_unlisted_embedding_models: bool = True
    is_model_server: bool = False
    renamed_models: tuple[tuple[str, str], ...] = ()
    prices: tuple[Price, ...] = ()

    def price(self, model: str) -> Price | None:
        """Return the price of `model`, None if unknown."""
        return next((price for price in self.prices if _matches(model, price.patterns)), None)

    def chat_family(self, model: str) -> ChatModels | None:
        """Return the first family that matches `model`."""
        return next((family for family in self.chat_models if _matches(model, family.patterns)), None)

    def embedding_model(self, name: str) -> EmbeddingModel | None:
        """Return the model of that name, also an unlisted one if the provider accepts those."""
        listed = next((model for model in self.embedding_models if model.name == name), None)
        return listed or (EmbeddingModel(name) if self.embeds and self.accepts_unlisted_embedding_models else None)

    @property
    def embeds(self) -> bool:
        """Whether it has embedding models."""
        return bool(self.embedding_models) or self.protocol in {Protocol.CUSTOM, Protocol.FOLDER}

    @property
    def required_settings(self) -> tuple[tuple[str, ...], ...]:
        """Groups of settings, one of which must be complete."""
        return self.access or (((self.key_setting,),) if self.key_setting else ((),))

    @property
    def required_variables(self) -> str:
        """`required_settings` as environment variables, for messages."""
        return ", or ".join(" and ".join(map(str.upper, group)) for group in self.required_settings)

    @property
    def key_variable(self) -> str:
        """The environment variables to check when a key is refused."""
        return self.required_variables if len(self.required_settings) > 1 else (self.key_setting or "").upper()


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


ANY_MODEL = ChatModels(patterns=("*",), context_window=128_000)
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

OPENAI_EMBEDDING_MODELS = (
    EmbeddingModel("text-embedding-3-small", dimensions=1536, reducible=True),
    # natively 3072, too many for a pgvector HNSW index; 1536 cost less than a point on MTEB
    EmbeddingModel("text-embedding-3-large", dimensions=1536, reducible=True),
    EmbeddingModel("text-embedding-ada-002", dimensions=1536),
)

# developers.openai.com/api/docs/pricing, standard requests of at most 272,000 tokens, November 2026
OPENAI_PRICES = (
    Price(("gpt-6-luna*",), 0.10, 0.50),
    Price(("gpt-6-sol*",), 2.00, 10.00),
    Price(("gpt-4.1-mini*",), 0.40, 1.60),
    Price(("gpt-4.1-nano*",), 0.10, 0.40),
    Price(("gpt-4.1", "gpt-4.1-20*"), 2.00, 8.00),
    Price(("gpt-4o-mini*",), 0.15, 0.60),
    Price(("gpt-4o", "gpt-4o-20*"), 2.50, 10.00),
)

OPENAI = Provider(
    name="openai",
    label="OpenAI",
    protocol=Protocol.OPENAI,
    key_setting="openai_api_key",
    base_url="https://api.openai.com/v1",
    base_url_setting="openai_base_url",
    extra="openai",
    default_chat_model="gpt-6-luna",
    prices=OPENAI_PRICES,
    chat_models=(
        ChatModels(patterns=("gpt-3.5*",), context_window=16_385),
        ChatModels(patterns=("gpt-4.1*",), context_window=1_047_576),
        ChatModels(patterns=("gpt-4*", "chatgpt-4o*"), context_window=128_000),
        ChatModels(
            patterns=("gpt-5", "gpt-5-*", "o1*", "o3*", "o4*"),
            context_window=200_000,
            temperature=False,
            effort="low",
            reasoning_tokens=REASONING_TOKENS,
        ),
        ChatModels(
            patterns=("gpt-*",),
            context_window=400_000,
            temperature=False,
            effort="low",
            reasoning_tokens=REASONING_TOKENS,
        ),
        ANY_MODEL,
    ),
    default_embedding_model="text-embedding-3-small",
    embedding_models=OPENAI_EMBEDDING_MODELS,
)

GEMINI_CHAT_MODELS = (
    ChatModels(patterns=("gemini-1.*", "gemini-2.0*"), context_window=1_048_576),
    ChatModels(patterns=("gemini-2.5*",), context_window=1_048_576, reasoning_tokens=REASONING_TOKENS),
    ChatModels(
        patterns=("gemini-*", "*"),
        context_window=1_048_576,
        temperature=False,
        effort="low",
        reasoning_tokens=REASONING_TOKENS,
    ),
)

# the task is a prefix: https://ai.google.dev/gemini-api/docs/embeddings
GEMINI_EMBEDDING_2 = EmbeddingModel(
    "gemini-embedding-2",
    dimensions=768,
    reducible=True,
    query_prefix="task: search result | query: ",
    text_prefix="title: none | text: ",
)

GEMINI = Provider(
    name="gemini",
    label="Google Gemini",
    protocol=Protocol.GEMINI,
    key_setting="gemini_api_key",
    base_url_setting="gemini_base_url",
    extra="gemini",
    default_chat_model="gemini-3.8-flash",
    chat_models=GEMINI_CHAT_MODELS,
    default_embedding_model="gemini-embedding-2",
    embedding_models=(
        GEMINI_EMBEDDING_2,
        EmbeddingModel("gemini-embedding-001", dimensions=768, max_tokens=2048, reducible=True),
        EmbeddingModel("text-embedding-004", dimensions=768, max_tokens=2048),
    ),
)

VERTEX_BATCH = 9
"""Vertex AI takes 20,000 tokens a request at up to 2,048 a text."""

VERTEX_GEMINI = Provider(
    name="vertex_gemini",
    label="Gemini on Vertex AI",
    protocol=Protocol.VERTEX,
    key_setting="vertex_api_key",
    access=(("google_cloud_project", "google_cloud_location"), ("vertex_api_key",)),
    client_settings=("google_cloud_project", "google_cloud_location", "google_application_credentials"),
    base_url_setting="google_vertex_base_url",
    extra="gemini",
    default_chat_model="gemini-3.8-flash",
    chat_models=GEMINI_CHAT_MODELS,
    default_embedding_model="gemini-embedding-2",
    embedding_models=(
        replace(GEMINI_EMBEDDING_2, max_batch=1),  # the Gemini embedding models take one text a request here
        EmbeddingModel("gemini-embedding-001", dimensions=768, max_tokens=2048, max_batch=1, reducible=True),
        EmbeddingModel(
            "text-embedding-005", dimensions=768, max_tokens=2048, max_batch=VERTEX_BATCH, languages=ENGLISH_ONLY
        ),
        EmbeddingModel("text-multilingual-embedding-002", dimensions=768, max_tokens=2048, max_batch=VERTEX_BATCH),
        EmbeddingModel(
            "text-embedding-004", dimensions=768, max_tokens=2048, max_batch=VERTEX_BATCH, languages=ENGLISH_ONLY
        ),
    ),
)

OPENROUTER = Provider(
    name="openrouter",
    label="OpenRouter",
    protocol=Protocol.OPENAI,
    key_setting="openrouter_api_key",
    base_url="https://openrouter.ai/api/v1",
    base_url_setting="openrouter_base_url",
    extra="openai",
    default_chat_model="openai/gpt-6-luna",
    chat_models=(
        ChatModels(
            patterns=("openai/gpt-5*", "openai/gpt-6*", "openai/o[134]*"),
            context_window=200_000,
            temperature=False,
            effort="low",
            reasoning_tokens=REASONING_TOKENS,
        ),
        ChatModels(patterns=("*/*",), context_window=128_000),
        ANY_MODEL,
    ),
    default_embedding_model="openai/text-embedding-3-small",
    embedding_models=(
        EmbeddingModel("openai/text-embedding-3-small", dimensions=1536, reducible=True),
        EmbeddingModel("openai/text-embedding-3-large", dimensions=1536, reducible=True),
    ),
)

PERPLEXITY = Provider(
    name="perplexity",
    label="Perplexity",
    protocol=Protocol.RESPONSES,  # its chat completions ended in September 2026
    key_setting="perplexity_api_key",
    base_url="https://api.perplexity.ai/v1",
    base_url_setting="perplexity_base_url",
    extra="openai",
    default_chat_model="perplexity/sonar",
    chat_models=(ChatModels(patterns=("perplexity/*", "sonar*"), context_window=128_000), ANY_MODEL),
    renamed_models=(("sonar", "perplexity/sonar"), ("sonar-pro", "perplexity/sonar")),
)

OPENAI_COMPATIBLE = Provider(
    name="openai_compatible",
    label="OpenAI-compatible server",
    protocol=Protocol.OPENAI,
    key_setting="openai_api_key",
    access=(("openai_base_url",),),
    base_url_setting="openai_base_url",
    extra="openai",
    chat_models=(ANY_MODEL,),
    embedding_models=(EmbeddingModel("nomic-embed-text", dimensions=768, max_tokens=2048, languages=ENGLISH_ONLY),),
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

OLLAMA = Provider(
    name="ollama",
    label="Ollama",
    protocol=Protocol.OPENAI,
    base_url="http://127.0.0.1:11434/v1",
    base_url_setting="ollama_base_url",
    extra="openai",
    chat_models=(ANY_MODEL,),
    embedding_models=(NOMIC_EMBED_TEXT,),
    is_model_server=True,
)

LM_STUDIO = replace(
    OLLAMA,
    name="lm_studio",
    label="LM Studio",
    base_url="http://127.0.0.1:1234/v1",
    base_url_setting="lm_studio_base_url",
    embedding_models=(replace(NOMIC_EMBED_TEXT, name="text-embedding-nomic-embed-text-v1.5"),),
)

LLAMA_CPP = replace(
    OLLAMA,
    name="llama_cpp",
    label="llama.cpp",
    base_url="http://127.0.0.1:8080/v1",
    base_url_setting="llama_cpp_base_url",
)

VLLM = replace(
    OLLAMA,
    name="vllm",
    label="vLLM",
    base_url="http://127.0.0.1:8000/v1",
    base_url_setting="vllm_base_url",
    embedding_models=(replace(NOMIC_EMBED_TEXT, name="nomic-ai/nomic-embed-text-v1.5"),),
)

SERVERS = (OLLAMA, LM_STUDIO, LLAMA_CPP, VLLM)
"""Model servers with a default address on this machine, used only if a setting or request names one."""

PROVIDERS = (OPENAI, GEMINI, VERTEX_GEMINI, OPENROUTER, PERPLEXITY, OPENAI_COMPATIBLE, *SERVERS, FOLDER, LOCAL)
"""In order of preference when no setting names a provider; the last needs no key."""

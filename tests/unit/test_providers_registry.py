"""Which provider and model is chosen; nothing here may reach a network."""

import socket
import sys
from collections.abc import Iterator

import pytest
from llama_index.core.embeddings import MockEmbedding
from pydantic import SecretStr

from rag import errors, providers
from rag.config import Config
from rag.providers import embedded_models
from rag.providers.provider_catalogue import PROVIDERS, EmbeddingModel
from rag.types import EmbeddingSpace, GenerationOptions

LOCAL_SPACE = EmbeddingSpace(provider="local", model="bge-small-en-v1.5", dimensions=384)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """Any attempt to connect or to look up a name fails the test, even if its error is swallowed."""
    attempts: list[object] = []

    def refuse(*args: object, **_: object) -> None:
        attempts.append(args)
        raise OSError("A unit test tried to reach the network.")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield attempts
    assert attempts == []


def config(*keys: str, **settings: object) -> Config:
    secrets = {f"{name}_api_key": SecretStr(f"{name}-secret") for name in keys}
    return Config(**{**secrets, **settings})  # type: ignore[arg-type]  # validated by pydantic


CLOUD = {"google_cloud_project": "orchard", "google_cloud_location": "global"}


def chosen_chat(settings: Config, **options: object) -> str | None:
    llm = providers.language_model(settings, GenerationOptions(**options))
    return llm.metadata.model_name if llm else None


@pytest.mark.parametrize(
    ("settings", "space"),
    [
        (config(), ("local", "bge-small-en-v1.5", 384)),
        (config("perplexity"), ("local", "bge-small-en-v1.5", 384)),
        (config("openai"), ("openai", "text-embedding-3-small", 1536)),
        (config("gemini"), ("gemini", "gemini-embedding-2", 768)),
        (config("vertex"), ("vertex_gemini", "gemini-embedding-2", 768)),
        (config("gemini", "vertex"), ("gemini", "gemini-embedding-2", 768)),
        (config(**CLOUD), ("vertex_gemini", "gemini-embedding-2", 768)),
        (config(google_cloud_project="orchard"), ("local", "bge-small-en-v1.5", 384)),
        (config("openrouter"), ("openrouter", "openai/text-embedding-3-small", 1536)),
        (config("openai", "gemini"), ("openai", "text-embedding-3-small", 1536)),
        (config("openai", rag_embed_model="local"), ("local", "bge-small-en-v1.5", 384)),
        (config("openai", "gemini", rag_embed_model="gemini"), ("gemini", "gemini-embedding-2", 768)),
        (config("gemini", rag_embed_model="text-embedding-004"), ("gemini", "text-embedding-004", 768)),
        (config("gemini", rag_embed_model="gemini:gemini-embedding-001"), ("gemini", "gemini-embedding-001", 768)),
        (config("openai", rag_embed_model="text-embedding-3-large"), ("openai", "text-embedding-3-large", 1536)),
        (config(rag_embed_model="bge-small-en-v1.5"), ("local", "bge-small-en-v1.5", 384)),
    ],
)
def test_embedding_model_of_settings_and_keys(settings: Config, space: tuple[str, str, int]) -> None:
    chosen, embedder = providers.embedding_model(settings)
    assert (chosen.provider, chosen.model, chosen.dimensions) == space
    assert embedder.model_name == chosen.model


@pytest.mark.parametrize(
    ("settings", "options", "model"),
    [
        (config(), {}, None),
        (config(), {"provider": "extractive"}, None),
        (config("openai"), {}, "gpt-6-luna"),
        (config("openai"), {"provider": "extractive"}, None),
        (config("openai", rag_gen_model="extractive"), {}, None),
        (config("openai", rag_gen_model="extractive"), {"provider": "openai"}, "gpt-6-luna"),
        (config("openai"), {"model": "gpt-3.5-turbo"}, "gpt-3.5-turbo"),
        (config("openai"), {"provider": "openai", "model": "made-next-year"}, "made-next-year"),
        (config("openai", "gemini"), {"provider": "gemini"}, "gemini-3.8-flash"),
        (config("openai", "gemini"), {"model": "gemini-1.5-flash"}, "gemini-1.5-flash"),
        (config("openai", "gemini", rag_gen_model="gemini"), {}, "gemini-3.8-flash"),
        (config("openai", rag_gen_model="gpt-4o"), {}, "gpt-4o"),
        (config("openai", rag_gen_model="openai:gpt-4o"), {"provider": "openai"}, "gpt-4o"),
        (config("openai", "gemini", rag_gen_model="openai:gpt-4o"), {"provider": "gemini"}, "gemini-3.8-flash"),
        (config("perplexity"), {}, "perplexity/sonar"),
        (config("perplexity"), {"model": "sonar-pro"}, "perplexity/sonar"),
        (config("perplexity"), {"provider": "perplexity", "model": "openai/gpt-5.5"}, "openai/gpt-5.5"),
        (config("vertex"), {}, "gemini-3.8-flash"),
        (config("vertex"), {"model": "gemini-1.5-pro"}, "gemini-1.5-pro"),
        (config(**CLOUD), {"provider": "vertex_gemini"}, "gemini-3.8-flash"),
        (config(google_cloud_project="orchard"), {}, None),
        (config("openrouter"), {"model": "meta/llama-4"}, "meta/llama-4"),
        (config(rag_gen_model="openai_compatible:qwen3:4b", openai_base_url="http://localhost:1/v1"), {}, "qwen3:4b"),
        (config("openai", rag_gen_model="ollama:qwen3:4b"), {}, "qwen3:4b"),
        (config("openai"), {"model": "lm_studio:qwen3"}, "qwen3"),
    ],
)
def test_language_model_of_options_settings_and_keys(
    settings: Config, options: dict[str, object], model: str | None
) -> None:
    assert chosen_chat(settings, **options) == model


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        (config(rag_embed_model="openai"), "OPENAI_API_KEY"),
        (config("openai", rag_embed_model="gemini"), "GEMINI_API_KEY"),
        (config(rag_embed_model="openai_compatible:x"), "OPENAI_BASE_URL"),
        (config(rag_embed_model="openai_compatible", openai_base_url="http://localhost:1"), "RAG_EMBED_MODEL"),
        (config(rag_embed_model="no-such-model"), "RAG_EMBED_MODEL"),
    ],
)
def test_what_is_missing_to_embed_is_named(settings: Config, setting: str) -> None:
    with pytest.raises(errors.ConfigError, match=setting):
        providers.embedding_model(settings)


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        (config(rag_gen_model="gemini"), "GEMINI_API_KEY"),
        (
            config(rag_gen_model="vertex_gemini"),
            "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, or VERTEX_API_KEY",
        ),
        (config(rag_gen_model="no-such-model"), "RAG_GEN_MODEL"),
        (config(rag_gen_model="openai_compatible", openai_base_url="http://localhost:1"), "RAG_GEN_MODEL"),
    ],
)
def test_what_is_missing_to_write_is_named(settings: Config, setting: str) -> None:
    with pytest.raises(errors.ConfigError, match=setting):
        providers.language_model(settings)


def test_a_request_for_an_unknown_provider_is_malformed() -> None:
    with pytest.raises(errors.ValidationError, match="no-such"):
        chosen_chat(config("openai"), provider="no-such")
    with pytest.raises(errors.ValidationError, match="no language models"):
        chosen_chat(config("openai"), provider="local")


def test_a_provider_that_only_chats_does_not_embed() -> None:
    with pytest.raises(errors.EmbeddingCapabilityError, match="Perplexity has no embedding models"):
        providers.embedding_model(config("perplexity", rag_embed_model="perplexity"))


@pytest.mark.parametrize(
    ("model", "dimensions"), [("bge-large", 384), ("bge-small-en-v1.5", 385)], ids=["model", "dimensions"]
)
def test_a_space_that_the_provider_does_not_have(model: str, dimensions: int) -> None:
    space = EmbeddingSpace(provider="local", model=model, dimensions=dimensions)
    with pytest.raises(errors.EmbeddingCapabilityError):
        providers.embedding_model(config(), space)


def test_the_space_of_an_index_wins_over_the_settings() -> None:
    space, embedder = providers.embedding_model(config("openai"), LOCAL_SPACE)
    assert space == LOCAL_SPACE
    assert isinstance(embedder, embedded_models.LocalEmbedding)


def test_without_a_key_nothing_leaves_the_machine(no_network: list[object]) -> None:
    _, embedder = providers.embedding_model(config())
    assert len(providers.embed_query(embedder, "apples")) == 384
    assert len(providers.embed_texts(embedder, ["apples", "pears"])) == 2
    assert providers.embed_texts(embedder, []) == []
    assert providers.count_tokens("apples and oranges") == 4
    assert no_network == []


@pytest.mark.parametrize(
    ("settings", "module", "extra"),
    [
        (config("openai"), "llama_index.llms.openai_like", "openai"),
        (config("gemini"), "llama_index.llms.google_genai", "gemini"),
    ],
)
def test_a_missing_package_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, settings: Config, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # what an environment without the extra does to an import
    with pytest.raises(errors.ConfigError, match=rf'pip install "pagelight\[{extra}\]"'):
        providers.language_model(settings)


# --- what is registered -----------------------------------------------------------------------------


def test_capabilities_are_data() -> None:
    registry = providers.Registry()
    assert tuple(row.name for row in registry.providers() if row.embeds) == (
        "openai",
        "gemini",
        "vertex_gemini",
        "openrouter",
        "openai_compatible",
        "ollama",
        "lm_studio",
        "llama_cpp",
        "vllm",
        "folder",
        "local",
    )
    gemini = registry.embedding_capabilities("gemini")
    assert (gemini.embeds, gemini.default_model) == (True, "gemini-embedding-2")
    assert {model.name for model in gemini.models} >= {"text-embedding-004", "gemini-embedding-001"}
    assert not registry.embedding_capabilities("perplexity").embeds
    with pytest.raises(errors.ValidationError):
        registry.embedding_capabilities("no-such")


@pytest.mark.parametrize("row", PROVIDERS, ids=lambda row: str(row.name))
def test_every_row_is_whole(row: providers.Provider) -> None:
    if row.default_chat_model:
        assert row.chat_family(row.default_chat_model)
    if row.default_embedding_model:
        model = row.embedding_model(row.default_embedding_model)
        assert model is not None
        assert model.dimensions is not None
    for setting in (
        row.key_setting,
        row.base_url_setting,
        *row.client_settings,
        *(name for g in row.required_settings for name in g),
    ):
        assert setting is None or setting in Config.model_fields


def test_a_function_can_be_registered_as_a_provider() -> None:
    registry = providers.Registry()
    model = EmbeddingModel("lengths", dimensions=2, max_batch=2)
    registry.register("ours", lambda texts: [[3.0 * len(text), 4.0 * len(text)] for text in texts], model)
    space, embedder = registry.embedding_model(config(rag_embed_model="ours"))
    assert space == EmbeddingSpace(provider="ours", model="lengths", dimensions=2)
    assert providers.embed_texts(embedder, ["a", "bb", "ccc"]) == [pytest.approx([0.6, 0.8])] * 3
    assert "ours" in tuple(row.name for row in registry.providers() if row.embeds)
    assert registry.embedding_model(config())[0].provider == "local"
    registry.unregister("ours")
    assert "ours" not in tuple(row.name for row in registry.providers() if row.embeds)
    with pytest.raises(errors.ValidationError):
        registry.unregister("ours")


def test_a_llama_index_embedding_can_be_registered() -> None:
    registry = providers.Registry()
    registry.register("mock", MockEmbedding(embed_dim=4), EmbeddingModel("mock"))
    space, embedder = registry.embedding_model(config(rag_embed_model="mock"))
    assert space.dimensions == 4
    assert providers.embed_query(embedder, "x") == pytest.approx([0.5] * 4)


def test_an_adapter_that_returns_too_few_vectors_is_an_error() -> None:
    registry = providers.Registry()
    registry.register("broken", lambda texts: [[1.0]], EmbeddingModel("broken", dimensions=1))
    _, embedder = registry.embedding_model(config(rag_embed_model="broken"))
    with pytest.raises(errors.ProviderError, match="1 vectors for 2 texts"):
        providers.embed_texts(embedder, ["a", "b"])


def test_an_adapter_s_own_error_of_ours_stays_what_it_is() -> None:
    def refuse(texts: list[str]) -> list[list[float]]:
        raise errors.ValidationError(f"{len(texts)} texts are too many.")

    registry = providers.Registry()
    registry.register("strict", refuse, EmbeddingModel("strict", dimensions=1))
    _, embedder = registry.embedding_model(config(rag_embed_model="strict"))
    with pytest.raises(errors.ValidationError, match="2 texts are too many"):
        providers.embed_texts(embedder, ["a", "b"])


def test_built_in_providers_stay() -> None:
    registry = providers.Registry()
    with pytest.raises(errors.ValidationError):
        registry.register("openai", MockEmbedding(embed_dim=4), EmbeddingModel("mock", dimensions=4))
    with pytest.raises(errors.ValidationError):
        registry.unregister("openai")


@pytest.mark.parametrize(
    ("model", "prices"),
    [
        ("gpt-6-luna", (0.10, 0.50)),
        ("gpt-4.1", (2.00, 8.00)),
        ("gpt-4.1-mini-2025-04-14", (0.40, 1.60)),
        ("gpt-4o-realtime", None),
        ("of-my-own", None),
    ],
)
def test_a_price_is_that_of_the_very_model_or_none(model: str, prices: tuple[float, float] | None) -> None:
    price = providers.Registry().provider("openai").price(model)
    assert (price and (price.input, price.output)) == prices

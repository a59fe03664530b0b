"""Which provider and model is chosen; nothing here may reach a network."""

import re
import socket
import sys
from collections.abc import Iterator

import pytest
from llama_index.core.embeddings import MockEmbedding
from pydantic import SecretStr

from rag import errors, providers
from rag.config import Config
from rag.providers import embedded_models, provider_catalogue
from rag.providers.provider_catalogue import OPENAI, PROVIDERS, EmbeddingModel
from rag.types import EmbeddingSpace, GenerationOptions, Usage

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


def chosen_chat(settings: Config, **options: object) -> str | None:
    llm = providers.Registry().language_model(settings, GenerationOptions(**options))
    return llm.metadata.model_name if llm else None


@pytest.mark.parametrize(
    ("settings", "space"),
    [
        (config(), ("local", "bge-small-en-v1.5", 384)),
        (config("openai"), ("openai", "text-embedding-3-small", 1536)),
        (config("gemini"), ("gemini", "gemini-embedding-2", 768)),
        (config("openai", "gemini"), ("openai", "text-embedding-3-small", 1536)),
        (config("openai", rag_embed_model="local"), ("local", "bge-small-en-v1.5", 384)),
        (config("openai", "gemini", rag_embed_model="gemini"), ("gemini", "gemini-embedding-2", 768)),
        (config("gemini", rag_embed_model="gemini:gemini-embedding-001"), ("gemini", "gemini-embedding-001", 768)),
        (config("openai", rag_embed_model="text-embedding-3-large"), ("openai", "text-embedding-3-large", 1536)),
        (config(rag_embed_model="bge-small-en-v1.5"), ("local", "bge-small-en-v1.5", 384)),
    ],
)
def test_embedding_model_of_settings_and_keys(settings: Config, space: tuple[str, str, int]) -> None:
    chosen, embedder = providers.Registry().embedding_model(settings)
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
        (config(rag_gen_model="openai_compatible:qwen3:4b", openai_base_url="http://localhost:1/v1"), {}, "qwen3:4b"),
        (config("openai", rag_gen_model="ollama:qwen3:4b"), {}, "qwen3:4b"),
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
        (config(rag_embed_model="openai_compatible:x"), "OPENAI_COMPATIBLE_BASE_URL"),
        (config(rag_embed_model="openai_compatible", openai_base_url="http://localhost:1"), "RAG_EMBED_MODEL"),
        (config(rag_embed_model="no-such-model"), "RAG_EMBED_MODEL"),
    ],
)
def test_what_is_missing_to_embed_is_named(settings: Config, setting: str) -> None:
    with pytest.raises(errors.ConfigError, match=setting):
        providers.Registry().embedding_model(settings)


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        (config(rag_gen_model="gemini"), "GEMINI_API_KEY"),
        (config(rag_gen_model="no-such-model"), "RAG_GEN_MODEL"),
        (config(rag_gen_model="openai_compatible", openai_base_url="http://localhost:1"), "RAG_GEN_MODEL"),
    ],
)
def test_what_is_missing_to_write_is_named(settings: Config, setting: str) -> None:
    with pytest.raises(errors.ConfigError, match=setting):
        providers.Registry().language_model(settings)


def test_a_request_for_an_unknown_provider_is_malformed() -> None:
    with pytest.raises(errors.ValidationError, match="no-such"):
        chosen_chat(config("openai"), provider="no-such")
    with pytest.raises(errors.ValidationError, match="no language models"):
        chosen_chat(config("openai"), provider="local")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("openrouter", "OPENAI_COMPATIBLE_BASE_URL=https://openrouter.ai/api/v1"),
        ("perplexity", "OPENAI_COMPATIBLE_BASE_URL=https://openrouter.ai/api/v1"),
        ("lm_studio", "OPENAI_COMPATIBLE_BASE_URL=http://127.0.0.1:1234/v1"),
        ("llama_cpp", "OPENAI_COMPATIBLE_BASE_URL=http://127.0.0.1:8080/v1"),
        ("vllm", "OPENAI_COMPATIBLE_BASE_URL=http://127.0.0.1:8000/v1"),
        ("vertex_gemini", "Set GEMINI_API_KEY, and write gemini:MODEL"),
    ],
)
def test_a_connection_of_earlier_releases_says_what_to_set_instead(name: str, advice: str) -> None:
    with pytest.raises(errors.ConfigError, match=f"RAG_GEN_MODEL: {name} is no connection.*{re.escape(advice)}"):
        chosen_chat(config("openai", rag_gen_model=f"{name}:model"))
    with pytest.raises(errors.ConfigError, match=f"RAG_EMBED_MODEL: .*{re.escape(advice)}"):
        providers.Registry().embedding_model(config("openai", rag_embed_model=name))
    with pytest.raises(errors.ValidationError, match=re.escape(advice)):
        chosen_chat(config("openai"), provider=name)


def test_an_index_of_a_former_connection_is_searched_by_its_successor() -> None:
    space = EmbeddingSpace(provider="lm_studio", model="text-embedding-nomic-embed-text-v1.5", dimensions=768)
    with pytest.raises(errors.ConfigError, match="OPENAI_COMPATIBLE_BASE_URL"):
        providers.Registry().embedding_model(config(), space)
    assert (
        providers.Registry().embedding_model(config(openai_compatible_base_url="http://localhost:1/v1"), space)[0]
        == space
    )
    space = EmbeddingSpace(provider="vertex_gemini", model="gemini-embedding-2", dimensions=768)
    assert providers.Registry().embedding_model(config("gemini"), space)[0] == space


def test_a_key_goes_to_its_own_address_only() -> None:
    own = {"openai_compatible_base_url": "http://localhost:1/v1", "rag_gen_model": "openai_compatible:x"}
    registry = providers.Registry()
    row = registry.provider("openai_compatible")
    connection = registry.connection(row, config("openai", openai_base_url="http://localhost:2/v1", **own))
    assert (connection.base_url, connection.key) == ("http://localhost:1/v1", None)
    connection = registry.connection(
        row, config("openai", "openai_compatible", openai_base_url="http://localhost:2/v1")
    )
    assert (connection.base_url, connection.key) == ("http://localhost:2/v1", "openai-secret")


@pytest.mark.parametrize(
    ("model", "dimensions"), [("bge-large", 384), ("bge-small-en-v1.5", 385)], ids=["model", "dimensions"]
)
def test_a_space_that_the_provider_does_not_have(model: str, dimensions: int) -> None:
    space = EmbeddingSpace(provider="local", model=model, dimensions=dimensions)
    with pytest.raises(errors.EmbeddingCapabilityError):
        providers.Registry().embedding_model(config(), space)


def test_the_space_of_an_index_wins_over_the_settings() -> None:
    space, embedder = providers.Registry().embedding_model(config("openai"), LOCAL_SPACE)
    assert space == LOCAL_SPACE
    assert isinstance(embedder, embedded_models.LocalEmbedding)


def test_without_a_key_nothing_leaves_the_machine(no_network: list[object]) -> None:
    _, embedder = providers.Registry().embedding_model(config())
    assert len(providers.embed_query(embedder, "apples")) == 384
    assert len(providers.embed_texts(embedder, ["apples", "pears"])) == 2
    assert providers.embed_texts(embedder, []) == []
    assert providers.count_tokens("apples and oranges") == 4
    assert no_network == []


@pytest.mark.parametrize(
    ("settings", "module", "extra"),
    [
        (config("openai"), "llama_index.llms.openai_like", "openai"),
        (config("gemini"), "google.genai", "gemini"),
    ],
)
def test_a_missing_package_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, settings: Config, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # what an environment without the extra does to an import
    with pytest.raises(errors.ConfigError, match=rf'pip install "pagelight\[{extra}\]"'):
        providers.Registry().language_model(settings)


# --- what is registered -----------------------------------------------------------------------------


def test_capabilities_are_data() -> None:
    registry = providers.Registry()
    assert [row.name for row in registry.providers()] == [
        *("openai", "gemini", "openai_compatible", "ollama", "folder", "local"),
    ]
    gemini = registry.embedding_capabilities("gemini")
    assert (gemini.embeds, gemini.default_model) == (True, "gemini-embedding-2")
    assert {model.name for model in gemini.models} == {"gemini-embedding-2", "gemini-embedding-001"}
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
    for setting in (row.key_setting, row.base_url_setting):
        assert setting is None or setting in Config.model_fields


def test_a_function_can_be_registered_as_a_provider() -> None:
    registry = providers.Registry()
    model = EmbeddingModel("lengths", dimensions=2, max_batch=2)
    registry.register("ours", lambda texts: [[3.0 * len(text), 4.0 * len(text)] for text in texts], model)
    space, embedder = registry.embedding_model(config(rag_embed_model="ours"))
    assert space == EmbeddingSpace(provider="ours", model="lengths", dimensions=2)
    assert providers.embed_texts(embedder, ["a", "bb", "ccc"]) == [pytest.approx([0.6, 0.8])] * 3
    assert "ours" in [row.name for row in registry.providers()]
    assert registry.embedding_model(config())[0].provider == "local"
    registry.unregister("ours")
    assert "ours" not in [row.name for row in registry.providers()]
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
    ("provider", "url", "model", "is_known"),
    [
        ("openai", None, "gpt-6-luna", True),
        ("openai", None, "gpt-4.1-mini-2025-04-14", True),
        ("gemini", None, "gemini-3.8-flash", True),
        ("openai", None, "of-my-own", False),
        ("openai_compatible", "https://openrouter.ai/api/v1", "openai/gpt-6-luna", True),
        ("openai_compatible", "http://127.0.0.1:8000/v1", "gpt-4.1", False),
        ("ollama", "http://127.0.0.1:11434/v1", "llama3.2", False),
    ],
)
def test_price_and_context_window_are_those_of_the_list(
    provider: str, url: str | None, model: str, is_known: bool
) -> None:
    row = providers.Registry().provider(provider)
    cost = provider_catalogue.list_price(row, url, model, Usage(input_tokens=1000, output_tokens=1000))
    assert (cost is not None and cost > 0) is is_known
    assert (provider_catalogue.listed_context_window(row, url, model) is not None) is is_known


def test_a_price_counts_tokens_read_and_written() -> None:
    usage = Usage(input_tokens=2000, output_tokens=1000)
    assert provider_catalogue.list_price(OPENAI, None, "gpt-4.1", usage) == pytest.approx(0.012)

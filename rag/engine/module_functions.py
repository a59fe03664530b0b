"""Module functions such as `rag.search(...)`, which use one engine that the process shares.

`configure` creates it; otherwise the first call creates it from the environment, for the user "local". Results are the
models of `rag.contract`: `model_dump(mode="json", by_alias=True)` gives their JSON.
"""

import re
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rag import errors, providers, types
from rag.config import Config, load_config
from rag.contract import AnswerBody, SearchBody, SyncBody
from rag.engine.engine import RAGEngine
from rag.engine.ingestion.folders import OnFile
from rag.engine.request_parsing import parse

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.base.embeddings import base as embeddings

PROVIDER_NAME = re.compile(r"[\w-]{1,100}")

_USER_INFO = re.compile(r"(?<=://)[^/@]+@")
"""The user and password in a URL."""


class _Process:
    """The shared engine, and the providers registered with it, which outlive the engine."""

    def __init__(self) -> None:
        self.registry = providers.Registry()
        self._lock = threading.RLock()
        self._engine: RAGEngine | None = None

    @property
    def engine(self) -> RAGEngine:
        """The engine in use, created from the environment if none is configured."""
        with self._lock:
            if self._engine is None:
                self._engine = RAGEngine(load_config(), registry=self.registry)
            return self._engine

    def use(self, engine: RAGEngine | None) -> None:
        """Replace the engine, or remove it, and close the former one."""
        with self._lock:
            former, self._engine = self._engine, engine
        if former:
            former.installation.close()

    def forget_provider(self, name: str) -> None:
        """Reopen the provider's models on next use."""
        with self._lock:
            if self._engine:
                self._engine.installation.models.forget_provider(name)


_process = _Process()


# --- settings ---


def configure(
    config: Config | Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None, **more: Any
) -> None:
    """Configure the engine of the module functions. Settings that are not given come from the environment.

    `config` maps setting names (of `rag.config.Config`, in any case) to values. Options, also as keywords: `user_id`,
    `store`, `files`, `embedders`, `llm`, `reranker`.

    Raises:
        errors.ValidationError: a setting or option is unknown.
        errors.ConfigError: a setting has an invalid value.
    """
    chosen = {**(options or {}), **more}
    if unknown := sorted(chosen.keys() - {"user_id", "store", "files", "embedders", "llm", "reranker"}):
        raise errors.ValidationError(f"There is no such option: {', '.join(unknown)}.", details={"fields": unknown})
    if not isinstance(config, Config):
        settings = {str(name).lower(): value for name, value in (config or {}).items()}
        if unknown := sorted(settings.keys() - Config.model_fields.keys()):
            raise errors.ValidationError(
                f"There is no such setting: {', '.join(unknown)}.", details={"fields": unknown}
            )
        config = load_config(**settings)
    _process.use(RAGEngine(config, registry=_process.registry, **chosen))


def get_config() -> dict[str, Any]:
    """Return the settings in force and the `user_id` as plain values; keys and passwords are masked."""
    engine = _process.engine
    settings = {
        name: _USER_INFO.sub("**********@", value) if isinstance(value, str) else value
        for name, value in engine.config.model_dump(mode="json").items()
    }
    return {**settings, "user_id": engine.user_id}


def clear_config() -> None:
    """Close the engine; the next call creates one from the environment. Registered providers stay."""
    _process.use(None)


# --- indexes ---


def build_index(request: types.IndexRequest | Mapping[str, Any], on_file: OnFile | None = None) -> SyncBody:
    """Ingest a folder's files into an index. See `RAGEngine.build_index`."""
    return SyncBody.of(_process.engine.build_index(request, on_file))


def sync_index(request: types.IndexRequest | Mapping[str, Any], on_file: OnFile | None = None) -> SyncBody:
    """Make an index mirror a folder. See `RAGEngine.sync_index`."""
    return SyncBody.of(_process.engine.sync_index(request, on_file))


def inspect_index(index: str | types.IndexReference | Mapping[str, Any] = types.DEFAULT_INDEX) -> types.IndexStats:
    """Return the statistics of an index given by name or id, also as `{"indexFileId": …}`."""
    name = index if isinstance(index, str) else parse(types.IndexReference, index).index_name
    return _process.engine.inspect_index(name)


# --- questions ---


def search(request: types.SearchRequest | Mapping[str, Any]) -> SearchBody:
    """Return the passages that match a query. See `RAGEngine.search`."""
    return SearchBody.of(_process.engine.search(request))


def answer(request: types.AnswerRequest | Mapping[str, Any]) -> AnswerBody:
    """Answer a question from the documents. See `RAGEngine.answer`."""
    return AnswerBody.of(_process.engine.answer(request))


# --- embedding providers ---


def embedding_providers() -> tuple[str, ...]:
    """Return the names of the providers that embed, including registered ones."""
    return tuple(row.name for row in _process.registry.providers())


def embedding_capabilities(provider: str) -> providers.EmbeddingCapabilities:
    """Return a provider's embedding models, sizes and limits. Raises ValidationError if it is unknown."""
    return _process.registry.embedding_capabilities(provider)


def register_embedding_provider(
    name: str,
    adapter: "embeddings.BaseEmbedding | providers.Embed",
    options: types.AdapterOptions | Mapping[str, Any] | None = None,
) -> None:
    """Register `adapter`, a LlamaIndex embedding or a function from texts to vectors, as an embedding provider.

    Registering a name again replaces its adapter. Raises ValidationError if the name is invalid or built in, the
    adapter cannot embed, or an option is wrong.
    """
    import llama_index.core
    from llama_index.core.base.embeddings import base as embeddings

    if not PROVIDER_NAME.fullmatch(name):
        raise errors.ValidationError(f"{name!r} cannot name a provider. Use letters, digits, - and _.")
    if not callable(adapter) and not isinstance(adapter, embeddings.BaseEmbedding):
        raise errors.ValidationError("adapter must be a LlamaIndex embedding or a function from texts to vectors.")
    chosen = parse(types.AdapterOptions, options or {})
    model = providers.EmbeddingModel(chosen.model, **chosen.model_dump(exclude={"model", "label"}))
    _process.registry.register(name, adapter, model, label=chosen.label)
    _process.forget_provider(name)


def unregister_embedding_provider(name: str) -> None:
    """Remove a registered provider. Its indexes cannot be searched until it is registered again.

    Raises ValidationError if the provider is unknown or built in.
    """
    _process.registry.unregister(name)
    _process.forget_provider(name)

"""The engine as module functions, `rag.search(...)` and the others: they act on one engine that the process shares.

`configure` makes it. Without, the first call makes it from the environment's settings, for the user "local". What they
give is flat, in the words of `rag.contract`, and becomes their JSON with `model_dump(mode="json", by_alias=True)`.
"""

import re
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rag import errors, providers
from rag.config import Config, load_config
from rag.contract import AnswerBody, SearchBody, SyncBody
from rag.engine.engine import RAGEngine
from rag.engine.ingestion.sync import OnFile
from rag.engine.request_parsing import parse
from rag.types import (
    DEFAULT_INDEX,
    AdapterOptions,
    AnswerRequest,
    IndexReference,
    IndexRequest,
    IndexStats,
    SearchRequest,
)

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.base.embeddings import base as embeddings

PROVIDER_NAME = re.compile(r"[\w-]{1,100}")

_USER_INFO = re.compile(r"(?<=://)[^/@]+@")


class _Process:
    """The engine that the functions share, and the providers registered with them."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._engine: RAGEngine | None = None
        self._registry: providers.Registry | None = None

    @property
    def registry(self) -> providers.Registry:
        """The catalogue and what was registered; it outlives the engine."""
        with self._lock:
            if self._registry is None:
                self._registry = providers.Registry()
            return self._registry

    @property
    def engine(self) -> RAGEngine:
        """The engine in use, made from the environment if none is configured."""
        with self._lock:
            if self._engine is None:
                self._engine = RAGEngine(load_config(), registry=self.registry)
            return self._engine

    def use(self, engine: RAGEngine) -> None:
        """Take `engine`, and close the former one."""
        with self._lock:
            former, self._engine = self._engine, engine
        if former:
            former.installation.close()

    def clear(self) -> None:
        """Close the engine."""
        with self._lock:
            former, self._engine = self._engine, None
        if former:
            former.installation.close()

    def forget_provider(self, name: str) -> None:
        """Open the provider's models anew."""
        with self._lock:
            if self._engine:
                self._engine.installation.forget_provider(name)


_process = _Process()


# --- settings ---


def configure(
    config: Config | Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None, **more: Any
) -> None:
    """Let the module functions act on an engine with these settings; those not given are the environment's.

    `config` maps names of settings (of `rag.config.Config`, in any case) to values. Options, also as keywords:
    `user_id`, and what `RAGEngine` takes beside its settings (`store`, `files`, `embedders`, `llm`, `reranker`).

    Raises:
        errors.ValidationError: there is no such setting or option.
        errors.ConfigError: a setting has a wrong value.
    """
    chosen = {**(options or {}), **more}
    unknown = sorted(chosen.keys() - {"user_id", "store", "files", "embedders", "llm", "reranker"})
    if unknown:
        raise errors.ValidationError(f"There is no such option: {', '.join(unknown)}.", details={"fields": unknown})
    settings = config if isinstance(config, Config) else load_config(**_settings(config or {}))
    _process.use(RAGEngine(settings, registry=_process.registry, **chosen))


def _settings(values: Mapping[str, Any]) -> dict[str, Any]:
    lowered = {str(name).lower(): value for name, value in values.items()}
    unknown = sorted(lowered.keys() - Config.model_fields.keys())
    if unknown:
        raise errors.ValidationError(f"There is no such setting: {', '.join(unknown)}.", details={"fields": unknown})
    return lowered


def get_config() -> dict[str, Any]:
    """The settings in force and the `user_id`, as plain values; keys and passwords are masked."""
    engine = _process.engine
    shown = engine.config.model_dump(mode="json")
    return {**{name: _masked(value) for name, value in shown.items()}, "user_id": engine.user_id}


def _masked(value: object) -> object:
    """An address without its user and password; other values as they are."""
    return _USER_INFO.sub("**********@", value) if isinstance(value, str) else value


def clear_config() -> None:
    """Close the engine; the next call makes one from the environment. Registered providers stay."""
    _process.clear()


# --- indexes ---


def build_index(request: IndexRequest | Mapping[str, Any], on_file: OnFile | None = None) -> SyncBody:
    """`RAGEngine.build_index`: take a folder's files into an index."""
    return SyncBody.of(_process.engine.build_index(request, on_file))


def sync_index(request: IndexRequest | Mapping[str, Any], on_file: OnFile | None = None) -> SyncBody:
    """`RAGEngine.sync_index`: make an index follow a folder."""
    return SyncBody.of(_process.engine.sync_index(request, on_file))


def inspect_index(index: str | IndexReference | Mapping[str, Any] = DEFAULT_INDEX) -> IndexStats:
    """`RAGEngine.inspect_index`: what an index, named by name or id (also as `{"indexFileId": …}`), holds."""
    name = index if isinstance(index, str) else parse(IndexReference, index).index_name
    return _process.engine.inspect_index(name)


# --- questions ---


def search(request: SearchRequest | Mapping[str, Any]) -> SearchBody:
    """`RAGEngine.search`: the places that fit a query."""
    return SearchBody.of(_process.engine.search(request))


def answer(request: AnswerRequest | Mapping[str, Any]) -> AnswerBody:
    """`RAGEngine.answer`: a grounded answer to a question."""
    return AnswerBody.of(_process.engine.answer(request))


# --- embedding providers ---


def embedding_providers() -> tuple[str, ...]:
    """Names of the providers that embed, registered ones included."""
    return _process.registry.embedding_providers()


def embedding_capabilities(provider: str) -> providers.EmbeddingCapabilities:
    """What a provider can embed with: models, sizes, limits. Raises ValidationError if there is no such provider."""
    return _process.registry.embedding_capabilities(provider)


def register_embedding_provider(
    name: str,
    adapter: "embeddings.BaseEmbedding | providers.Embed",
    options: AdapterOptions | Mapping[str, Any] | None = None,
) -> None:
    """Let indexes be embedded by `adapter`: a LlamaIndex embedding, or a function from texts to vectors.

    A name registered before gets the new adapter.

    Raises:
        errors.ValidationError: the name is a built-in provider's or no name, the adapter can't embed, or an option is
            wrong.
    """
    import llama_index.core
    from llama_index.core.base.embeddings import base as embeddings

    if not PROVIDER_NAME.fullmatch(name):
        raise errors.ValidationError(f"{name!r} cannot name a provider. Use letters, digits, - and _.")
    if not callable(adapter) and not isinstance(adapter, embeddings.BaseEmbedding):
        raise errors.ValidationError("adapter must be a LlamaIndex embedding or a function from texts to vectors.")
    chosen = parse(AdapterOptions, options or {})
    model = providers.EmbeddingModel(
        chosen.model,
        dimensions=chosen.dimensions,
        max_tokens=chosen.max_tokens,
        max_batch=chosen.max_batch,
        query_prefix=chosen.query_prefix,
        text_prefix=chosen.text_prefix,
        languages=chosen.languages,
    )
    _process.registry.register(name, adapter, model, label=chosen.label)
    _process.forget_provider(name)


def unregister_embedding_provider(name: str) -> None:
    """Remove a registered provider; its indexes cannot be searched until it is registered again.

    Raises:
        errors.ValidationError: there is none of that name, or it is built in.
    """
    _process.registry.unregister(name)
    _process.forget_provider(name)

"""The embedding, language, reranking and reading models that a process shares, each opened on first use."""

import threading
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pydantic

from rag import errors, providers, types
from rag.answering.generation.context import default_budget
from rag.config import Config
from rag.messages import N_
from rag.retrieval import SimilarityScales
from rag.store.preferences import Preferences, SavedPreferences

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.base.embeddings import base as embeddings
    from llama_index.core.llms import LLM

DEFAULT_AUTH = types.Auth()
DEFAULT_PROVIDER_OPTIONS = types.ProviderOptions()
"""For requests without their own keys and limits: those of the settings apply."""


class Models:
    """Embedding models, language models, the cross-encoder and the reader. Given ones override the settings.

    `preferences` fill in settings that `config` leaves unset, and may change at any time.
    """

    def __init__(
        self,
        config: Config,
        registry: providers.Registry,
        *,
        preferences: Preferences | None = None,
        embedders: "Mapping[types.EmbeddingSpace, embeddings.BaseEmbedding] | None" = None,
        llm: "LLM | None" = None,
        reranker: "providers.CrossEncoder | None" = None,
    ) -> None:
        self._environment = config
        self._effective = config
        self._saved = SavedPreferences()
        self._preferences = preferences
        self.registry = registry
        self._embedders: dict[types.EmbeddingSpace, embeddings.BaseEmbedding] = {
            space: providers.wrap_custom_embedding(embedder, space) for space, embedder in (embedders or {}).items()
        }
        self._given = tuple(self._embedders)
        self._default = next(iter(self._given), None)
        self.scales = SimilarityScales()
        self._llm = llm
        self._reranker = reranker
        self._lock = threading.RLock()

    @property
    def config(self) -> Config:
        """The settings in force. When they change, opened models are discarded."""
        with self._lock:
            saved = self._preferences.get() if self._preferences else self._saved
            if saved is not self._saved:
                self._saved = saved
                self._effective = apply_preferences(self._environment, saved)
                self._embedders = {space: self._embedders[space] for space in self._given}
                self._default = next(iter(self._given), None)
            return self._effective

    # --- embedding ---

    def default_space(self) -> types.EmbeddingSpace:
        """Return the embedding space of new indexes: the first given one, else that of the settings."""
        with self._lock:
            config = self.config
            if self._default is None:
                self._default, embedder = self.registry.embedding_model(self._choosing(config), None)
                self._embedders.setdefault(self._default, embedder)
            return self._default

    def default_model(self) -> str:
        """Return the embedding model of new indexes as `provider:model`, without network access."""
        with self._lock:
            return self._given[0].name if self._given else self.registry.embedding_name(self._choosing(self.config))

    def _choosing(self, config: Config) -> Config:
        """Return the settings that choose the embedding model of new indexes.

        A key that was saved in the app is for answers: it sends no documents to its vendor until somebody says so.
        """
        return config if config.rag_embed_model else self._environment

    def find_space(self, model: str, auth: types.Auth = DEFAULT_AUTH) -> types.EmbeddingSpace:
        """Return the embedding space of a model given as in `RAG_EMBED_MODEL`.

        Raises:
            errors.ValidationError: there is no such model.
            errors.EmbeddingCapabilityError: the provider does not embed.
            errors.ConfigError: its key is missing.
        """
        with self._lock:
            config = self.config
            for space in self._given:
                if model == space.name:
                    return space
            try:
                if auth.api_key:
                    config = self._config_for(model.partition(":")[0], auth, DEFAULT_PROVIDER_OPTIONS)
                named = config.model_copy(update={"rag_embed_model": model})
                space, embedder = self.registry.embedding_model(named, None)
            except errors.ConfigError as error:
                if isinstance(error.__cause__, errors.ValidationError):  # the request is wrong, not a setting
                    raise error.__cause__ from None
                raise
            if not auth.api_key:
                self._embedders.setdefault(space, embedder)
            return space

    def embedder(
        self,
        space: types.EmbeddingSpace,
        auth: types.Auth = DEFAULT_AUTH,
        options: types.ProviderOptions = DEFAULT_PROVIDER_OPTIONS,
    ) -> "embeddings.BaseEmbedding":
        """Return the embedding model of `space`. One opened with a request's own key or limits is not cached.

        Raises:
            errors.ConfigError: its provider has no key here.
            errors.EmbeddingCapabilityError: the provider is unknown here, or cannot embed as requested.
        """
        with self._lock:
            config = self.config
            if space not in self._given and (auth.api_key or options.model_fields_set):
                provider = self.registry.provider_of(space)
                return self.registry.embedding_model(self._config_for(provider.name, auth, options), space)[1]
            if space not in self._embedders:
                _, self._embedders[space] = self.registry.embedding_model(config, space)
            return self._embedders[space]

    def forget_provider(self, name: str) -> None:
        """Reopen a provider's embedding models on next use, because its adapter was replaced."""
        with self._lock:
            for space in [space for space in self._embedders if space.provider == name and space not in self._given]:
                del self._embedders[space]
                self.scales.forget(space)

    def default_is_local(self) -> bool:
        """Whether new indexes use the embedded model, which runs in this process at no cost."""
        return self.default_model().partition(":")[0] == providers.LOCAL.name

    def languages(self, space: types.EmbeddingSpace) -> frozenset[str]:
        """Return the languages of the model of `space`; empty if it is multilingual or unknown."""
        return self.registry.languages(space)

    # --- writing and reranking ---

    def language_model(self, options: types.GenerationOptions | None = None) -> "LLM | None":
        """Return the language model that writes answers, or None for extractive answers.

        Raises ValidationError if the options have a key but no provider.
        """
        if self._llm:
            return self._llm
        options = options or types.GenerationOptions()
        if options.auth.api_key and not options.provider:
            raise errors.ValidationError(
                N_("generation.provider is missing: name the provider that generation.auth is for."),
                details={"field": "generation.provider"},
            )
        config = self._config_for(options.provider, options.auth, options.provider_options)
        return self.registry.language_model(config, options)

    def with_context_budget(self, options: types.AnswerOptions, llm: "LLM | None") -> types.AnswerOptions:
        """Return `options` with their tokens of sources, else those of the settings, else what suits the model."""
        chosen = self.config.rag_max_context_tokens if llm else None
        tokens = options.max_context_tokens or chosen or default_budget(llm)
        return options.model_copy(update={"max_context_tokens": tokens})

    @property
    def reranker(self) -> "providers.CrossEncoder":
        """The embedded cross-encoder."""
        with self._lock:
            if self._reranker is None:
                self._reranker = providers.CrossEncoder(self._environment)
            return self._reranker

    @property
    def reader(self) -> "providers.Reader":
        """The embedded reader."""
        return providers.Reader(self._environment)

    @property
    def entailment_model(self) -> "providers.EntailmentModel":
        """The model that judges claims by meaning.

        Raises:
            errors.ConfigError: its files are missing, or RAG_ENTAILMENT_MODEL names a folder without a model.
        """
        return providers.open_entailment_model(self._environment)

    def _config_for(self, provider_name: str | None, auth: types.Auth, options: types.ProviderOptions) -> Config:
        """Return the settings with a request's own key for one provider, and its limits."""
        limits = options.model_dump(include={"timeout_seconds", "max_retries"}, exclude_none=True)
        changes: dict[str, object] = {f"provider_{name}": value for name, value in limits.items()}
        if auth.api_key and provider_name and provider_name != providers.EXTRACTIVE:
            setting = self.registry.provider(provider_name).key_setting
            if setting is not None:  # the embedded model needs no key
                changes[setting] = auth.api_key
        return self.config.model_copy(update=changes) if changes else self.config


def apply_preferences(environment: Config, saved: SavedPreferences) -> Config:
    """Return the environment's settings, completed by preferences where it leaves them unset."""
    types_of = typing.get_type_hints(Config)
    update = {
        name: pydantic.TypeAdapter(types_of[name]).validate_python(text)  # saved as text
        for name, text in {**saved.choices, **saved.secrets}.items()
        if name in Config.model_fields and is_unset(environment, name)
    }
    return environment.model_copy(update=update)


def is_unset(environment: Config, setting: str) -> bool:
    """Whether the environment leaves a setting unset."""
    return setting not in environment.model_fields_set

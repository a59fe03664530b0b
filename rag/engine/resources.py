"""What all users of a process share: connections, files and models, each opened when first needed."""

import threading
from collections.abc import Mapping

from llama_index.core.base.embeddings import base as embeddings
from llama_index.core.llms import LLM

from rag import errors, providers
from rag.config import Config
from rag.store import FileStore, Store, embedded
from rag.types import Auth, EmbeddingSpace, GenerationOptions, ProviderOptions

OWN_AUTH = Auth()
OWN_OPTIONS = ProviderOptions()
"""Of a request that says nothing: keys and limits are those of the settings."""


class Resources:
    """Opens lazily and once. What is given to the constructor is used instead of what the settings say."""

    def __init__(
        self,
        config: Config,
        *,
        store: Store | None = None,
        files: FileStore | None = None,
        embedders: Mapping[EmbeddingSpace, embeddings.BaseEmbedding] | None = None,
        llm: LLM | None = None,
        reranker: providers.CrossEncoder | None = None,
        registry: providers.Registry | None = None,
    ) -> None:
        self.config = config
        self.registry = registry or providers.Registry()
        self._store = store
        self._files = files
        self._embedders = dict(embedders or {})
        self._given = tuple(self._embedders)
        self._preferred = next(iter(self._given), None)
        self._llm = llm
        self._reranker = reranker
        self._server: embedded.EmbeddedServer | None = None
        self._lock = threading.RLock()

    @property
    def store(self) -> Store:
        """The database: the one of `RAG_DATABASE_URL`, else the embedded server, started if need be."""
        with self._lock:
            if self._store is None:
                self._store = Store.open(self.database_url)
            return self._store

    @property
    def database_url(self) -> str:
        """Where the database of the settings is; the embedded server is started if need be. It may be a secret."""
        with self._lock:
            if self.config.rag_database_url:
                return self.config.rag_database_url.get_secret_value()
            if self._server is None:
                self._server = embedded.start(self.config.database_dir)
            return self._server.url

    @property
    def files(self) -> FileStore:
        """Originals and renditions."""
        with self._lock:
            if self._files is None:
                self._files = FileStore(self.config.storage_url, self.config.cache_dir)
            return self._files

    def preferred_space(self) -> EmbeddingSpace:
        """The embedding space of a new index: the first one given, else what the settings and keys allow."""
        with self._lock:
            if self._preferred is None:
                self._preferred, embedder = self.registry.embedding_model(self.config, None)
                self._embedders.setdefault(self._preferred, embedder)
            return self._preferred

    def named_space(self, model: str, auth: Auth = OWN_AUTH) -> EmbeddingSpace:
        """The embedding space of a model that is named as `RAG_EMBED_MODEL` names one.

        Raises:
            errors.ValidationError: there is no such model.
            errors.EmbeddingCapabilityError: the provider does not embed.
            errors.ConfigError: its key is missing.
        """
        with self._lock:
            for space in self._given:
                if model == space.name:
                    return space
            try:
                reached = self._config_for(model.partition(":")[0], auth, OWN_OPTIONS) if auth.api_key else self.config
                named = reached.model_copy(update={"rag_embed_model": model})
                space, embedder = self.registry.embedding_model(named, None)
            except errors.ConfigError as error:
                if isinstance(error.__cause__, errors.ValidationError):  # it is no setting that is wrong
                    raise error.__cause__ from None
                raise
            if not auth.api_key:
                self._embedders.setdefault(space, embedder)
            return space

    def embedder(
        self, space: EmbeddingSpace, auth: Auth = OWN_AUTH, options: ProviderOptions = OWN_OPTIONS
    ) -> embeddings.BaseEmbedding:
        """The model of `space`; one opened with a request's own key or limits is for that request only.

        Raises:
            errors.ConfigError: its provider has no key here.
            errors.EmbeddingCapabilityError: its provider is not known here, or cannot embed as asked.
        """
        with self._lock:
            if space not in self._embedders and space.provider not in self.registry.embedding_providers():
                raise errors.EmbeddingCapabilityError(
                    f"The index was embedded by {space.provider!r}, which is not known here. Register it again, or "
                    "re-embed the index with another model.",
                    details={"provider": space.provider},
                )
            if space not in self._given and (auth.api_key or options.model_fields_set):
                return self.registry.embedding_model(self._config_for(space.provider, auth, options), space)[1]
            if space not in self._embedders:
                _, self._embedders[space] = self.registry.embedding_model(self.config, space)
            return self._embedders[space]

    def forget_provider(self, name: str) -> None:
        """Open the provider's embedding models anew when they are needed next."""
        with self._lock:
            for space in [space for space in self._embedders if space.provider == name and space not in self._given]:
                del self._embedders[space]

    def language_model(self, options: GenerationOptions) -> LLM | None:
        """The model that writes answers; None means the extractive answerer.

        Raises:
            errors.ValidationError: the options have a key, but name no provider that it is for.
        """
        if self._llm:
            return self._llm
        if options.auth.api_key and not options.provider:
            raise errors.ValidationError(
                "generation.provider is missing: name the provider that generation.auth is for.",
                details={"field": "generation.provider"},
            )
        return self.registry.language_model(
            self._config_for(options.provider, options.auth, options.provider_options), options
        )

    def is_embedded(self, space: EmbeddingSpace) -> bool:
        """Whether the model of `space` runs in this process and costs nothing."""
        return space.provider == providers.LOCAL.name

    def takes_key(self, provider_name: str) -> bool:
        """Whether a provider is reached with a key."""
        return self.registry.provider(provider_name).key_setting is not None

    def _config_for(self, provider_name: str | None, auth: Auth, options: ProviderOptions) -> Config:
        """The settings with a request's own key for one provider, and its own limits."""
        limits = options.model_dump(include={"timeout_seconds", "max_retries"}, exclude_none=True)
        changes: dict[str, object] = {f"provider_{name}": value for name, value in limits.items()}
        if auth.api_key and provider_name and provider_name != providers.EXTRACTIVE:
            setting = self.registry.provider(provider_name).key_setting
            if setting is not None:  # the embedded model needs no key, and is given none
                changes[setting] = auth.api_key
        return self.config.model_copy(update=changes) if changes else self.config

    @property
    def reranker(self) -> providers.CrossEncoder:
        """The embedded cross-encoder."""
        with self._lock:
            if self._reranker is None:
                self._reranker = providers.CrossEncoder(self.config)
            return self._reranker

    def close(self) -> None:
        """Give back connections and this process's share of the embedded server."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None
            if self._server is not None:
                self._server.close()
                self._server = None

"""Choose and open the model of a request, of the settings, or of the best provider with a key."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import SecretStr

from rag import errors, types
from rag.config import Config
from rag.messages import N_
from rag.providers import clients, local_servers
from rag.providers.provider_catalogue import (
    FORMER,
    GEMINI,
    OLLAMA,
    OPENAI,
    OPENAI_COMPATIBLE,
    PROVIDERS,
    Embed,
    EmbeddingModel,
    Protocol,
    Provider,
    list_price,
    listed_context_window,
)

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms import LLM

    from rag.providers.vendor_models import ErrorBoundary


EXTRACTIVE = "extractive"
"""The name of the provider that quotes the sources instead of writing."""

LIST_SECONDS = 5.0
"""How long a vendor's list of models is waited for."""

PROBE_TEXT = "dimension"
"""Embedded once to learn the vector size of an unlisted model."""


@dataclass(frozen=True)
class EmbeddingCapabilities:
    """The embedding models of a provider."""

    provider: str
    embeds: bool
    default_model: str | None
    models: tuple[EmbeddingModel, ...]


class Registry:
    """The connections, and the embedding adapters that the caller registered."""

    def __init__(self) -> None:
        self._providers = {provider.name: provider for provider in PROVIDERS}
        self._adapters: dict[str, BaseEmbedding] = {}

    def provider(self, name: str) -> Provider:
        """Return the provider's row; raises `errors.ValidationError` if there is none."""
        if name in self._providers:
            return self._providers[name]
        if name in FORMER:
            raise errors.ValidationError(_former_advice(name))
        names = ", ".join(self._providers)
        raise errors.ValidationError(
            N_("There is no model provider {name}. Choose one of: {known}."), name=repr(name), known=names
        )

    def providers(self) -> tuple[Provider, ...]:
        """Return all rows."""
        return tuple(self._providers.values())

    def provider_of(self, space: types.EmbeddingSpace) -> Provider:
        """Return the provider that embeds as `space` was embedded; connections of earlier releases have successors.

        Raises:
            errors.EmbeddingCapabilityError: there is none.
        """
        name = space.provider
        if name in FORMER:
            name = OPENAI_COMPATIBLE.name if FORMER[name] else GEMINI.name
        if name not in self._providers:
            raise errors.EmbeddingCapabilityError(
                N_(
                    "The index was embedded by {name}, which is not known here. Register it again, or re-embed the "
                    "index with another model."
                ),
                name=repr(name),
                details={"provider": name},
            )
        return self._providers[name]

    def is_usable(self, provider: Provider, config: Config) -> bool:
        """Whether the settings have what the provider requires."""
        if provider is OPENAI_COMPATIBLE:
            return _base_url(provider, config) is not None
        return provider.required_setting is None or getattr(config, provider.required_setting) is not None

    def embedding_capabilities(self, name: str) -> EmbeddingCapabilities:
        """Return the provider's known embedding models; others of it can be named freely."""
        row = self.provider(name)
        return EmbeddingCapabilities(row.name, True, row.default_embedding_model, row.embedding_models)

    def languages(self, space: types.EmbeddingSpace) -> frozenset[str]:
        """Return the languages of the model of `space`; empty if it is multilingual or unknown."""
        try:
            model = self.provider_of(space).embedding_model(space.model)
        except errors.EmbeddingCapabilityError:
            return frozenset()
        return model.languages if model else frozenset()

    def register(self, name: str, adapter: "BaseEmbedding | Embed", model: EmbeddingModel, *, label: str = "") -> None:
        """Add an embedding provider: a LlamaIndex embedding, or a function from texts to vectors.

        Raises:
            errors.ValidationError: the name is taken by a built-in provider.
        """
        import llama_index.core
        from llama_index.core.base.embeddings.base import BaseEmbedding

        from rag.providers.batch_embedding import FunctionEmbedding

        if name in self._providers and name not in self._adapters:
            raise errors.ValidationError(N_("{name} is a built-in provider. Choose another name."), name=repr(name))
        if not isinstance(adapter, BaseEmbedding):
            adapter = FunctionEmbedding(adapter, embed_batch_size=model.max_batch)
        self._adapters[name] = adapter
        self._providers[name] = Provider(
            name=name,
            label=label or name,
            protocol=Protocol.CUSTOM,
            default_embedding_model=model.name,
            embedding_models=(model,),
            accepts_unlisted_embedding_models=False,
        )

    def unregister(self, name: str) -> None:
        """Remove a registered embedding provider; raises `errors.ValidationError` if there is none of that name."""
        if name not in self._adapters:
            raise errors.ValidationError(N_("There is no registered embedding provider {name}."), name=repr(name))
        del self._adapters[name], self._providers[name]

    def embedding_model(
        self, config: Config, space: types.EmbeddingSpace | None = None
    ) -> "tuple[types.EmbeddingSpace, BaseEmbedding]":
        """Open the model of `space`, else of `RAG_EMBED_MODEL`, else of the first provider with a key.

        Raises:
            errors.EmbeddingCapabilityError: the provider does not embed with that model or size.
            errors.ConfigError: its key or its package is missing.
            errors.ProviderError: the vendor refused to embed, which tells an unlisted model's size.
        """
        if space is None:
            provider, name = self._embedding_choice(config)
            model = _embedding_row(provider, name)
        else:
            provider = self.provider_of(space)
            model = _embedding_row(provider, space.model)
            if model.dimensions not in {None, space.dimensions} and not model.reducible:
                raise errors.EmbeddingCapabilityError(
                    N_(
                        "{label}'s {model} has {count} dimensions, not {dimensions}. Choose another embedding model, "
                        "or re-index."
                    ),
                    label=provider.label,
                    model=model.name,
                    count=model.dimensions,
                    dimensions=space.dimensions,
                )
            model = replace(model, dimensions=space.dimensions)
        embedder = self._open_embedding(provider, model, config)
        if space is None:
            dimensions = model.dimensions or len(embedder.get_text_embedding(PROBE_TEXT))
            space = types.EmbeddingSpace(provider=provider.name, model=model.name, dimensions=dimensions)
        return space, embedder

    def embedding_name(self, config: Config) -> str:
        """Return the model of new indexes as `provider:model`, without a request to the vendor.

        Raises:
            errors.EmbeddingCapabilityError: the provider does not embed with that model.
            errors.ConfigError: its key is missing.
        """
        provider, name = self._embedding_choice(config)
        model = _embedding_row(provider, name)
        if provider.protocol in {Protocol.OPENAI, Protocol.GEMINI}:
            self.connection(provider, config)
        return f"{provider.name}:{model.name}"

    def language_model(self, config: Config, options: types.GenerationOptions | None = None) -> "LLM | None":
        """Open the model of `options`, else of `RAG_GEN_MODEL`, else of the first provider with a key.

        Returns:
            None if the sources are to be quoted instead.

        Raises:
            errors.ConfigError: its key or its package is missing, or it has no default model.
            errors.ValidationError: there is no such provider, or it has no language models.
        """
        options = options or types.GenerationOptions()
        choice = self._chat_choice(config, options)
        if choice is None:
            return None
        provider, name = choice
        family = provider.chat_family(name)
        if family is None:
            raise errors.ValidationError(
                N_("{label} has no language models. Choose another provider."), label=provider.label
            )
        connection = self.connection(provider, config)
        from rag.providers.vendor_models import VendorLLM

        is_local = _runs_open_models(provider) and local_servers.is_loopback_url(connection.base_url)
        return VendorLLM(
            clients.open_llm(connection, name, family, options),
            _boundary(connection),
            window=partial(_context_window, connection, name, config),
            cost=partial(list_price, provider, connection.base_url, name),
            count_parameters=partial(local_servers.count_parameters, connection.base_url or "", name)
            if is_local
            else None,
        )

    def listed_models(self, name: str, config: Config) -> tuple[types.ServedModel, ...]:
        """Ask the vendor which models its key may use.

        Raises:
            errors.ConfigError: its key or its package is missing.
            errors.ProviderError: the vendor refuses, is down, or takes longer than `LIST_SECONDS`.
        """
        connection = self.connection(self.provider(name), config)
        hasty = replace(connection, timeout_seconds=min(LIST_SECONDS, connection.timeout_seconds), max_retries=0)
        with _boundary(connection).guard():
            return clients.list_models(hasty)

    def find_ollama(self, config: Config) -> types.FoundServer | None:
        """Return Ollama with its models, None if it does not respond now."""
        return local_servers.find_ollama(_base_url(OLLAMA, config) or "")

    def _embedding_choice(self, config: Config) -> tuple[Provider, str | None]:
        if config.rag_embed_model:
            with _setting_errors("RAG_EMBED_MODEL"):
                return self._parse(
                    config.rag_embed_model,
                    lambda provider, name: any(model.name == name for model in provider.embedding_models),
                    config,
                )
        for row in self.providers():
            if row.default_embedding_model and row.protocol is not Protocol.CUSTOM and self.is_usable(row, config):
                return row, None
        raise errors.ConfigError(N_("No embedding provider is usable. Set RAG_EMBED_MODEL."))

    def _chat_choice(self, config: Config, options: types.GenerationOptions) -> tuple[Provider, str] | None:
        """Return the provider and model of the request, else of the setting, else the best with a key."""
        setting: tuple[Provider, str | None] | None = None
        if config.rag_gen_model and EXTRACTIVE not in {config.rag_gen_model, options.provider}:
            with _setting_errors("RAG_GEN_MODEL"):
                setting = self._parse(config.rag_gen_model, _has_chat_model, config)
        if options.provider == EXTRACTIVE:
            return None
        if options.provider:
            provider, model = self.provider(options.provider), options.model
        elif options.model:
            provider, model = self._parse(options.model, _has_chat_model, config)
        elif config.rag_gen_model:
            if setting is None:
                return None
            provider, model = setting
        else:
            usable = [row for row in self.providers() if row.default_chat_model and self.is_usable(row, config)]
            if not usable:
                return None
            provider, model = usable[0], None
        if model is None and setting is not None and setting[0] is provider:
            model = setting[1]
        model = model or provider.default_chat_model
        if model is None and provider.chat_models:
            raise errors.ConfigError(
                N_("{label} needs a model: set {setting}."),
                label=provider.label,
                setting=f"RAG_GEN_MODEL={provider.name}:MODEL",
            )
        return provider, model or ""

    def _parse(
        self, text: str, has_model: Callable[[Provider, str], bool], config: Config
    ) -> tuple[Provider, str | None]:
        """Parse `provider:model`, a provider's name, or the name of a model that tells its vendor."""
        head, _, tail = text.partition(":")
        if head in self._providers:
            return self._providers[head], tail or None
        if head in FORMER:
            raise errors.ValidationError(_former_advice(head))
        matching = [row for row in self.providers() if has_model(row, text)]
        if not matching:
            names = ", ".join(self._providers)
            raise errors.ValidationError(
                N_("No provider is known for the model {name}. Write PROVIDER:MODEL ({known})."),
                name=repr(text),
                known=names,
            )
        return next((row for row in matching if self.is_usable(row, config)), matching[0]), text

    def _open_embedding(self, provider: Provider, model: EmbeddingModel, config: Config) -> "BaseEmbedding":
        from rag.providers import embedded_models
        from rag.providers.vendor_models import ErrorBoundary, VendorEmbedding

        if provider.protocol is Protocol.LOCAL:
            return embedded_models.LocalEmbedding(config.rag_local_model_dir)
        if provider.protocol is Protocol.FOLDER:
            from rag.providers import folder_embedding

            return folder_embedding.open_folder_embedding(config, model.name)
        if provider.protocol is Protocol.CUSTOM:
            return VendorEmbedding(self._adapters[provider.name], ErrorBoundary(provider), model)
        connection = self.connection(provider, config)
        return VendorEmbedding(clients.open_embedding(connection, model), _boundary(connection), model)

    def connection(self, provider: Provider, config: Config) -> clients.ProviderConnection:
        """Return the address, key and limits for requests; raises `errors.ConfigError` if one is missing."""
        if not self.is_usable(provider, config):
            raise errors.ConfigError(
                N_("{label} needs {setting}. Set it in the environment or in .env, or give it on the page Settings."),
                label=provider.label,
                setting=(provider.required_setting or "").upper(),
            )
        setting = _settings_of(provider, config).key_setting
        key: SecretStr | None = getattr(config, setting) if setting else None
        return clients.ProviderConnection(
            provider=provider,
            key=key.get_secret_value() if key else None,
            base_url=_base_url(provider, config),
            timeout_seconds=config.provider_timeout_seconds,
            max_retries=config.provider_max_retries,
        )


@contextmanager
def _setting_errors(name: str) -> Iterator[None]:
    """Map validation errors to `errors.ConfigError`: a wrong setting is not the request's fault."""
    try:
        yield
    except errors.ValidationError as error:
        raise errors.ConfigError(N_("{name}: {_reason}"), name=name, _reason=error.message) from error


def _former_advice(name: str) -> str:
    """Say what takes the place of a connection of earlier releases."""
    address = FORMER[name]
    if address is None:
        return N_("{name} is no connection any more. Set GEMINI_API_KEY, and write gemini:MODEL instead.").format(
            name=name
        )
    return N_(
        "{name} is no connection of its own any more. Set OPENAI_COMPATIBLE_BASE_URL={address}, and its key as "
        "OPENAI_COMPATIBLE_API_KEY if it needs one. Then write openai_compatible:MODEL instead of {name}:MODEL."
    ).format(name=name, address=address)


def _settings_of(provider: Provider, config: Config) -> Provider:
    """Return the row whose settings have the address and key.

    OPENAI_BASE_URL, with OpenAI's key, serves as the compatible address where that has none of its own. Address and
    key are taken from the same row, so that no key goes to another address than its own.
    """
    if provider is OPENAI_COMPATIBLE and config.openai_compatible_base_url is None:
        return OPENAI
    return provider


def _base_url(provider: Provider, config: Config) -> str | None:
    setting = _settings_of(provider, config).base_url_setting
    url: str | None = getattr(config, setting) if setting else None
    return url or provider.base_url


def _runs_open_models(provider: Provider) -> bool:
    return provider in (OLLAMA, OPENAI_COMPATIBLE)


def _context_window(connection: clients.ProviderConnection, model: str, config: Config) -> int:
    """Return the tokens of prompt and answer together: of the settings, the price list, or the server."""
    provider, url = connection.provider, connection.base_url
    window = config.rag_context_window
    if window is None and provider is not OLLAMA:
        window = listed_context_window(provider, url, model)
    if window is None and _runs_open_models(provider):
        window = local_servers.context_window(provider, url or "", model)
    return window or provider.context_window


def _boundary(connection: clients.ProviderConnection) -> "ErrorBoundary":
    from rag.providers.vendor_models import ErrorBoundary

    return ErrorBoundary(connection.provider, (connection.key,) if connection.key else ())


def _has_chat_model(provider: Provider, model: str) -> bool:
    family = provider.chat_family(model)
    return family is not None and "*" not in family.patterns


def _embedding_row(provider: Provider, name: str | None) -> EmbeddingModel:
    name = name or provider.default_embedding_model
    if name is None:
        raise errors.ConfigError(
            N_("{label} needs a model: set {setting}."),
            label=provider.label,
            setting=f"RAG_EMBED_MODEL={provider.name}:MODEL",
        )
    model = provider.embedding_model(name)
    if model is None:
        names = ", ".join(row.name for row in provider.embedding_models)
        raise errors.EmbeddingCapabilityError(
            N_("{label} has no embedding model {name}, only: {known}."),
            label=provider.label,
            name=repr(name),
            known=names,
        )
    return model

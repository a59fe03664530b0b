"""Choose and open the model of a request, of the settings, or of the best provider with a key."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import SecretStr

from rag import errors, types
from rag.config import Config
from rag.messages import N_
from rag.providers import clients, local_servers
from rag.providers.provider_catalogue import OPENAI_COMPATIBLE, PROVIDERS, Embed, EmbeddingModel, Protocol, Provider

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
    """The providers of the catalogue and the embedding adapters that the caller registered."""

    def __init__(self, providers: Iterable[Provider] = PROVIDERS) -> None:
        """Take `providers` in order of preference: without a setting, the first with a key is used."""
        self._providers = {provider.name: provider for provider in providers}
        self._built_in = frozenset(self._providers)
        self._adapters: dict[str, BaseEmbedding] = {}

    def provider(self, name: str) -> Provider:
        """Return the provider's row; raises `errors.ValidationError` if there is none."""
        if name not in self._providers:
            known = ", ".join(self._providers)
            raise errors.ValidationError(
                N_("There is no model provider {name}. Choose one of: {known}."), name=repr(name), known=known
            )
        return self._providers[name]

    def providers(self) -> tuple[Provider, ...]:
        """Return all rows."""
        return tuple(self._providers.values())

    def is_usable(self, provider: Provider, config: Config) -> bool:
        """Whether the settings have what the provider requires."""
        return any(all(getattr(config, name) is not None for name in group) for group in provider.required_settings)

    def embedding_capabilities(self, name: str) -> EmbeddingCapabilities:
        """Return the provider's embedding models, none of a chat-only provider."""
        row = self.provider(name)
        return EmbeddingCapabilities(row.name, row.embeds, row.default_embedding_model, row.embedding_models)

    def languages(self, space: types.EmbeddingSpace) -> frozenset[str]:
        """Return the languages of the model of `space`; empty if it is multilingual or unknown."""
        row = self._providers.get(space.provider)
        model = row and row.embedding_model(space.model)
        return model.languages if model else frozenset()

    def register(self, name: str, adapter: "BaseEmbedding | Embed", model: EmbeddingModel, *, label: str = "") -> None:
        """Add an embedding provider: a LlamaIndex embedding, or a function from texts to vectors.

        Raises:
            errors.ValidationError: the name is taken by a built-in provider.
        """
        from rag.providers.batch_embedding import as_embedding

        if name in self._built_in:
            raise errors.ValidationError(N_("{name} is a built-in provider. Choose another name."), name=repr(name))
        self._adapters[name] = as_embedding(adapter)
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
            errors.EmbeddingCapabilityError: the provider does not embed, or not with that model or size.
            errors.ConfigError: its key or its package is missing.
            errors.ProviderError: the vendor refused to embed, which tells an unlisted model's size.
        """
        if space is None:
            provider, name = self._embedding_choice(config)
        else:
            provider, name = self.provider(space.provider), space.model
        model = _embedding_row(provider, name)
        if space is not None:
            model = _resized(provider, model, space.dimensions)
        embedder = self._open_embedding(provider, model, config)
        dimensions = model.dimensions or len(embedder.get_text_embedding(PROBE_TEXT))
        return types.EmbeddingSpace(provider=provider.name, model=model.name, dimensions=dimensions), embedder

    def embedding_name(self, config: Config) -> str:
        """Return the model of new indexes as `provider:model`, without a request to the vendor.

        Raises:
            errors.EmbeddingCapabilityError: the provider does not embed, or not with that model.
            errors.ConfigError: its key is missing.
        """
        provider, name = self._embedding_choice(config)
        model = _embedding_row(provider, name)
        if provider.protocol not in {Protocol.LOCAL, Protocol.FOLDER, Protocol.CUSTOM}:
            self._connection(provider, config)
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
        name = dict(provider.renamed_models).get(name, name)
        family = provider.chat_family(name)
        if family is None:
            raise errors.ValidationError(
                N_("{label} has no language models. Choose another provider."), label=provider.label
            )
        connection = self._connection(provider, config)
        from rag.providers.vendor_models import VendorLLM

        inner = clients.open_llm(connection, name, family, options)
        is_local = _is_model_server(connection) and local_servers.is_loopback_url(connection.base_url)
        return VendorLLM(
            inner,
            _boundary(connection),
            _context_window_reader(connection, name, config),
            partial(local_servers.count_parameters, connection.base_url or "", name) if is_local else None,
        )

    def listed_models(self, name: str, config: Config) -> tuple[types.ServedModel, ...]:
        """Ask the vendor which models its key may use.

        Raises:
            errors.ConfigError: its key or its package is missing.
            errors.ProviderError: the vendor refuses, is down, or takes longer than `LIST_SECONDS`.
        """
        connection = self._connection(self.provider(name), config)
        hasty = replace(connection, timeout_seconds=min(LIST_SECONDS, connection.timeout_seconds), max_retries=0)
        with _boundary(connection).guard():
            return clients.list_models(hasty)

    def server_addresses(self, config: Config) -> dict[str, str]:
        """Return the address of each model server by provider name."""
        rows = [row for row in self.providers() if row.is_model_server]
        return {row.name: url for row in rows if (url := _base_url(row, config))}

    def _embedding_choice(self, config: Config) -> tuple[Provider, str | None]:
        if config.rag_embed_model:
            with _setting_errors("RAG_EMBED_MODEL"):
                return self._parse(config.rag_embed_model, config, _has_embedding_model)
        for row in self.providers():
            if row.default_embedding_model and row.protocol is not Protocol.CUSTOM and self.is_usable(row, config):
                return row, None
        raise errors.ConfigError(N_("No embedding provider is usable. Set RAG_EMBED_MODEL."))

    def _chat_choice(self, config: Config, options: types.GenerationOptions) -> tuple[Provider, str] | None:
        setting = self._chat_setting(config)
        choice: tuple[Provider, str | None] | None
        if options.provider == EXTRACTIVE:
            choice = None
        elif options.provider:
            choice = self.provider(options.provider), options.model
        elif options.model:
            choice = self._parse(options.model, config, _has_chat_model)
        elif config.rag_gen_model:
            choice = setting
        else:
            usable = (row for row in self.providers() if row.default_chat_model and self.is_usable(row, config))
            choice = next(((row, None) for row in usable), None)
        return choice and _with_model(*choice, setting)

    def _chat_setting(self, config: Config) -> tuple[Provider, str | None] | None:
        if not config.rag_gen_model or config.rag_gen_model == EXTRACTIVE:
            return None
        with _setting_errors("RAG_GEN_MODEL"):
            return self._parse(config.rag_gen_model, config, _has_chat_model)

    def _parse(
        self, text: str, config: Config, has_model: Callable[[Provider, str], bool]
    ) -> tuple[Provider, str | None]:
        """Parse `provider:model`, a provider's name, or the name of a model that some provider lists."""
        head, _, tail = text.partition(":")
        if head in self._providers:
            return self._providers[head], tail or None
        matching = [row for row in self.providers() if has_model(row, text)]
        if not matching:
            known = ", ".join(self._providers)
            raise errors.ValidationError(
                N_("No provider is known for the model {name}. Write PROVIDER:MODEL ({known})."),
                name=repr(text),
                known=known,
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
        connection = self._connection(provider, config)
        return VendorEmbedding(clients.open_embedding(connection, model), _boundary(connection), model)

    def _connection(self, provider: Provider, config: Config) -> clients.ProviderConnection:
        if not self.is_usable(provider, config):
            raise errors.ConfigError(
                N_(
                    "{label} needs {names}. Set it in the environment or in .env, or give its key on the page Settings."
                ),
                label=provider.label,
                names=provider.required_variables,
            )
        return clients.ProviderConnection(
            provider=provider,
            key=_key(provider, config),
            base_url=_base_url(provider, config),
            settings={name: getattr(config, name) for name in provider.client_settings},
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


def _with_model(
    provider: Provider, model: str | None, setting: tuple[Provider, str | None] | None
) -> tuple[Provider, str]:
    """Fill in the model: the requested one, else the setting's for this provider, else the provider's default."""
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


def _key(provider: Provider, config: Config) -> str | None:
    secret: SecretStr | None = getattr(config, provider.key_setting) if provider.key_setting else None
    return secret.get_secret_value() if secret else None


def _base_url(provider: Provider, config: Config) -> str | None:
    setting: str | None = getattr(config, provider.base_url_setting) if provider.base_url_setting else None
    return setting or provider.base_url


def _context_window_reader(
    connection: clients.ProviderConnection, model: str, config: Config
) -> Callable[[], int] | None:
    """Return a function that reads the context window where the model's row does not have it."""
    if config.rag_context_window:
        return partial(int, config.rag_context_window)
    if _is_model_server(connection):
        return partial(local_servers.context_window, connection.provider, connection.base_url or "", model)
    return None


def _is_model_server(connection: clients.ProviderConnection) -> bool:
    """Return whether open models run there; an unnamed server on this machine is taken as one."""
    provider = connection.provider
    is_unnamed = provider.name == OPENAI_COMPATIBLE.name and local_servers.is_loopback_url(connection.base_url)
    return provider.is_model_server or is_unnamed


def _boundary(connection: clients.ProviderConnection) -> "ErrorBoundary":
    from rag.providers.vendor_models import ErrorBoundary

    return ErrorBoundary(connection.provider, (connection.key,) if connection.key else ())


def _has_embedding_model(provider: Provider, model: str) -> bool:
    return any(row.name == model for row in provider.embedding_models)


def _has_chat_model(provider: Provider, model: str) -> bool:
    family = provider.chat_family(model)
    return family is not None and "*" not in family.patterns


def _embedding_row(provider: Provider, name: str | None) -> EmbeddingModel:
    if not provider.embeds:
        raise errors.EmbeddingCapabilityError(
            N_("{label} has no embedding models. Choose another embedding provider, such as local."),
            label=provider.label,
        )
    name = name or provider.default_embedding_model
    if name is None:
        raise errors.ConfigError(
            N_("{label} needs a model: set {setting}."),
            label=provider.label,
            setting=f"RAG_EMBED_MODEL={provider.name}:MODEL",
        )
    model = provider.embedding_model(name)
    if model is None:
        known = ", ".join(row.name for row in provider.embedding_models)
        raise errors.EmbeddingCapabilityError(
            N_("{label} has no embedding model {name}, only: {known}."),
            label=provider.label,
            name=repr(name),
            known=known,
        )
    return model


def _resized(provider: Provider, model: EmbeddingModel, dimensions: int) -> EmbeddingModel:
    if model.dimensions not in {None, dimensions} and not model.reducible:
        raise errors.EmbeddingCapabilityError(
            N_(
                "{label}'s {model} has {count} dimensions, not {dimensions}. Choose another embedding model, or "
                "re-index."
            ),
            label=provider.label,
            model=model.name,
            count=model.dimensions,
            dimensions=dimensions,
        )
    return replace(model, dimensions=dimensions)

"""Which model is used: by the settings, by the request, or by the keys that are given."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pydantic import SecretStr

from rag import errors
from rag.config import Config
from rag.providers import clients, local_servers
from rag.providers.provider_catalogue import OPENAI_COMPATIBLE, PROVIDERS, Embed, EmbeddingModel, Protocol, Provider
from rag.types import EmbeddingSpace, GenerationOptions

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms import LLM

    from rag.providers.vendor_models import Boundary

EXTRACTIVE = "extractive"
"""The provider that writes nothing: answers are quoted from the sources."""

PROBE = "dimension"
"""What is embedded once to learn the size of an unlisted model's vectors."""


@dataclass(frozen=True)
class EmbeddingCapabilities:
    """What a provider can embed with."""

    provider: str
    embeds: bool
    default_model: str | None
    models: tuple[EmbeddingModel, ...]


class Registry:
    """The known providers: those of the catalogue, and embedding adapters registered by the caller."""

    def __init__(self, providers: Iterable[Provider] = PROVIDERS) -> None:
        """`providers` come in the order in which their keys are taken up; without any key the local ones remain."""
        self._providers = {provider.name: provider for provider in providers}
        self._built_in = frozenset(self._providers)
        self._adapters: dict[str, BaseEmbedding] = {}

    # --- what there is ---

    def provider(self, name: str) -> Provider:
        """The row of that name.

        Raises:
            errors.ValidationError: there is none.
        """
        if name not in self._providers:
            known = ", ".join(self._providers)
            raise errors.ValidationError(f"There is no model provider {name!r}. Choose one of: {known}.")
        return self._providers[name]

    def providers(self) -> tuple[Provider, ...]:
        """All rows."""
        return tuple(self._providers.values())

    def is_usable(self, provider: Provider, config: Config) -> bool:
        """Whether the settings give what the provider needs."""
        return any(all(getattr(config, name) is not None for name in group) for group in provider.needs)

    def embedding_providers(self) -> tuple[str, ...]:
        """Names of the providers that embed."""
        return tuple(provider.name for provider in self.providers() if provider.embeds)

    def embedding_capabilities(self, name: str) -> EmbeddingCapabilities:
        """What the provider can embed with; a chat-only provider has no models."""
        row = self.provider(name)
        return EmbeddingCapabilities(row.name, row.embeds, row.default_embedding_model, row.embedding_models)

    def languages(self, space: EmbeddingSpace) -> frozenset[str]:
        """Those that the model of `space` speaks, as `EmbeddingModel` names them; none of a model not known here."""
        row = self._providers.get(space.provider)
        model = row and row.embedding_model(space.model)
        return model.languages if model else frozenset()

    def register(self, name: str, adapter: "BaseEmbedding | Embed", model: EmbeddingModel, *, label: str = "") -> None:
        """Add an embedding provider: a LlamaIndex embedding, or a function from texts to vectors.

        Raises:
            errors.ValidationError: the name is taken by a built-in provider.
        """
        from rag.providers.custom_functions import as_embedding

        if name in self._built_in:
            raise errors.ValidationError(f"{name!r} is a built-in provider. Choose another name.")
        self._adapters[name] = as_embedding(adapter)
        self._providers[name] = Provider(
            name=name,
            label=label or name,
            protocol=Protocol.CUSTOM,
            default_embedding_model=model.name,
            embedding_models=(model,),
            open_embedding_models=False,
        )

    def unregister(self, name: str) -> None:
        """Remove a registered embedding provider.

        Raises:
            errors.ValidationError: there is none of that name, or it is built in.
        """
        if name not in self._adapters:
            raise errors.ValidationError(f"There is no registered embedding provider {name!r}.")
        del self._adapters[name], self._providers[name]

    # --- what is used ---

    def embedding_model(
        self, config: Config, space: EmbeddingSpace | None = None
    ) -> "tuple[EmbeddingSpace, BaseEmbedding]":
        """The model of `space`, or without one the model of `RAG_EMBED_MODEL`, or the best that the keys allow.

        Raises:
            errors.EmbeddingCapabilityError: the provider does not embed, or not with that model or size.
            errors.ConfigError: its key or its package is missing.
            errors.ProviderError: an unlisted model's size had to be asked for, and the vendor refused.
        """
        if space is None:
            provider, name = self._embedding_choice(config)
        else:
            provider, name = self.provider(space.provider), space.model
        model = _embedding_row(provider, name)
        if space is not None:
            model = _resized(provider, model, space.dimensions)
        embedder = self._open_embedding(provider, model, config)
        dimensions = model.dimensions or len(embedder.get_text_embedding(PROBE))
        return EmbeddingSpace(provider=provider.name, model=model.name, dimensions=dimensions), embedder

    def embedding_name(self, config: Config) -> str:
        """The model of new indexes as `provider:model`, without asking for the size of its vectors.

        Raises:
            errors.EmbeddingCapabilityError: the provider does not embed, or not with that model.
            errors.ConfigError: its key is missing.
        """
        provider, name = self._embedding_choice(config)
        model = _embedding_row(provider, name)
        if provider.protocol not in {Protocol.LOCAL, Protocol.CUSTOM}:
            self._access(provider, config)
        return f"{provider.name}:{model.name}"

    def language_model(self, config: Config, options: GenerationOptions | None = None) -> "LLM | None":
        """The model that `options` ask for, else that of `RAG_GEN_MODEL`, else the best that the keys allow.

        None means: no model, quote the sources.

        Raises:
            errors.ConfigError: its key or its package is missing, or it has no default model.
            errors.ValidationError: there is no such provider, or it has no language models.
        """
        options = options or GenerationOptions()
        choice = self._chat_choice(config, options)
        if choice is None:
            return None
        provider, name = choice
        name = dict(provider.renamed).get(name, name)
        family = provider.chat_family(name)
        if family is None:
            raise errors.ValidationError(f"{provider.label} has no language models. Choose another provider.")
        access = self._access(provider, config)
        from rag.providers.vendor_models import VendorLLM

        inner = clients.open_llm(access, name, family, options)
        return VendorLLM(inner, _boundary(access), _window(access, name, config))

    def server_addresses(self, config: Config) -> dict[str, str]:
        """Where each server of somebody's own models is, by provider."""
        rows = [row for row in self.providers() if row.serves]
        return {row.name: url for row in rows if (url := _base_url(row, config))}

    def _embedding_choice(self, config: Config) -> tuple[Provider, str | None]:
        if config.rag_embed_model:
            with _setting("RAG_EMBED_MODEL"):
                return self._parse(config.rag_embed_model, config, _lists)
        for row in self.providers():
            if row.default_embedding_model and row.protocol is not Protocol.CUSTOM and self.is_usable(row, config):
                return row, None
        raise errors.ConfigError("No embedding provider is usable. Set RAG_EMBED_MODEL.")

    def _chat_choice(self, config: Config, options: GenerationOptions) -> tuple[Provider, str] | None:
        setting = self._chat_setting(config)
        wanted: tuple[Provider, str | None] | None
        if options.provider == EXTRACTIVE:
            wanted = None
        elif options.provider:
            wanted = self.provider(options.provider), options.model
        elif options.model:
            wanted = self._parse(options.model, config, _chats)
        elif config.rag_gen_model:
            wanted = setting
        else:
            wanted = self._first_chat_provider(config)
        return wanted and _with_model(*wanted, setting)

    def _chat_setting(self, config: Config) -> tuple[Provider, str | None] | None:
        if not config.rag_gen_model or config.rag_gen_model == EXTRACTIVE:
            return None
        with _setting("RAG_GEN_MODEL"):
            return self._parse(config.rag_gen_model, config, _chats)

    def _first_chat_provider(self, config: Config) -> tuple[Provider, None] | None:
        for row in self.providers():
            if row.default_chat_model and self.is_usable(row, config):
                return row, None
        return None

    def _parse(self, text: str, config: Config, knows: Callable[[Provider, str], bool]) -> tuple[Provider, str | None]:
        """`provider:model`, a provider's name, or a model's name (then of the first provider that knows it)."""
        head, _, tail = text.partition(":")
        if head in self._providers:
            return self._providers[head], tail or None
        matching = [row for row in self.providers() if knows(row, text)]
        if not matching:
            known = ", ".join(self._providers)
            raise errors.ValidationError(
                f"No provider is known for the model {text!r}. Write PROVIDER:MODEL ({known})."
            )
        return next((row for row in matching if self.is_usable(row, config)), matching[0]), text

    def _open_embedding(self, provider: Provider, model: EmbeddingModel, config: Config) -> "BaseEmbedding":
        from rag.providers import embedded_models
        from rag.providers.vendor_models import Boundary, VendorEmbedding

        if provider.protocol is Protocol.LOCAL:
            return embedded_models.LocalEmbedding(config.rag_local_model_dir)
        if provider.protocol is Protocol.CUSTOM:
            return VendorEmbedding(self._adapters[provider.name], Boundary(provider), model)
        access = self._access(provider, config)
        return VendorEmbedding(clients.open_embedding(access, model), _boundary(access), model)

    def _access(self, provider: Provider, config: Config) -> clients.Access:
        if not self.is_usable(provider, config):
            raise errors.ConfigError(
                f"{provider.label} needs {provider.needed_names}. "
                "Set it in the environment or in .env, or give its key on the page Settings."
            )
        return clients.Access(
            provider=provider,
            key=_key(provider, config),
            base_url=_base_url(provider, config),
            settings={name: getattr(config, name) for name in provider.client_settings},
            timeout_seconds=config.provider_timeout_seconds,
            max_retries=config.provider_max_retries,
        )


@contextmanager
def _setting(name: str) -> Iterator[None]:
    """What is wrong with a setting is the installation's fault, not the request's."""
    try:
        yield
    except errors.ValidationError as error:
        raise errors.ConfigError(f"{name}: {error.message}") from error


def _with_model(
    provider: Provider, model: str | None, setting: tuple[Provider, str | None] | None
) -> tuple[Provider, str]:
    """The model asked for, else the setting's if it is of the same provider, else the provider's default."""
    if model is None and setting is not None and setting[0] is provider:
        model = setting[1]
    model = model or provider.default_chat_model
    if model is None and provider.chat_models:
        raise errors.ConfigError(f"{provider.label} needs a model: set RAG_GEN_MODEL={provider.name}:MODEL.")
    return provider, model or ""


def _key(provider: Provider, config: Config) -> str | None:
    secret: SecretStr | None = getattr(config, provider.key_setting) if provider.key_setting else None
    return secret.get_secret_value() if secret else None


def _base_url(provider: Provider, config: Config) -> str | None:
    setting: str | None = getattr(config, provider.base_url_setting) if provider.base_url_setting else None
    return setting or provider.base_url


def _window(access: clients.Access, model: str, config: Config) -> Callable[[], int] | None:
    """What tells how much the model takes at once, where its row cannot know."""
    if config.rag_context_window:
        return partial(int, config.rag_context_window)
    provider, url = access.provider, access.base_url or ""
    if provider.serves or (provider.name == OPENAI_COMPATIBLE.name and local_servers.is_here(url)):
        return partial(local_servers.context_window, provider, url, model)
    return None


def _boundary(access: clients.Access) -> "Boundary":
    from rag.providers.vendor_models import Boundary

    return Boundary(access.provider, (access.key,) if access.key else ())


def _lists(provider: Provider, model: str) -> bool:
    return any(row.name == model for row in provider.embedding_models)


def _chats(provider: Provider, model: str) -> bool:
    family = provider.chat_family(model)
    return family is not None and "*" not in family.patterns


def _embedding_row(provider: Provider, name: str | None) -> EmbeddingModel:
    if not provider.embeds:
        raise errors.EmbeddingCapabilityError(
            f"{provider.label} has no embedding models. Choose another embedding provider, such as local."
        )
    name = name or provider.default_embedding_model
    if name is None:
        raise errors.ConfigError(f"{provider.label} needs a model: set RAG_EMBED_MODEL={provider.name}:MODEL.")
    model = provider.embedding_model(name)
    if model is None:
        known = ", ".join(row.name for row in provider.embedding_models)
        raise errors.EmbeddingCapabilityError(f"{provider.label} has no embedding model {name!r}, only: {known}.")
    return model


def _resized(provider: Provider, model: EmbeddingModel, dimensions: int) -> EmbeddingModel:
    if model.dimensions not in {None, dimensions} and not model.reducible:
        raise errors.EmbeddingCapabilityError(
            f"{provider.label}'s {model.name} has {model.dimensions} dimensions, not {dimensions}. "
            "Choose another embedding model, or re-index."
        )
    return replace(model, dimensions=dimensions)

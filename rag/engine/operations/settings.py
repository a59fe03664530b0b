"""Settings for all users: the models that write and embed, and the vendors' keys.

The environment takes precedence over saved settings. `Accounts.require_admin` decides who may change them.
"""

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from pydantic import SecretStr

from rag import errors, providers, types
from rag.config import Config
from rag.engine.models import Models, is_unset
from rag.engine.request_parsing import parse
from rag.messages import N_
from rag.store.preferences import Preferences

WRITER, EMBEDDER, CONTEXT_TOKENS = "rag_gen_model", "rag_embed_model", "rag_max_context_tokens"
ADDRESS, ADDRESS_KEY = "openai_compatible_base_url", "openai_compatible_api_key"

TEST_PROMPT = "Reply with the single word: ready"
MAX_SHOWN_CHARS = 60
"""Maximum length of a test response."""
NO_RETRIES = types.GenerationOptions(provider_options=types.ProviderOptions(max_retries=0))
"""Tests report errors at once."""

_ADDRESS_PATTERN = re.compile(r"https?://[^\s/@]+(/\S*)?")
_KEY_PATTERN = re.compile(r"[!-~]{8,1000}")
"""Keys are sent in HTTP headers."""


class Settings:
    """The models of an installation, their vendors' keys, and notices; `downloads` are models on request.

    Saved settings apply where the environment leaves them unset.
    """

    def __init__(self, environment: Config, preferences: Preferences, models: Models) -> None:
        self._environment = environment
        self._preferences = preferences
        self._models = models
        self.downloads = providers.ModelDownloads(environment)

    def _origin(self, setting: str) -> tuple[types.Origin, str | None]:
        if not is_unset(self._environment, setting):
            return types.Origin.ENVIRONMENT, getattr(self._environment, setting)
        saved = self._preferences.get().choices.get(setting)
        return (types.Origin.KEPT if saved else types.Origin.DEFAULT), saved

    def _require_unset(self, setting: str) -> None:
        if not is_unset(self._environment, setting):
            raise errors.ConfigError(
                N_("{setting} is set in the environment or in .env, which wins. Unset it there."),
                setting=setting.upper(),
            )

    # --- models ---

    def writer(self) -> types.ModelChoice:
        """Return the model that writes answers; `extractive` quotes."""
        origin, written = self._origin(WRITER)
        try:
            llm = self._models.language_model()
        except (errors.ConfigError, errors.ValidationError) as error:
            return self._choice(written or "", origin, error.message)
        return self._choice(providers.model_id(llm) if llm else providers.EXTRACTIVE, origin)

    def embedder(self) -> types.ModelChoice:
        """Return the embedding model of new indexes; existing ones keep theirs."""
        origin, written = self._origin(EMBEDDER)
        try:
            return self._choice(self._models.default_model(), origin)
        except errors.Error as error:
            return self._choice(written or "", origin, error.message)

    def choose_writer(self, model: str | None) -> types.ModelChoice:
        """Set the model that writes answers (`provider:model` or `extractive`); None chooses the best by the keys.

        Raises:
            errors.ValidationError: there is no such model.
            errors.ConfigError: it cannot be used, or the environment sets another.
        """
        self._require_unset(WRITER)
        if model not in {None, providers.EXTRACTIVE}:
            self._models.language_model(types.GenerationOptions(model=model))
        self._preferences.choose(WRITER, model)
        return self.writer()

    def choose_embedder(self, model: str | None) -> types.ModelChoice:
        """Set the embedding model of new indexes (`provider:model`); None chooses by the environment's keys.

        Raises as `choose_writer`, and:

        Raises:
            errors.EmbeddingCapabilityError: the provider does not embed.
            errors.ProviderError: the vendor refused to tell the dimensions of an unlisted model.
        """
        self._require_unset(EMBEDDER)
        if model is not None:
            self._models.find_space(model)
        self._preferences.choose(EMBEDDER, model)
        return self.embedder()

    def try_writer(self) -> types.ModelTest:
        """Test the model that writes answers.

        Raises:
            errors.ConfigError: no model writes, or it cannot be used.
            errors.ProviderError: its vendor or server refuses, is down, or returns nothing.
        """
        llm = self._models.language_model(NO_RETRIES)
        if llm is None:
            raise errors.ConfigError(N_("No model writes: answers are quotes, which needs none. Choose one to try it."))
        import llama_index.core
        from llama_index.core.llms import ChatMessage

        started = time.perf_counter()
        words = " ".join(providers.complete(llm, [ChatMessage(content=TEST_PROMPT)]).text.split())
        if not words:
            raise errors.ProviderError(
                N_("{model} answers, but says nothing. Choose another model."), model=providers.model_id(llm)
            )
        return types.ModelTest(
            model=providers.model_id(llm),
            result=words[:MAX_SHOWN_CHARS],
            seconds=time.perf_counter() - started,
            context_window=providers.context_window(llm),  # the server has loaded the model now
        )

    def try_embedder(self) -> types.ModelTest:
        """Test the embedding model of new indexes. Raises as `try_writer`, and EmbeddingCapabilityError."""
        started = time.perf_counter()
        space = self._models.default_space()
        vector = self._models.embedder(space, options=types.ProviderOptions(max_retries=0)).get_query_embedding(
            TEST_PROMPT
        )
        return types.ModelTest(
            model=space.name, result=f"{len(vector)} dimensions", seconds=time.perf_counter() - started
        )

    def address(self) -> tuple[types.Origin, str | None]:
        """Return who set the address of the OpenAI-compatible server, and the address."""
        return self._origin(ADDRESS)

    def choose_address(self, url: str | None) -> None:
        """Set the address of the OpenAI-compatible server, None for none.

        A saved key is removed: it belongs to the former address.

        Raises:
            errors.ValidationError: it is no address.
            errors.ConfigError: the environment sets the address, or its key, which must not go elsewhere.
            errors.StoreError: it cannot be saved.
        """
        self._require_unset(ADDRESS)
        self._require_unset(ADDRESS_KEY)
        if url is not None and not _ADDRESS_PATTERN.fullmatch(url):
            raise errors.ValidationError(N_("This is no address of a server. Write it like https://models.example/v1."))
        self._preferences.remove_key(ADDRESS_KEY)
        self._preferences.choose(ADDRESS, url)

    def default_writers(self) -> tuple[str, ...]:
        """Return the default chat models of all usable vendors."""
        return tuple(f"{row.name}:{row.default_chat_model}" for row in self._usable() if row.default_chat_model)

    def vendor_models(self) -> tuple[types.VendorModels, ...]:
        """Ask each vendor with a key which models the key may use."""
        # OPENAI_BASE_URL alone is listed with OpenAI's key only
        has_address = self._models.config.openai_compatible_base_url is not None
        vendors = [row for row in self._usable() if row.key_setting and (row.default_chat_model or has_address)]
        with ThreadPoolExecutor(max_workers=max(len(vendors), 1)) as threads:
            return tuple(threads.map(self._vendor_models, vendors))

    def ollama(self) -> types.FoundServer | None:
        """Return Ollama on this machine or at its configured address, None if it does not respond now."""
        return self._models.registry.find_ollama(self._models.config)

    # --- notices ---

    def is_dismissed(self, note: str) -> bool:
        """Whether a notice was dismissed."""
        return note in self._preferences.get().dismissed

    def dismiss(self, note: str) -> None:
        """Dismiss a notice for good."""
        self._preferences.dismiss(note)

    # --- size of the context ---

    def context_size(self) -> types.ContextSize:
        """Return the most tokens that the model gets for a question, who chose them, and what so many cost.

        Raises:
            errors.ConfigError: the model that writes cannot be used.
            errors.ValidationError: there is no such model.
        """
        origin, _ = self._origin(CONTEXT_TOKENS)
        llm = self._models.language_model()
        tokens = self._models.with_context_budget(types.AnswerOptions(), llm).max_context_tokens
        cost = providers.reading_cost(llm, tokens) if llm and tokens else None
        return types.ContextSize(tokens=tokens or 0, origin=origin, cost_usd=cost)

    def choose_context_size(self, tokens: int | None) -> types.ContextSize:
        """Set the most tokens; None lets the model's context window decide.

        Raises as `context_size`, and:

        Raises:
            errors.ValidationError: it is no number from 200 to 1,000,000.
            errors.ConfigError: the environment sets another.
        """
        self._require_unset(CONTEXT_TOKENS)
        checked = parse(types.AnswerOptions, {"max_context_tokens": tokens}).max_context_tokens
        self._preferences.choose(CONTEXT_TOKENS, None if checked is None else str(checked))
        return self.context_size()

    # --- keys ---

    def vendor_keys(self) -> tuple[types.VendorKey, ...]:
        """Return the vendors that take a key, and where it is stored; keys can be set but not read."""
        vendors: dict[str, providers.Provider] = {}
        for row in self._models.registry.providers():
            if row.key_setting:
                vendors.setdefault(row.key_setting, row)
        return tuple(self._key(setting, row) for setting, row in vendors.items())

    def keep_key(self, provider: str, key: SecretStr) -> types.VendorKey:
        """Save a vendor's key for all users, in the key ring, else in a file that only its owner can read.

        Raises:
            errors.ValidationError: it is no key, or the provider takes none.
            errors.ConfigError: the environment sets one, which takes precedence.
            errors.StoreError: it cannot be saved.
        """
        row, setting = self._key_setting(provider)
        self._require_unset(setting)
        secret = key.get_secret_value().strip()
        if not _KEY_PATTERN.fullmatch(secret):
            raise errors.ValidationError(
                N_("This is no key: it has blanks or odd characters, or is too short or long.")
            )
        self._preferences.put_key(setting, SecretStr(secret))
        return self._key(setting, row)

    def remove_key(self, provider: str) -> types.VendorKey:
        """Delete a saved key.

        Raises:
            errors.ValidationError: the provider takes none.
            errors.StoreError: the key ring does not delete it.
        """
        row, setting = self._key_setting(provider)
        self._preferences.remove_key(setting)
        return self._key(setting, row)

    def _key_setting(self, provider: str) -> tuple[providers.Provider, str]:
        row = self._models.registry.provider(provider)
        if row.key_setting is None:
            raise errors.ValidationError(N_("{label} takes no key."), label=row.label)
        return row, row.key_setting

    def _key(self, setting: str, row: providers.Provider) -> types.VendorKey:
        saved = self._preferences.get()
        place = saved.keys.get(setting)
        is_readable = place is None or setting in saved.secrets
        if not is_unset(self._environment, setting):
            place, is_readable = types.KeyPlace.ENVIRONMENT, True
        return types.VendorKey(
            provider=row.name, label=row.label, setting=setting.upper(), place=place, is_readable=is_readable
        )

    # --- internals ---

    def _vendor_models(self, row: providers.Provider) -> types.VendorModels:
        problem = None
        try:
            models = self._models.registry.listed_models(row.name, self._models.config)
        except errors.Error as error:
            defaults = ((row.default_chat_model, False), (row.default_embedding_model, True))
            models = tuple(types.ServedModel(name=name, embeds=embeds) for name, embeds in defaults if name)
            problem = error.message
        return types.VendorModels(provider=row.name, label=row.label, models=models, problem=problem)

    def _usable(self) -> Iterator[providers.Provider]:
        registry, config = self._models.registry, self._models.config
        return (row for row in registry.providers() if registry.is_usable(row, config))

    def _choice(self, model: str, origin: types.Origin, problem: str | None = None) -> types.ModelChoice:
        provider = model.partition(":")[0]
        labels = {row.name: row.label for row in self._models.registry.providers()}
        return types.ModelChoice(model=model, label=labels.get(provider, provider), origin=origin, problem=problem)

"""Models, provider keys and the origin of each setting of an installation."""

from enum import StrEnum

from rag.types.base import Model


class Origin(StrEnum):
    """The origin of a setting. The environment, including `.env`, takes precedence; a default depends on the keys."""

    ENVIRONMENT = "environment"
    KEPT = "kept"
    DEFAULT = "default"


class KeyPlace(StrEnum):
    """The storage location of a provider's key."""

    ENVIRONMENT = "environment"
    KEY_RING = "key ring"
    FILE = "file"


class ModelChoice(Model):
    """The model for a task. `model` is `provider:model`, or as configured if it is invalid.

    `label` is the provider's display name; `problem` says why it cannot be used.
    """

    model: str
    label: str
    origin: Origin
    problem: str | None = None


class ContextSize(Model):
    """The most tokens of text that a language model gets for a question, and their cost in dollars, if it is known."""

    tokens: int
    origin: Origin
    cost_usd: float | None = None


class VendorKey(Model):
    """A provider, the setting of its key, and the key's location (None without key), but not the key itself."""

    provider: str
    label: str
    setting: str
    place: KeyPlace | None = None
    is_readable: bool = True


class ServedModel(Model):
    """A model of a local server; `is_elsewhere` if the server forwards requests to a remote host."""

    name: str
    embeds: bool = False
    is_elsewhere: bool = False


class VendorModels(Model):
    """The models that a vendor's key may use; if they could not be read for a `problem`, those that we know."""

    provider: str
    label: str
    models: tuple[ServedModel, ...]
    problem: str | None = None


class FoundServer(Model):
    """A local model server that responds, and its models."""

    provider: str
    label: str
    url: str
    models: tuple[ServedModel, ...]


class DownloadableModel(Model):
    """An embedding model that is downloaded on request; `languages` is empty if it has about a hundred."""

    name: str
    licence: str
    megabytes: int
    languages: tuple[str, ...]

    @property
    def choice(self) -> str:
        """The model as `provider:model`, once it is here."""
        return f"folder:{self.name}"


class ModelTest(Model):
    """The result of a test request to a model: its text or vector size, and the duration.

    `context_window` is the context size of a language model in tokens.
    """

    model: str
    result: str
    seconds: float
    context_window: int | None = None

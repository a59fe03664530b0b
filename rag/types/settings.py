"""What is set for all users of an installation: the models, the vendors' keys, and where each setting comes from."""

from enum import StrEnum

from rag.types.base import Model


class Origin(StrEnum):
    """Where a setting comes from. The environment, with `.env`, wins; a default is what the given keys allow."""

    ENVIRONMENT = "environment"
    KEPT = "kept"
    DEFAULT = "default"


class KeyPlace(StrEnum):
    """Where a vendor's key is."""

    ENVIRONMENT = "environment"
    KEY_RING = "key ring"
    FILE = "file"


class ModelChoice(Model):
    """Which model does a work. `model` is `provider:model`, or as it was written where that cannot be used.

    `label` is what its provider is called; `problem` says why it cannot be used.
    """

    model: str
    label: str
    origin: Origin
    problem: str | None = None


class VendorKey(Model):
    """A vendor, the variable of its key, and where the key is; None: there is none. The key itself is not in it."""

    provider: str
    label: str
    setting: str
    place: KeyPlace | None = None
    is_readable: bool = True


class ServedModel(Model):
    """A model of a server. By its name it `embeds`, or `is_elsewhere`: the server hands on what it is asked."""

    name: str
    embeds: bool = False
    is_elsewhere: bool = False


class FoundServer(Model):
    """A server of models that answers, and what it has."""

    provider: str
    label: str
    url: str
    models: tuple[ServedModel, ...]


class ModelTest(Model):
    """What a tiny real request to a model gave: the words it wrote, or the size of its vector; and how long it took.

    `context_window` is how many tokens a model that writes takes at once.
    """

    model: str
    result: str
    seconds: float
    context_window: int | None = None

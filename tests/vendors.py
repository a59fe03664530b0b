"""Settings for every model vendor, pointing to local servers with their wire formats."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from llama_index.core.llms import LLM
from pydantic import SecretStr

from rag import providers
from rag.config import Config
from tests import vendor_servers
from tests.vendor_servers import VendorServer

KEY = "correct-horse-battery-staple"


@dataclass
class Vendor:
    """A provider's settings, and its server."""

    name: str
    server: VendorServer
    settings: dict[str, object]
    row: providers.Provider = field(init=False)

    def __post_init__(self) -> None:
        self.row = providers.Registry().provider(self.name)

    @property
    def label(self) -> str:
        """The vendor's name in messages."""
        return self.row.label

    def config(self, **settings: object) -> Config:
        """A configuration with this vendor only."""
        defaults: dict[str, object] = {"provider_max_retries": 0, "provider_timeout_seconds": 5.0}
        return Config(**{**defaults, **self.settings, **settings})  # type: ignore[arg-type]  # validated by pydantic

    def llm(self, **settings: object) -> LLM:
        """The vendor's language model."""
        llm = providers.Registry().language_model(self.config(**settings))
        assert llm is not None
        return llm


def _keyed(name: str) -> Callable[[VendorServer], dict[str, object]]:
    """Return settings with a key and a URL."""
    return lambda server: {f"{name}_api_key": SecretStr(KEY), f"{name}_base_url": server.url}


def _compatible(server: VendorServer) -> dict[str, object]:
    return {
        "openai_compatible_api_key": SecretStr(KEY),
        "openai_compatible_base_url": server.url,
        "rag_gen_model": "openai_compatible:llama3.2:3b",
        "rag_embed_model": "openai_compatible:nomic-embed-text",
    }


_Server = Callable[[], AbstractContextManager[VendorServer]]
_VENDORS: dict[str, tuple[_Server, Callable[[VendorServer], dict[str, object]]]] = {
    "openai": (vendor_servers.openai_server, _keyed("openai")),
    "gemini": (vendor_servers.gemini_server, _keyed("gemini")),
    "openai_compatible": (vendor_servers.openai_server, _compatible),
}
NAMES = tuple(_VENDORS)


@contextmanager
def vendor(name: str) -> Iterator[Vendor]:
    """Yield the vendor with a server."""
    open_server, settings = _VENDORS[name]
    with open_server() as server:
        yield Vendor(name, server, settings(server))

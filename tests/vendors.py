"""Settings for every model vendor, pointing to local servers with their wire formats."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
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

    @property
    def secret(self) -> str:
        """The secret of its requests, which must not appear anywhere."""
        return vendor_servers.ACCESS_TOKEN if self.name == "vertex_gemini" else KEY

    def config(self, **settings: object) -> Config:
        """A configuration with this vendor only."""
        defaults: dict[str, object] = {"provider_max_retries": 0, "provider_timeout_seconds": 5.0}
        return Config(**{**defaults, **self.settings, **settings})  # type: ignore[arg-type]  # validated by pydantic

    def llm(self, **settings: object) -> LLM:
        """The vendor's language model."""
        llm = providers.language_model(self.config(**settings))
        assert llm is not None
        return llm


@cache
def private_key() -> str:
    """Return a short RSA key, since each client verifies it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    pem, pkcs8, clear = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(pem, pkcs8, clear).decode()


def service_account(folder: Path, token_uri: str) -> Path:
    """Return the key file of a service account whose tokens come from `token_uri`."""
    path = folder / "service-account.json"
    account = {
        "type": "service_account",
        "project_id": "orchard",
        "private_key_id": "1",
        "private_key": private_key(),
        "client_email": "reader@orchard.example",
        "token_uri": token_uri,
    }
    path.write_text(json.dumps(account))
    return path


def _keyed(name: str) -> Callable[[VendorServer, Path], dict[str, object]]:
    """Return settings with a key and a URL."""
    return lambda server, _: {f"{name}_api_key": SecretStr(KEY), f"{name}_base_url": server.url}


def _compatible(server: VendorServer, _: Path) -> dict[str, object]:
    return {
        "openai_api_key": SecretStr(KEY),
        "openai_base_url": server.url,
        "rag_gen_model": "openai_compatible:llama3.2:3b",
        "rag_embed_model": "openai_compatible:nomic-embed-text",
    }


def _vertex(server: VendorServer, folder: Path) -> dict[str, object]:
    return {
        "google_cloud_project": "orchard",
        "google_cloud_location": "europe-west4",
        "google_application_credentials": service_account(folder, server.url + vendor_servers.TOKEN_PATH),
        "google_vertex_base_url": server.url,
    }


_Server = Callable[[], AbstractContextManager[VendorServer]]
_VENDORS: dict[str, tuple[_Server, Callable[[VendorServer, Path], dict[str, object]]]] = {
    "openai": (vendor_servers.openai_server, _keyed("openai")),
    "gemini": (vendor_servers.gemini_server, _keyed("gemini")),
    "vertex_gemini": (vendor_servers.vertex_server, _vertex),
    "openrouter": (vendor_servers.openai_server, _keyed("openrouter")),
    "perplexity": (vendor_servers.openai_server, _keyed("perplexity")),
    "openai_compatible": (vendor_servers.openai_server, _compatible),
}
NAMES = tuple(_VENDORS)
EMBEDDING = tuple(name for name in NAMES if name != "perplexity")


@contextmanager
def vendor(name: str, folder: Path) -> Iterator[Vendor]:
    """Yield the vendor with a server; `folder` stores its key file, if it has one."""
    open_server, settings = _VENDORS[name]
    with open_server() as server:
        yield Vendor(name, server, settings(server, folder))

"""Addresses of machines: which is this one alone, and what listening at another takes."""

import ipaddress
from typing import TYPE_CHECKING

from rag import errors

if TYPE_CHECKING:
    from rag.engine import Installation


def is_loopback(host: str) -> bool:
    """Whether a host, by name or address, is this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def require_key(installation: "Installation", host: str) -> None:
    """See that other machines are answered only with a key.

    Raises:
        errors.ConfigError: `host` is not this machine alone, and there is neither RAG_API_KEY nor a key of a user.
    """
    if not is_loopback(host) and not installation.keys_exist():
        raise errors.ConfigError(
            f"At {host} other machines reach the server, so it needs a key. Make one: pagelight keys create --name "
            "LABEL. Or set RAG_API_KEY."
        )

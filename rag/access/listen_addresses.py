"""What listening at an address of this machine takes."""

from typing import TYPE_CHECKING

from rag import errors
from rag.hosts import is_loopback

if TYPE_CHECKING:
    from rag.engine import Installation


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

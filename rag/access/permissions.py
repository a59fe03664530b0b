"""Who may do what beyond their own documents."""

from typing import TYPE_CHECKING

from rag import errors
from rag.types import Role

if TYPE_CHECKING:
    from rag.config import Config
    from rag.engine import Installation


def may_administer(config: "Config", user_id: str) -> bool:
    """Whether a user is among those of `RAG_ADMINS`; where it names nobody, this machine's only one.

    They are admins whatever their account says, so that nobody can lock everybody out.
    """
    return user_id in config.admins


def role_of(installation: "Installation", user_id: str) -> Role:
    """What a user may do now; asked again before each action that needs it."""
    return installation.accounts.get(user_id).role


def require_admin(installation: "Installation", user_id: str) -> None:
    """Raises ForbiddenError where the user is no admin."""
    if not role_of(installation, user_id).may_administer:
        raise errors.ForbiddenError("Only administrators may do this. Ask one of them, or have RAG_ADMINS name you.")


def require_curator(installation: "Installation", user_id: str) -> None:
    """Raises ForbiddenError where the user may not share."""
    if not role_of(installation, user_id).may_share:
        raise errors.ForbiddenError("Only curators and administrators share. Ask an administrator for the role.")

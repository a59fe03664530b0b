"""Roles: decide what a user may do beyond their own documents."""

from typing import TYPE_CHECKING

from rag import errors, types
from rag.messages import N_

if TYPE_CHECKING:
    from rag.engine import Installation


def role_of(installation: "Installation", user_id: str) -> types.Role:
    """Return a user's current role; checked again before each action that needs it."""
    return installation.accounts.get(user_id).role


def require_admin(installation: "Installation", user_id: str) -> None:
    """Raise ForbiddenError if the user is not an admin."""
    if not role_of(installation, user_id).may_administer:
        raise errors.ForbiddenError(
            N_("Only administrators may do this. Ask one of them, or have RAG_ADMINS name you.")
        )


def require_curator(installation: "Installation", user_id: str) -> None:
    """Raise ForbiddenError if the user may not share collections."""
    if not role_of(installation, user_id).may_share:
        raise errors.ForbiddenError(N_("Only curators and administrators share. Ask an administrator for the role."))

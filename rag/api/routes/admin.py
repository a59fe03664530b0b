"""Routes for admins: users, their roles, groups, quotas and logins, and all keys and jobs."""

import uuid
from typing import Annotated

import pydantic
from fastapi import APIRouter, Response

from rag import types
from rag.api.authentication import Admin
from rag.api.responses import Items, listed
from rag.engine.users.accounts import MAX_QUOTA_MB, Accounts, Logins

router = APIRouter(prefix="/admin", tags=["admin"])

UserId = Annotated[str, pydantic.Field(min_length=1, max_length=512, pattern=types.STORABLE)]
Group = Annotated[str, pydantic.Field(min_length=1, max_length=512, pattern=types.STORABLE)]


class UserReference(types.Input):
    """A user. Ids contain slashes, so they are sent in the body."""

    user_id: UserId


class UserEdit(UserReference):
    """Changes of a user; omitted fields stay unchanged. `quota_mb` null is the installation's default."""

    role: types.Role | None = None
    groups: Annotated[tuple[Group, ...], pydantic.Field(max_length=1000)] | None = None
    quota_mb: int | None = pydantic.Field(default=None, ge=0, le=MAX_QUOTA_MB)


@router.get("/users")
def list_users(sender: Admin) -> Items[types.AccountUse]:
    """List all users who have logged in or own something, and what they use."""
    return listed(_accounts(sender).list())


@router.patch("/users")
def edit_user(sender: Admin, body: UserEdit) -> types.AccountUse:
    """Change a user's role, groups and quota."""
    accounts = _accounts(sender)
    accounts.find(body.user_id)
    if body.role is not None:
        accounts.set_role(body.user_id, body.role)
    if body.groups is not None:
        accounts.set_groups(body.user_id, body.groups)
    if "quota_mb" in body.model_fields_set:
        accounts.set_quota(body.user_id, body.quota_mb)
    return accounts.find(body.user_id)


@router.get("/logins")
def list_logins(sender: Admin, user: UserId) -> Items[types.Login]:
    """List a user's logins."""
    return listed(_logins(sender).list(user))


@router.post("/logout", status_code=204, response_class=Response)
def log_out_user(sender: Admin, body: UserReference) -> None:
    """End all logins of a user, and refuse the tokens issued so far. API keys stay valid."""
    _logins(sender).end_all(_accounts(sender).find(body.user_id).user_id)


@router.get("/keys")
def list_keys(sender: Admin) -> Items[types.ApiKey]:
    """List the keys of all users without their secrets."""
    return listed(_accounts(sender).list_keys())


@router.delete("/keys/{key_id}")
def revoke_key(sender: Admin, key_id: uuid.UUID) -> types.ApiKey:
    """Revoke a key of any user, at once."""
    return _accounts(sender).revoke_key(key_id)


@router.get("/jobs")
def list_all_jobs(sender: Admin) -> Items[types.Job]:
    """List the latest jobs of all users."""
    return listed(_accounts(sender).jobs())


def _accounts(sender: Admin) -> Accounts:
    return sender.engine.installation.accounts.by(sender.user_id, sender.engine.origin)


def _logins(sender: Admin) -> Logins:
    return sender.engine.installation.logins.by(sender.user_id, sender.engine.origin)

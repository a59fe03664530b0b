"""Shared collections and shared answers."""

import datetime as dt
import uuid
from typing import Annotated, Literal

import pydantic

from rag.types.base import LINE, Input, Model
from rag.types.documents import Index

GranteeKind = Literal["user", "group"]
SharePermission = Literal["read", "write"]


class Recipient(Input):
    """A user or group to share with."""

    grantee_kind: GranteeKind = "user"
    grantee: Annotated[str, pydantic.Field(min_length=1, max_length=500, pattern=LINE)]


class ShareRequest(Recipient):
    """A request to share a collection with a user or group."""

    permission: SharePermission = "read"


class Grantee(Model):
    """A user or group to share with; `name` and `email` come from the login provider."""

    kind: GranteeKind
    id: str
    name: str | None = None
    email: str | None = None


class Share(Model):
    """A collection that its owner (`user_id`) shares with a user or group."""

    user_id: str
    index_id: uuid.UUID
    index_name: str
    grantee_kind: GranteeKind
    grantee: str
    permission: SharePermission
    created_at: dt.datetime


class SharedIndex(Model):
    """A collection shared with a user; `owner_name` comes from the login provider."""

    index: Index
    owner_name: str | None
    permission: SharePermission


class LinkRequest(Recipient):
    """A request to share a conversation, or with `message_id` one answer and its question."""

    message_id: uuid.UUID | None = None


class AnswerLink(Model):
    """A conversation, or one answer, that a user shares with a user or group."""

    user_id: str
    id: uuid.UUID
    conversation_id: uuid.UUID
    message_id: uuid.UUID | None
    title: str
    grantee_kind: GranteeKind
    grantee: str
    created_at: dt.datetime


class SharedAnswer(Model):
    """A conversation or answer shared with a user, its owner and collection."""

    id: uuid.UUID
    owner: str
    owner_name: str | None
    index_id: uuid.UUID
    conversation_id: uuid.UUID
    message_id: uuid.UUID | None
    title: str
    created_at: dt.datetime

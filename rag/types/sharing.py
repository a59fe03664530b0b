"""Collections that several people have: who shares which with whom, and what was shared with whom."""

import datetime as dt
import uuid
from typing import Annotated, Literal

import pydantic

from rag.types.base import LINE, Input, Model
from rag.types.documents import Index

GranteeKind = Literal["user", "group"]
SharePermission = Literal["read", "write"]


class ShareRequest(Input):
    """Whom a collection is shared with, and whether they may write, too."""

    grantee_kind: GranteeKind = "user"
    grantee: Annotated[str, pydantic.Field(min_length=1, max_length=500, pattern=LINE)]
    permission: SharePermission = "read"


class Grantee(Model):
    """Somebody, or a group, that a collection can be shared with; `name` and `email` are the login provider's."""

    kind: GranteeKind
    id: str
    name: str | None = None
    email: str | None = None


class Share(Model):
    """What a user, the owner, shares with a user or a group."""

    user_id: str
    index_id: uuid.UUID
    index_name: str
    grantee_kind: GranteeKind
    grantee: str
    permission: SharePermission
    created_at: dt.datetime


class SharedIndex(Model):
    """A collection that another shares with a user; `owner_name` is what the login provider calls its owner."""

    index: Index
    owner_name: str | None
    permission: SharePermission


class LinkRequest(Input):
    """Whom a conversation is shown to, or with `message_id` one answer of it and its question."""

    grantee_kind: GranteeKind = "user"
    grantee: Annotated[str, pydantic.Field(min_length=1, max_length=500, pattern=LINE)]
    message_id: uuid.UUID | None = None


class AnswerLink(Model):
    """What a user shows another, or a group: a conversation, or one answer of it."""

    user_id: str
    id: uuid.UUID
    conversation_id: uuid.UUID
    message_id: uuid.UUID | None
    title: str
    grantee_kind: GranteeKind
    grantee: str
    created_at: dt.datetime


class SharedAnswer(Model):
    """What another shows a user: whose it is, and the collection that it is about, which the user may read."""

    id: uuid.UUID
    owner: str
    owner_name: str | None
    index_id: uuid.UUID
    conversation_id: uuid.UUID
    message_id: uuid.UUID | None
    title: str
    created_at: dt.datetime

"""What is kept of who did what."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import pydantic

from rag.types.text import Model

Door = Literal["app", "rest", "mcp", "cli", "worker", "python"]


class Whence(NamedTuple):
    """Where what is done comes from: through which door, and from which address, where there is one."""

    door: Door = "python"
    address: str = ""


class AuditEntry(Model):
    """Something that was done: by whom, to what and whose, when and from where."""

    id: int
    at: dt.datetime
    actor: str
    action: str
    owner: str
    subject_kind: str = ""
    subject_id: str = ""
    subject_name: str = ""
    door: str = ""
    address: str = ""
    details: Mapping[str, Any] = pydantic.Field(default_factory=dict)


class AuditFilter(NamedTuple):
    """Which entries are asked for: from `since` on and before `until`, of one actor, of an action or a part of one."""

    since: dt.datetime | None = None
    until: dt.datetime | None = None
    actor: str | None = None
    action: str | None = None

"""The audit as people look at it, and take it along."""

import builtins
import datetime as dt
import json
from collections.abc import Iterable, Sequence

from rag import errors, export
from rag.engine.workspace import Workspace
from rag.types import AuditEntry, AuditFilter

EVERYTHING = AuditFilter()
COLUMNS = ("at", "actor", "action", "subject_kind", "subject_name", "subject_id", "owner", "door", "address", "details")


class Auditing:
    """What one user may see of who did what."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def sees_all(self) -> bool:
        """Whether the user sees what everybody did; others see what they did, and what was done to their things."""
        return self._workspace.administers

    def list(
        self,
        asked: AuditFilter = EVERYTHING,
        *,
        limit: int | None = 1000,
        below: int | None = None,
        own: bool = False,
    ) -> builtins.list[AuditEntry]:
        """Entries, the latest first; `below` an id are those that come after it.

        With `own` also of an admin only what the user did, and what was done to their things.
        """
        audit = self._workspace.audit_of_all if self.sees_all and not own else self._workspace.store.audit
        return audit.list(asked, limit=limit, below=below)

    def forget(self, before: dt.datetime) -> int:
        """Let go of what is older, and tell so; returns how much.

        Raises:
            errors.ForbiddenError: the user does not administer the installation.
            errors.ValidationError: `before` is in the future.
            errors.StoreError: the administrator's account does not own the tables.
        """
        if not self.sees_all:
            raise errors.ForbiddenError("Only admins let old entries of the audit go. Ask one.")
        actor, door = self._workspace.user_id, self._workspace.origin.door
        return self._workspace.audit_of_all.forget(before, actor=actor, door=door)


def to_csv(entries: Iterable[AuditEntry], headings: Sequence[str] = COLUMNS) -> str:
    """Entries as CSV; no cell is a formula, whatever a document or a user is called.

    Times are ISO 8601 with their offset, sizes bytes, and actions those of the API; `headings` name the columns.
    """
    return export.to_csv([headings, *([_cell(getattr(entry, column)) for column in COLUMNS] for entry in entries)])


def _cell(value: object) -> str:
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

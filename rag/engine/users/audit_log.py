"""View, export and trim the audit log."""

import builtins
import datetime as dt
import json
from collections.abc import Iterable, Sequence

from rag import errors, export, types
from rag.engine.workspace import Workspace
from rag.messages import N_

NO_FILTER = types.AuditFilter()
COLUMNS = ("at", "actor", "action", "subject_kind", "subject_name", "subject_id", "owner", "door", "address", "details")


class AuditLog:
    """The audit log as one user may see it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def sees_all(self) -> bool:
        """Whether the user sees all entries; others see their own actions, and actions on what they own."""
        return self._workspace.is_admin

    def list(
        self,
        query: types.AuditFilter = NO_FILTER,
        *,
        limit: int | None = 1000,
        below: int | None = None,
        own: bool = False,
    ) -> builtins.list[types.AuditEntry]:
        """Return entries, latest first; `below` is the id to continue after.

        With `own`, admins too get only their own actions and actions on what they own.
        """
        audit = self._workspace.audit_of_all_users if self.sees_all and not own else self._workspace.store.audit
        return audit.list(query, limit=limit, below=below)

    def forget(self, before: dt.datetime) -> int:
        """Delete entries before a time, which is itself recorded. Returns how many.

        Raises:
            errors.ForbiddenError: the user is no admin.
            errors.ValidationError: `before` is in the future.
            errors.StoreError: the database account does not own the tables.
        """
        if not self.sees_all:
            raise errors.ForbiddenError(N_("Only admins let old entries of the audit go. Ask one."))
        actor, door = self._workspace.user_id, self._workspace.origin.door
        return self._workspace.audit_of_all_users.forget(before, actor=actor, door=door)


def to_csv(entries: Iterable[types.AuditEntry], headings: Sequence[str] = COLUMNS) -> str:
    """Return entries as CSV, safe against formula injection, with `headings` as column titles.

    Times are ISO 8601 with offset; actions are named as in the API.
    """

    def cell(value: object) -> str:
        if isinstance(value, dt.datetime):
            return value.isoformat()
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    return export.to_csv([headings, *([cell(getattr(entry, column)) for column in COLUMNS] for entry in entries)])

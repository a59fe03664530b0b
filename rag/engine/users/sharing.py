"""Sharing: whom a user lets into a collection, and into whose the user is let."""

import builtins
import uuid
from collections.abc import Mapping
from typing import Any

from rag import errors
from rag.engine.request_parsing import parse
from rag.engine.users.collection_workspaces import SHARED
from rag.engine.workspace import Workspace
from rag.types import DEFAULT_INDEX, Grantee, Share, SharedIndex, ShareRequest


class Sharing:
    """One user's shares, given and got."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, index_name: str | None = None) -> builtins.list[Share]:
        """What the user shares, of one index or of all. Raises NotFoundError if there is no such index."""
        index = self._workspace.find_index(index_name) if index_name else None
        return self._workspace.store.shares.list(index.id if index else None)

    def with_me(self) -> builtins.list[SharedIndex]:
        """What others share with the user now, by name."""
        return self._workspace.store.shares.with_me()

    @property
    def allowed(self) -> bool:
        """Whether the user may share: a curator or an admin, or the only user of an installation."""
        return self._workspace.administers or self._workspace.store.account.get().role.may_share

    def colleagues(self) -> builtins.list[Grantee]:
        """Whom the user can share with: everybody who was seen, then every group. Nobody where `allowed` is False."""
        return self._workspace.store.shares.colleagues(is_admin=self._workspace.administers)

    def give(self, request: ShareRequest | Mapping[str, Any], index_name: str = DEFAULT_INDEX) -> builtins.list[Share]:
        """Share an index with a user or a group, or change what they may; returns its shares.

        Raises:
            errors.ValidationError: the request is malformed, or it is the user's own.
            errors.NotFoundError: the user has no such index.
            errors.ForbiddenError: the user's role is neither curator nor admin.
        """
        asked = parse(ShareRequest, request)
        if (asked.grantee_kind, asked.grantee) == ("user", self._workspace.user_id):
            raise errors.ValidationError("This is your own collection. Name somebody else.")
        index = self._workspace.asked_index(index_name)
        if not self._workspace.store.shares.give(index.id, asked, is_admin=self._workspace.administers):
            raise errors.ForbiddenError(
                "Only curators and admins share collections. Ask an admin for the role.", details={"role": "curator"}
            )
        return self.list(str(index.id))

    def withdraw(
        self, request: ShareRequest | Mapping[str, Any], index_name: str = DEFAULT_INDEX
    ) -> builtins.list[Share]:
        """Share an index with a user or a group no longer: from this moment on. Returns the shares that are left.

        Raises:
            errors.ValidationError: the request is malformed.
            errors.NotFoundError: the user has no such index, or does not share it with them.
        """
        asked = parse(ShareRequest, request)
        index = self._workspace.find_index(index_name)
        if not self._workspace.store.shares.withdraw(index.id, asked):
            raise errors.NotFoundError(
                f"{index.name!r} is not shared with the {asked.grantee_kind} {asked.grantee!r}. List the shares."
            )
        return self.list(str(index.id))

    def meant(self, name: str) -> uuid.UUID | None:
        """The shared collection that a request names, by id or as `shared:NAME`; None where it names one's own.

        Raises:
            errors.NotFoundError: nothing of this name is shared with the user.
            errors.ConflictError: several are; `details` have their ids.
        """
        if name.startswith(SHARED):
            return self._named(name.removeprefix(SHARED))
        asked = _as_id(name)
        return asked if asked and self._workspace.is_shared(asked) else None

    def _named(self, name: str) -> uuid.UUID:
        found = [shared.index.id for shared in self.with_me() if shared.index.name == name]
        if not found:
            raise errors.NotFoundError(f"Nothing called {name!r} is shared with you. List what is.")
        if len(found) > 1:
            raise errors.ConflictError(
                f"Several collections called {name!r} are shared with you. Give an id.",
                details={"index_ids": [str(index_id) for index_id in found]},
            )
        return found[0]


def _as_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None

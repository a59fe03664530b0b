"""Share collections with users and groups."""

import builtins
import uuid
from collections.abc import Mapping
from typing import Any

from rag import errors, types
from rag.engine.request_parsing import parse
from rag.engine.workspace import SHARED_PREFIX, Workspace
from rag.messages import N_


class Sharing:
    """The collections that one user shares and is given."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, index_name: str | None = None) -> builtins.list[types.Share]:
        """Return the user's shares, of one index or of all. Raises NotFoundError if there is no such index."""
        index = self._workspace.find_index(index_name) if index_name else None
        return self._workspace.store.shares.list(index.id if index else None)

    @property
    def allowed(self) -> bool:
        """Whether the user may share: curators, admins, and the only user of an installation."""
        return self._workspace.is_admin or self._workspace.store.account.get().role.may_share

    def colleagues(self) -> builtins.list[types.Grantee]:
        """Return possible grantees: all known users, then all groups. Empty unless `allowed`."""
        return self._workspace.store.shares.colleagues(is_admin=self._workspace.is_admin)

    def share(
        self, request: types.ShareRequest | Mapping[str, Any], index_name: str = types.DEFAULT_INDEX
    ) -> builtins.list[types.Share]:
        """Share an index with a user or a group, or change the permission. Returns the index's shares.

        Raises:
            errors.ValidationError: the request is malformed, or names the user.
            errors.NotFoundError: the user has no such index.
            errors.ForbiddenError: the user is neither curator nor admin.
        """
        parsed = parse(types.ShareRequest, request)
        if (parsed.grantee_kind, parsed.grantee) == ("user", self._workspace.user_id):
            raise errors.ValidationError(N_("This is your own collection. Name somebody else."))
        index = self._workspace.requested_index(index_name)
        if not self._workspace.store.shares.share(index.id, parsed, is_admin=self._workspace.is_admin):
            raise errors.ForbiddenError(
                N_("Only curators and admins share collections. Ask an admin for the role."),
                details={"role": "curator"},
            )
        return self.list(str(index.id))

    def unshare(
        self, request: types.ShareRequest | Mapping[str, Any], index_name: str = types.DEFAULT_INDEX
    ) -> builtins.list[types.Share]:
        """End a share at once. Returns the remaining shares of the index. Raises ValidationError and NotFoundError."""
        parsed = parse(types.ShareRequest, request)
        index = self._workspace.find_index(index_name)
        if not self._workspace.store.shares.unshare(index.id, parsed):
            raise errors.NotFoundError(
                N_("{name} is not shared with the {_kind} {grantee}. List the shares."),
                name=repr(index.name),
                _kind=parsed.grantee_kind,
                grantee=repr(parsed.grantee),
            )
        return self.list(str(index.id))

    def resolve(self, name: str) -> uuid.UUID | None:
        """Return the id of the shared collection that `name` refers to, by id or `shared:NAME`; None for own indexes.

        Raises:
            errors.NotFoundError: no collection of this name is shared with the user.
            errors.ConflictError: several are; `details` have their ids.
        """
        if name.startswith(SHARED_PREFIX):
            name = name.removeprefix(SHARED_PREFIX)
            ids = [
                shared.index.id for shared in self._workspace.store.shares.shared_with_me() if shared.index.name == name
            ]
            if not ids:
                raise errors.NotFoundError(
                    N_("Nothing called {name} is shared with you. List what is."), name=repr(name)
                )
            if len(ids) > 1:
                raise errors.ConflictError(
                    N_("Several collections called {name} are shared with you. Give an id."),
                    name=repr(name),
                    details={"index_ids": [str(index_id) for index_id in ids]},
                )
            return ids[0]
        try:
            index_id = uuid.UUID(name)
        except ValueError:
            return None  # a name alone means one of the user's own
        return index_id if self._workspace.is_shared(index_id) else None

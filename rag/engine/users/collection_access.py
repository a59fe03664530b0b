"""Engines for the collections that a user can access: their own, and those shared with them."""

import uuid
from collections.abc import Callable
from typing import Generic, TypeVar

from rag import errors, types
from rag.engine.users.collection_workspaces import CollectionWorkspace, SharedWorkspace
from rag.engine.users.sharing import Sharing
from rag.engine.workspace import Workspace

Engine = TypeVar("Engine")


class CollectionAccess(Generic[Engine]):
    """Finds the engine for a collection, document or chat.

    Ask again for every request, because shares can end at any time. `engine_of` creates an engine for a workspace.
    """

    def __init__(self, own: Engine, workspace: Workspace, engine_of: Callable[[Workspace], Engine]) -> None:
        self._own = own
        self._workspace = workspace
        self._engine_of = engine_of

    @property
    def is_shared(self) -> bool:
        """Whether this engine's collection belongs to another user."""
        return isinstance(self._workspace, SharedWorkspace)

    @property
    def may_write(self) -> bool:
        """Whether the engine may change documents; False for read-only shares."""
        return not isinstance(self._workspace, SharedWorkspace) or self._workspace.store.access.may_write

    def collection(self, name: str) -> Engine:
        """Return the engine of one collection, in which the default index's name means that collection.

        `name` is the default's, or the id of a collection. Raises NotFoundError.
        """
        if name == types.DEFAULT_INDEX:
            return self._own
        if Sharing(self._workspace).meant(name):
            return self.index(name)
        index = self._workspace.find_index(name)
        return self._engine_of(CollectionWorkspace.of(self._workspace, index.id))

    def index(self, name: str) -> Engine:
        """Return the engine of an index; a shared one is named by its id or as `shared:NAME`.

        Raises:
            errors.NotFoundError: no collection of this name is shared with the user.
            errors.ConflictError: several are; `details` have their ids.
        """
        shared = None if self.is_shared else Sharing(self._workspace).meant(name)
        return self._shared(shared) if shared else self._own

    def document(self, document_id: uuid.UUID) -> Engine:
        """Return the engine of a document, the user's own or a shared one. Raises NotFoundError."""
        store = self._workspace.store
        try:
            store.document_metadata.names(document_id)
        except errors.NotFoundError:
            if self.is_shared:
                raise
            return self._shared(store.shares.holding(document_id))
        return self._own

    def conversation(self, conversation_id: uuid.UUID) -> Engine:
        """Return the engine of a chat's collection, or the user's own if it is not shared now. Raises NotFoundError."""
        conversation = self._workspace.store.conversations.get(conversation_id)
        return self.index(str(conversation.index_id)) if conversation.index_owner else self._own

    def _shared(self, index_id: uuid.UUID) -> Engine:
        """Return the engine of a shared collection. What the share does not permit raises ForbiddenError."""
        return self._engine_of(SharedWorkspace.of(self._workspace, index_id))

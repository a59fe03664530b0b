"""What a user reaches beyond their own index: collections that others share with them, each by an engine of its own."""

import uuid
from collections.abc import Callable
from typing import Generic, TypeVar

from rag import errors
from rag.engine.users.collection_workspaces import CollectionWorkspace, SharedWorkspace
from rag.engine.users.sharing import Sharing
from rag.engine.workspace import Workspace
from rag.types import DEFAULT_INDEX

Engine = TypeVar("Engine")


class CollectionAccess(Generic[Engine]):
    """The engines of what is asked for: the user's own, or those of collections that another shares.

    To be asked for each request: shares end at any time. `engine_of` makes an engine of a workspace.
    """

    def __init__(self, own: Engine, workspace: Workspace, engine_of: Callable[[Workspace], Engine]) -> None:
        self._own = own
        self._workspace = workspace
        self._engine_of = engine_of

    @property
    def is_shared(self) -> bool:
        """Whether the engine itself is of a collection of another's."""
        return isinstance(self._workspace, SharedWorkspace)

    @property
    def may_write(self) -> bool:
        """Whether the engine may change documents: not where a collection is shared for reading only."""
        return not isinstance(self._workspace, SharedWorkspace) or self._workspace.store.access.may_write

    def collection(self, name: str) -> Engine:
        """What can be done in a collection as if there were no other: its engine means it by the default's name.

        `name` is the default's, or the id of a collection, the user's own or shared with them.

        Raises:
            errors.NotFoundError: there is no such collection.
        """
        if name == DEFAULT_INDEX:
            return self._own
        if Sharing(self._workspace).meant(name):
            return self.index(name)
        index = self._workspace.find_index(name)
        return self._engine_of(CollectionWorkspace.of(self._workspace, index.id))

    def index(self, name: str) -> Engine:
        """What can be done in the index that is named: a shared one by its id, or as `shared:NAME`.

        Raises:
            errors.NotFoundError: nothing of this name is shared with the user.
            errors.ConflictError: several are; `details` have their ids.
        """
        shared = None if self.is_shared else Sharing(self._workspace).meant(name)
        return self._shared(shared) if shared else self._own

    def document(self, document_id: uuid.UUID) -> Engine:
        """The engine of a document: the own one, or that of the collection that it is in and another shares.

        Raises:
            errors.NotFoundError: there is no such document.
        """
        store = self._workspace.store
        try:
            store.document_metadata.names(document_id)
        except errors.NotFoundError:
            if self.is_shared:
                raise
            return self._shared(store.shares.holding(document_id))
        return self._own

    def conversation(self, conversation_id: uuid.UUID) -> Engine:
        """The engine of what a chat is about, or the own one if that is not shared any more. Raises NotFoundError."""
        conversation = self._workspace.store.conversations.get(conversation_id)
        return self.index(str(conversation.index_id)) if conversation.index_owner else self._own

    def _shared(self, index_id: uuid.UUID) -> Engine:
        """What the user can do in a collection that another shares with them, as long as it is.

        Of the engine what is for the right that was given; all else raises ForbiddenError. Chats, caches, glossary and
        saved filters are the user's own.
        """
        return self._engine_of(SharedWorkspace.of(self._workspace, index_id))

"""Workspaces that are narrowed to one collection: the user's own, or one that another user shares."""

import uuid
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Self

from rag import errors, types
from rag.engine.resources import Resources
from rag.engine.workspace import UNKNOWN_ORIGIN, Workspace
from rag.messages import N_
from rag.store import SharedStore, UserFiles
from rag.store.files.file_storage import Kind

SHARED_PREFIX = "shared:"
"""Prefix of a shared collection's name in requests; a name alone means one of the user's own."""


class SharedWorkspace(Workspace):
    """The owner's rows and files as far as they are shared with `asker`; the asker's own chats and caches.

    The default index's name means the shared collection.
    """

    def __init__(
        self, resources: Resources, asker: str, index_id: uuid.UUID, origin: types.RequestOrigin = UNKNOWN_ORIGIN
    ) -> None:
        """Raises NotFoundError if the collection is not shared with the asker."""
        self._shared = resources.store.shared(asker, index_id, origin)
        super().__init__(resources, self._shared.user_id, origin)
        self.asker = asker
        self.index_id = index_id

    @classmethod
    def of(cls, own: Workspace, index_id: uuid.UUID) -> Self:
        """Return the shared collection for the user of `own`. Raises NotFoundError if it is not shared with them."""
        return cls(own._resources, own.user_id, index_id, own.origin)

    @cached_property
    def store(self) -> SharedStore:
        """The shared rows; each transaction checks that they are still shared."""
        return self._shared

    @property
    def files(self) -> "SharedFiles":
        """The files of the shared documents."""
        return SharedFiles(self._resources.files.of(self.user_id), self._shared)

    def find_index(self, name: str) -> types.Index:
        """Return the collection by id, name or as the default. Raises NotFoundError for any other."""
        if name == types.DEFAULT_INDEX or name.startswith(SHARED_PREFIX):
            return self.store.indexes.get_by_id(self.index_id)
        return self.store.indexes.find(name)

    def ensure_index(self, name: str) -> types.Index:
        """Return the collection; no index is created for its owner."""
        return self.find_index(name)

    def create_or_update_index(self, name: str) -> types.Index:
        """Raise ForbiddenError: only the owner can do this."""
        raise errors.ForbiddenError(N_("{name} would be another's index. Make it among your own."), name=repr(name))

    @property
    def is_admin(self) -> bool:
        """Nobody is an admin of another user's collection."""
        return False

    def is_shared(self, index_id: uuid.UUID) -> bool:
        """Whether the index is shared with the asker now."""
        return any(index.id == index_id for index in self.store.indexes.list())


class SharedFiles(UserFiles):
    """The owner's files, restricted to documents that are shared."""

    def __init__(self, files: UserFiles, store: SharedStore) -> None:
        self._owners = files
        self._store = store

    def put(self, document_id: uuid.UUID, kind: Kind, path: Path) -> None:
        """Store a file of a shared or new document, if the asker may write.

        Raises:
            errors.ForbiddenError: the share is read-only, or the document is outside the collection.
            errors.StoreError: the file cannot be written.
        """
        self._store.access.require_place(document_id)
        self._owners.put(document_id, kind, path)

    def local_path(self, document_id: uuid.UUID, kind: Kind) -> Path:
        """See `UserFiles.local_path`."""
        self._require(document_id)
        return self._owners.local_path(document_id, kind)

    def open(self, document_id: uuid.UUID, kind: Kind) -> BinaryIO:
        """See `UserFiles.open`."""
        self._require(document_id)
        return self._owners.open(document_id, kind)

    def exists(self, document_id: uuid.UUID, kind: Kind) -> bool:
        """See `UserFiles.exists`."""
        self._require(document_id)
        return self._owners.exists(document_id, kind)

    def sizes(self, document_id: uuid.UUID) -> dict[Kind, int]:
        """See `UserFiles.sizes`."""
        self._require(document_id)
        return self._owners.sizes(document_id)

    def delete(self, document_id: uuid.UUID) -> None:
        """Delete the file of an upload that became no document.

        Raises ForbiddenError if the share is read-only, or the document exists.
        """
        self._store.access.require_unused(document_id)
        self._owners.delete(document_id)

    def _require(self, document_id: uuid.UUID) -> None:
        self._store.documents.get(document_id)


class CollectionWorkspace(Workspace):
    """The user's workspace, with one of their collections in place of the default index."""

    def __init__(
        self, resources: Resources, user_id: str, index_id: uuid.UUID, origin: types.RequestOrigin = UNKNOWN_ORIGIN
    ) -> None:
        """Raises NotFoundError if the user has no such index."""
        super().__init__(resources, user_id, origin)
        self._index_id = self.store.indexes.get_by_id(index_id).id

    @classmethod
    def of(cls, own: Workspace, index_id: uuid.UUID) -> Self:
        """Return the collection for the user of `own`. Raises NotFoundError if they have no such index."""
        return cls(own._resources, own.user_id, index_id, own.origin)

    def find_index(self, name: str) -> types.Index:
        """Return the collection for the default name, else the named index. Raises NotFoundError."""
        return self.store.indexes.get_by_id(self._index_id) if name == types.DEFAULT_INDEX else super().find_index(name)

    def ensure_index(self, name: str) -> types.Index:
        """Return the collection unchanged for the default name, whatever `RAG_EMBED_MODEL` says."""
        return self.find_index(name) if name == types.DEFAULT_INDEX else super().ensure_index(name)

    def create_or_update_index(self, name: str) -> types.Index:
        """Do so with the collection for the default name."""
        return super().create_or_update_index(self.find_index(name).name if name == types.DEFAULT_INDEX else name)

"""A collection that another user shares with the asker, as the workspace of an engine."""

import uuid
from pathlib import Path
from typing import BinaryIO, Self

from rag import errors
from rag.engine.resources import Resources
from rag.engine.workspace import UNKNOWN_ORIGIN, Workspace
from rag.store import SharedStore, UserFiles
from rag.store.files.file_storage import Kind
from rag.types import DEFAULT_INDEX, Index, RequestOrigin

SHARED = "shared:"
"""What a shared collection's name follows where it is asked for: a name alone always means one's own."""


class SharedWorkspace(Workspace):
    """The owner's rows and files, as far as they are shared with `asker`; the asker's own chats, caches and words.

    Whatever is asked for by the name of the default index is asked of the collection.
    """

    def __init__(
        self, resources: Resources, asker: str, index_id: uuid.UUID, origin: RequestOrigin = UNKNOWN_ORIGIN
    ) -> None:
        """Raises NotFoundError if nobody shares it with the asker now."""
        self._shared = resources.store.shared(asker, index_id, origin)
        super().__init__(resources, self._shared.user_id, origin)
        self.asker = asker
        self.index_id = index_id

    @classmethod
    def of(cls, own: Workspace, index_id: uuid.UUID) -> Self:
        """For the user of a workspace of their own. Raises NotFoundError if nobody shares it with them now."""
        return cls(own._resources, own.user_id, index_id, own.origin)

    @property
    def store(self) -> SharedStore:
        """What is shared; each transaction looks whether it still is."""
        return self._shared

    @property
    def files(self) -> "SharedFiles":
        """The files of documents that the asker sees."""
        return SharedFiles(self._resources.files.of(self.user_id), self._shared)

    def find_index(self, name: str) -> Index:
        """The collection, by its id or name or as the default. Raises NotFoundError of any other."""
        if name == DEFAULT_INDEX or name.startswith(SHARED):
            return self.store.indexes.get_by_id(self.index_id)
        return self.store.indexes.find(name)

    def ensure_index(self, name: str) -> Index:
        """The same: whoever is shared something with makes no index of its owner's."""
        return self.find_index(name)

    def renew_index(self, name: str) -> Index:
        """Its owner's to do. Raises ForbiddenError."""
        raise errors.ForbiddenError(f"{name!r} would be another's index. Make it among your own.")

    @property
    def administers(self) -> bool:
        """Nobody administers by what is shared with them."""
        return False

    def is_shared(self, index_id: uuid.UUID) -> bool:
        """Whether an index is one that is shared with the asker now."""
        return any(index.id == index_id for index in self.store.indexes.list())


class SharedFiles(UserFiles):
    """The files of the owner's documents that are in sight of who they are shared with."""

    def __init__(self, files: UserFiles, store: SharedStore) -> None:
        self._owners = files
        self._store = store

    def put(self, document_id: uuid.UUID, kind: Kind, path: Path) -> None:
        """Keep the file of a document that is in sight, or of none yet, for who may write.

        Raises:
            errors.ForbiddenError: it is shared for reading only, or the document is not the collection's.
            errors.StoreError: it cannot be written.
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
        """Remove the file of an upload that became no document; those of documents are their owner's to remove.

        Raises:
            errors.ForbiddenError: it is shared for reading only, or there is such a document.
        """
        self._store.access.require_unused(document_id)
        self._owners.delete(document_id)

    def _require(self, document_id: uuid.UUID) -> None:
        self._store.documents.get(document_id)


class CollectionWorkspace(Workspace):
    """All that is the user's; whatever is asked for by the name of the default index is asked of the collection."""

    def __init__(
        self, resources: Resources, user_id: str, index_id: uuid.UUID, origin: RequestOrigin = UNKNOWN_ORIGIN
    ) -> None:
        """Raises NotFoundError if the user has no such index."""
        super().__init__(resources, user_id, origin)
        self._index_id = self.store.indexes.get_by_id(index_id).id

    @classmethod
    def of(cls, own: Workspace, index_id: uuid.UUID) -> Self:
        """For the user of another workspace. Raises NotFoundError if the user has no such index."""
        return cls(own._resources, own.user_id, index_id, own.origin)

    def find_index(self, name: str) -> Index:
        """The collection, or the index of another name or id. Raises NotFoundError."""
        return self.store.indexes.get_by_id(self._index_id) if name == DEFAULT_INDEX else super().find_index(name)

    def ensure_index(self, name: str) -> Index:
        """The collection as it is, whatever `RAG_EMBED_MODEL` says now; another one as ever."""
        return self.find_index(name) if name == DEFAULT_INDEX else super().ensure_index(name)

    def renew_index(self, name: str) -> Index:
        """As ever; by the name of the default index the collection is meant here, too."""
        return super().renew_index(self.find_index(name).name if name == DEFAULT_INDEX else name)

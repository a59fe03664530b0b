"""One of a user's own collections as the workspace of an engine."""

import uuid
from typing import Self

from rag.engine.resources import Resources
from rag.engine.workspace import NOWHERE, Workspace
from rag.types import DEFAULT_INDEX, Index, Whence


class CollectionWorkspace(Workspace):
    """All that is the user's; whatever is asked for by the name of the default index is asked of the collection."""

    def __init__(self, resources: Resources, user_id: str, index_id: uuid.UUID, origin: Whence = NOWHERE) -> None:
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

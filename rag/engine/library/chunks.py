"""Chunks of documents, as they are found."""

import uuid

from rag import errors
from rag.engine.workspace import Workspace
from rag.types import Chunk


class Chunks:
    """One user's chunks."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(
        self, document_id: uuid.UUID, page_number: int | None = None, *, limit: int | None = None, offset: int = 0
    ) -> list[Chunk]:
        """A document's chunks in reading order, or those on one page; none of one in the trash."""
        return self._workspace.store.chunks.of_document(
            document_id, page_number=page_number, limit=limit, offset=offset
        )

    def get(self, chunk_id: uuid.UUID) -> Chunk:
        """One chunk, of a document in the trash or not. Raises NotFoundError."""
        found = self._workspace.store.chunks.get([chunk_id])
        if not found:
            raise errors.NotFoundError(
                f"There is no chunk {chunk_id}. Search again: its document may have been re-read."
            )
        return found[0][0]

"""Documents that were files in mails or archives (their containers), and where they belong."""

import builtins
import uuid
from collections.abc import Sequence

from psycopg.types.json import Jsonb

from rag import types
from rag.store.library.documents import to_document, unknown
from rag.store.server.database import Queries, UserDatabase


class Attachments:
    """The columns of a user's `documents` that relate attachments and containers."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "attachments")

    def set_parts(self, document_id: uuid.UUID, parts: Sequence[types.Part]) -> None:
        """Save what became of the files in a container. Raises NotFoundError."""
        values = Jsonb([part.model_dump(mode="json") for part in parts])
        if not self._queries.write("set_parts", document_id=document_id, parts=values):
            raise unknown(document_id)

    def of(self, *container_ids: uuid.UUID) -> builtins.list[types.Document]:
        """Return the attachments of containers in their order, in the trash or not, without their `pages`."""
        return [to_document(row) for row in self._queries.all("of", ids=[*container_ids])]

    def outermost(self, document_id: uuid.UUID) -> uuid.UUID:
        """Return the outermost container around a document; the document itself if it is in none."""
        containers = self._queries.all("containers", document_id=document_id)
        return uuid.UUID(str(containers[-1]["id"])) if containers else document_id

    def unpacked(self, document_id: uuid.UUID) -> types.Unpacked:
        """Return how deep a document is nested, and what else was unpacked from its outermost container."""
        containers = [row["id"] for row in self._queries.all("containers", document_id=document_id)]
        if not containers:
            return types.Unpacked()
        inside = self._queries.one("unpacked", document_id=document_id, container_id=containers[-1])
        return types.Unpacked(depth=len(containers), **(inside or {}))

    def match_trash_state(self, container_id: uuid.UUID, added: Sequence[uuid.UUID]) -> None:
        """Move new attachments to the trash if their container is there, else out of it."""
        self._queries.write("match_trash_state", container_id=container_id, ids=[*added])

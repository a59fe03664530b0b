"""Files that were in others: mails and archives are their containers, and what happens to these happens to them."""

import builtins
import uuid
from collections.abc import Sequence

from psycopg.types.json import Jsonb

from rag.store.library.documents import to_document, unknown
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import Document, Part, Unpacked


class Parts:
    """What a user's rows of the table `documents` tell of what is in what."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("parts")

    def tell(self, document_id: uuid.UUID, parts: Sequence[Part]) -> None:
        """Keep what became of the files in a document. Raises NotFoundError."""
        told = Jsonb([part.model_dump(mode="json") for part in parts])
        if not self._database.write(self._queries["tell"], {"document_id": document_id, "parts": told}):
            raise unknown(document_id)

    def of(self, *container_ids: uuid.UUID) -> builtins.list[Document]:
        """The documents that were taken out of these, in the trash or not, in their order, without their `pages`."""
        return [to_document(row) for row in self._database.all(self._queries["of"], {"ids": [*container_ids]})]

    def outermost(self, document_id: uuid.UUID) -> uuid.UUID:
        """The container that a document and all others around it are in; itself if it is in none."""
        containers = self._database.all(self._queries["containers"], {"document_id": document_id})
        return uuid.UUID(str(containers[-1]["id"])) if containers else document_id

    def unpacked(self, document_id: uuid.UUID) -> Unpacked:
        """How deep a document is in others, and what else was taken out of the outermost of them."""
        keys = {"document_id": document_id}
        containers = [row["id"] for row in self._database.all(self._queries["containers"], keys)]
        if not containers:
            return Unpacked()
        inside = self._database.one(self._queries["unpacked"], {**keys, "container_id": containers[-1]})
        return Unpacked(depth=len(containers), **(inside or {}))

    def settle(self, container_id: uuid.UUID, added: Sequence[uuid.UUID]) -> None:
        """Put what was `added` to a container where this is: in the trash, or not."""
        self._database.write(self._queries["settle"], {"container_id": container_id, "ids": [*added]})

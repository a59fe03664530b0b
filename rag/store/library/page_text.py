"""The text of whole pages, put together from the chunks on them, and what stands on which."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from rag.store.search import line_encoding as packing
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import Landmark


class Pages:
    """The pages of a user's documents."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("chunks")

    def texts(self, document_id: uuid.UUID) -> dict[int, str]:
        """The text of each page of a document that has any, as the passage of `chunks.page_lines` has it."""
        pages: dict[int, dict[tuple[object, ...], Mapping[str, Any]]] = {}
        for row in self._database.all(self._queries["texts"], {"document_id": document_id}):
            for line in packing.unpack_rows(row["content"], row["lines"]):
                pages.setdefault(line["page_number"], {}).setdefault((line["number"], line["text"], line["bbox"]), line)
        return {number: packing.joined(lines.values()) for number, lines in sorted(pages.items())}

    def landmarks(self, document_id: uuid.UUID, names: Iterable[str]) -> list[Landmark]:
        """A document's landmarks of these names, by name and page; none of one in the trash."""
        rows = self._database.all(self._queries["landmarks"], {"document_id": document_id, "names": [*names]})
        return [Landmark(**row) for row in rows]

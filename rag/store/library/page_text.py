"""The text of whole pages, put together from their chunks, and the landmarks on them."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from rag import types
from rag.store.search import line_encoding
from rag.store.server.database import Queries, UserDatabase


class Pages:
    """The pages of a user's documents."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "chunks")

    def texts(self, document_id: uuid.UUID) -> dict[int, str]:
        """Return the text of each page that has any, with the lines of `Chunks.page_lines`."""
        pages: dict[int, dict[tuple[object, ...], Mapping[str, Any]]] = {}
        for row in self._queries.all("texts", document_id=document_id):
            for line in line_encoding.unpack_rows(row["content"], row["lines"]):
                pages.setdefault(line["page_number"], {}).setdefault((line["number"], line["text"], line["bbox"]), line)
        return {number: line_encoding.join_rows(lines.values()) for number, lines in sorted(pages.items())}

    def landmarks(self, document_id: uuid.UUID, names: Iterable[str]) -> list[types.Landmark]:
        """Return a document's landmarks of these names by name and page; none of a document in the trash."""
        return [
            types.Landmark(**row) for row in self._queries.all("landmarks", document_id=document_id, names=[*names])
        ]

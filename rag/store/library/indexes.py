"""Named collections of documents, each with one embedding space."""

import builtins
import shlex
import uuid
from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors
from rag.store.server import named_queries
from rag.store.server.database import Row, UserDatabase
from rag.types import ChunkingOptions, EmbeddingSpace, Index, IndexStats


class Indexes:
    """A user's rows of the table `indexes`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("indexes")

    def ensure(self, name: str, space: EmbeddingSpace, chunking: ChunkingOptions) -> Index:
        """The index called `name`, made if there is none; an empty one takes on `space` and `chunking`.

        Raises:
            errors.IndexError: it has documents, and their vectors are of another space.
        """
        parameters = self._database.bind(
            {"id": uuid.uuid4(), "name": name, **space.model_dump(), **chunking.model_dump()}
        )
        with self._database.transaction() as connection:
            for created in connection.execute(self._queries["create"], parameters).fetchall():
                connection.execute(self._queries["add_generation"], {**parameters, "index_id": created["id"]})
            row = connection.execute(self._queries["lock_by_name"], parameters).fetchone()
            if row is None:  # deleted by another in this very moment
                raise errors.NotFoundError(f"The index {name!r} has just been deleted. Try again.")
            parameters["index_id"] = row["id"]
            if to_index(row).space != space:
                occupied = connection.execute(self._queries["has_documents"], parameters).fetchone()
                if occupied and occupied["present"]:
                    raise _another_space(to_index(row), space)
                connection.execute(self._queries["delete_generations"], parameters)
                row = connection.execute(self._queries["change_space"], parameters).fetchone() or row
                connection.execute(self._queries["add_generation"], parameters)
            if to_index(row).chunking != chunking:
                row = connection.execute(self._queries["change_chunking"], parameters).fetchone() or row
        return to_index(row)

    def get(self, name: str) -> Index:
        """The index called `name`. Raises NotFoundError."""
        return _named(self._database.one(self._queries["get"], {"name": name}), name)

    def find(self, name: str) -> Index:
        """The index of this name or id. Raises NotFoundError."""
        return _named(self._database.one(self._queries["find"], {"name": name, "id": _as_id(name)}), name)

    def get_by_id(self, index_id: uuid.UUID) -> Index:
        """The index with this id. Raises NotFoundError."""
        row = self._database.one(self._queries["get_by_id"], {"index_id": index_id})
        return _found(row, f"There is no index {index_id}. List the indexes and check the id.")

    def list(self) -> list[Index]:
        """All indexes of a user by name."""
        return [to_index(row) for row in self._database.all(self._queries["list"], {})]

    def follow(self, index_id: uuid.UUID, folder: str, request: Mapping[str, Any]) -> None:
        """Remember that an index follows a folder, and what was asked for then: JSON without secrets."""
        parameters = {"index_id": index_id, "folder": folder, "request": Jsonb(dict(request))}
        self._database.write(self._queries["follow"], parameters)

    def followed(self, index_id: uuid.UUID) -> builtins.list[Mapping[str, Any]]:
        """What was asked for each folder that an index follows."""
        return [row["request"] for row in self._database.all(self._queries["followed"], {"index_id": index_id})]

    def delete(self, index_id: uuid.UUID) -> None:
        """Remove an index with its documents, chunks and conversations for good; files are the caller's.

        Raises:
            errors.NotFoundError: there is no such index.
        """
        with self._database.transaction(long=True) as connection:
            deleted = connection.execute(self._queries["delete"], self._database.bind({"index_id": index_id}))
            gone = deleted.fetchall()
        if not gone:
            raise errors.NotFoundError(f"There is no index {index_id}. List the indexes and check the id.")

    def stats(self, index_id: uuid.UUID) -> IndexStats:
        """What an index holds. Raises NotFoundError."""
        index = self.get_by_id(index_id)
        counts = self._database.one(self._queries["stats"], {"index_id": index_id}) or {}
        stored_chunks = counts.pop("stored_chunks")
        row_bytes = self._row_bytes(f"data_document_chunks_{index.space.dimensions}")
        share = stored_chunks * row_bytes + counts.pop("stored_lexemes") * LEXEME_BYTES
        rows = self._database.all(self._queries["languages"], {"index_id": index_id})
        languages = {row["language"]: row["chunks"] for row in rows}
        return IndexStats(index=index, database_bytes=round(share), languages=languages, **counts)

    def _row_bytes(self, table_name: str) -> float:
        row = self._database.one(self._queries["table_size"], {"table_name": table_name})
        return float(row["row_bytes"]) if row else 0.0


LEXEME_BYTES = 44.0
"""What an occurrence of a term takes in `postings` on average, with its share of rows and keys."""


def to_index(row: Mapping[str, Any]) -> Index:
    """A row of `indexes`."""
    return Index(
        id=row["id"],
        user_id=row["user_id"],
        name=row["name"],
        space=EmbeddingSpace(provider=row["provider"], model=row["model"], dimensions=row["dimensions"]),
        chunking=ChunkingOptions(
            chunk_size_chars=row["chunk_size_chars"],
            chunk_overlap_chars=row["chunk_overlap_chars"],
            min_chunk_chars=row["min_chunk_chars"],
        ),
        generation=row["generation"],
        created_at=row["created_at"],
    )


def _as_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _named(row: Row | None, name: str) -> Index:
    return _found(row, f"There is no index {name!r}. List the indexes and check the name.")


def _found(row: Row | None, message: str) -> Index:
    if row is None:
        raise errors.NotFoundError(message)
    return to_index(row)


def _another_space(index: Index, space: EmbeddingSpace) -> errors.IndexError:
    return errors.IndexError(
        f"The index {index.name!r} was embedded with {_spell(index.space)}, not with {_spell(space)}, and vectors of "
        f"two models cannot be compared. Set RAG_EMBED_MODEL={index.space.name} to keep its model, or re-index it: "
        f"pagelight reembed --index {shlex.quote(index.name)} --model {shlex.quote(space.name)}.",
        details={"index": index.name, "stored": index.space.model_dump(), "asked": space.model_dump()},
    )


def _spell(space: EmbeddingSpace) -> str:
    return f"{space.name} ({space.dimensions} dimensions)"

"""Indexes: named collections of documents, each with one embedding space, and their statistics and problems."""

import builtins
import itertools
import shlex
import uuid
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.files import pending_deletions
from rag.store.server.database import Queries, UserDatabase

LEXEME_BYTES = 44.0
"""Average size of an occurrence of a term in `postings`, with its share of rows and keys."""
MAX_WORDLESS = 50
"""Maximum of reported documents that have pages without text, and of reported pages of each."""


class Indexes:
    """A user's rows of the table `indexes`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "indexes")

    def ensure(self, name: str, space: types.EmbeddingSpace, chunking: types.ChunkingOptions) -> types.Index:
        """Return the index called `name`, created if there is none; an empty one takes on `space` and `chunking`.

        Raises IndexError.
        """
        name = types.without_direction_controls(name)
        values: dict[str, Any] = {"id": uuid.uuid4(), "name": name, **space.model_dump(), **chunking.model_dump()}
        with self._database.transaction() as connection:
            for created in self._queries.run(connection, "create", **values).fetchall():
                self._queries.run(connection, "add_generation", **values, index_id=created["id"])
            row = self._queries.run(connection, "lock_by_name", **values).fetchone()
            if row is None:  # deleted by another process at this moment
                raise errors.NotFoundError(N_("The index {name} has just been deleted. Try again."), name=repr(name))
            values["index_id"] = row["id"]
            if to_index(row).space != space:
                occupied = self._queries.run(connection, "has_documents", **values).fetchone()
                if occupied and occupied["present"]:
                    raise _space_mismatch(to_index(row), space)
                self._queries.run(connection, "delete_generations", **values)
                row = self._queries.run(connection, "change_space", **values).fetchone() or row
                self._queries.run(connection, "add_generation", **values)
            if to_index(row).chunking != chunking:
                row = self._queries.run(connection, "change_chunking", **values).fetchone() or row
        return to_index(row)

    def get(self, name: str) -> types.Index:
        """Return the index called `name`. Raises NotFoundError."""
        name = types.without_direction_controls(name)
        return to_index(self._queries.get("get", _unknown_name(name), name=name))

    def find(self, name: str) -> types.Index:
        """Return the index of this name or id. Raises NotFoundError."""
        try:
            index_id = uuid.UUID(name)
        except ValueError:
            return self.get(name)
        return to_index(self._queries.get("find", _unknown_name(name), name=name, id=index_id))

    def get_by_id(self, index_id: uuid.UUID) -> types.Index:
        """Return the index with this id. Raises NotFoundError."""
        return to_index(self._queries.get("get_by_id", unknown_index(index_id), index_id=index_id))

    def list(self) -> list[types.Index]:
        """Return all indexes of the user by name."""
        return [to_index(row) for row in self._queries.all("list")]

    def follow(self, index_id: uuid.UUID, folder: str, request: Mapping[str, Any]) -> None:
        """Save that an index follows a folder, and the request for it: JSON without secrets."""
        self._queries.write("follow", index_id=index_id, folder=folder, request=Jsonb(dict(request)))

    def followed(self, index_id: uuid.UUID) -> builtins.list[Mapping[str, Any]]:
        """Return the requests for the folders that an index follows."""
        return [row["request"] for row in self._queries.all("followed", index_id=index_id)]

    def delete(self, index_id: uuid.UUID) -> None:
        """Delete an index with its documents, chunks and conversations; the caller deletes the files.

        Matrices and templates that were shared with it are their owner's alone.

        Raises NotFoundError.
        """
        with self._database.transaction(long=True) as connection:
            if not self._queries.run(connection, "lock", index_id=index_id).fetchall():
                raise unknown_index(index_id)
            pending_deletions.delete_documents_of_index(self._database, connection, index_id)
            for statement in ("unshare", "unshare_templates"):
                Queries(self._database, "matrices").run(connection, statement, index_id=index_id)
            self._queries.run(connection, "delete", index_id=index_id)

    def stats(self, index_id: uuid.UUID) -> types.IndexStats:
        """Return the numbers of documents and chunks of an index, and its size. Raises NotFoundError."""
        index = self.get_by_id(index_id)
        counts = self._queries.one("stats", index_id=index_id) or {}
        row_bytes = self._queries.value("table_size", table_name=f"data_document_chunks_{index.space.dimensions}")
        chunk_bytes = counts.pop("stored_chunks") * float(row_bytes or 0.0)
        database_bytes = round(chunk_bytes + counts.pop("stored_lexemes") * LEXEME_BYTES)
        languages = {row["language"]: row["chunks"] for row in self._queries.all("languages", index_id=index_id)}
        return types.IndexStats(index=index, database_bytes=database_bytes, languages=languages, **counts)

    def wordless(self, index_id: uuid.UUID) -> types.WordlessSummary:
        """Return the pages of ready documents that have no chunk."""
        rows = self._queries.all("wordless", index_id=index_id, most=MAX_WORDLESS, most_pages=MAX_WORDLESS)
        if not rows:
            return types.WordlessSummary()
        totals = [(row.pop("all_documents"), row.pop("all_pages")) for row in rows]
        documents, pages = totals[0]
        worst = tuple(types.WordlessPages(**row) for row in rows)
        return types.WordlessSummary(documents=documents, pages=pages, worst=worst)

    def findings(
        self, index_id: uuid.UUID, *, kind: types.FindingKind | None = None, most: int = 5
    ) -> builtins.list[types.HealthFinding]:
        """Return problems of the documents, of one `kind` or all, each with up to `most` documents."""
        rows = self._queries.all(
            "findings", index_id=index_id, kind=kind, most=most, max_loss=types.MAX_NEGLIGIBLE_LOSS
        )
        return [
            types.HealthFinding(kind=kind, count=count, documents=tuple(map(_ailing_document, documents)))
            for (kind, count), documents in itertools.groupby(rows, key=itemgetter("kind", "count"))
        ]


def to_index(row: Mapping[str, Any]) -> types.Index:
    """Make an index of a row of `indexes`."""
    columns = {name: row[name] for name in ("id", "user_id", "name", "generation", "created_at")}
    space = types.EmbeddingSpace(**{name: row[name] for name in types.EmbeddingSpace.model_fields})
    chunking = types.ChunkingOptions(**{name: row[name] for name in types.ChunkingOptions.model_fields})
    return types.Index(**columns, space=space, chunking=chunking)


def unknown_index(index_id: object) -> errors.NotFoundError:
    """Return the error for an id that no index of the user has."""
    return errors.NotFoundError(N_("There is no index {id}. List the indexes and check the id."), id=index_id)


def _unknown_name(name: str) -> errors.NotFoundError:
    return errors.NotFoundError(N_("There is no index {name}. List the indexes and check the name."), name=repr(name))


def _space_mismatch(index: types.Index, space: types.EmbeddingSpace) -> errors.IndexError:
    stored, wanted = (f"{model.name} ({model.dimensions} dimensions)" for model in (index.space, space))
    return errors.IndexError(
        N_(
            "The index {name} was embedded with {model}, not with {other}, and vectors of two models cannot be "
            "compared. Set {setting} to keep its model, or re-index it: {command}"
        ),
        name=repr(index.name),
        model=stored,
        other=wanted,
        setting=f"RAG_EMBED_MODEL={index.space.name}",
        command=f"pagelight reembed --index {shlex.quote(index.name)} --model {shlex.quote(space.name)}.",
        details={"index": index.name, "stored": index.space.model_dump(), "asked": space.model_dump()},
    )


def _ailing_document(row: Mapping[str, Any]) -> types.AilingDocument:
    details = {
        "failed": {"error": row["error"]},
        "vectors": {"missing_vectors": row["missing_vectors"]},
        "pages": {"failed_pages": row["failed_pages"]},
        "incomplete": {"completeness": row["completeness"] and types.Completeness.model_validate(row["completeness"])},
    }.get(row["kind"], {})
    return types.AilingDocument(document_id=row["document_id"], name=row["name"], **details)


class SavedFilters:
    """A user's rows of the table `saved_filters`."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "saved_filters")

    def list(self) -> builtins.list[types.SavedFilter]:
        """Return all saved filters in alphabetical order."""
        return [types.SavedFilter(**row) for row in self._queries.all("list")]

    def get(self, name: str) -> types.SavedFilter:
        """Return a saved filter. Raises NotFoundError."""
        return types.SavedFilter(**self._queries.get("get", _unknown(name), name=name))

    def put(self, name: str, filters: types.Filters) -> None:
        """Save filters under a name, replacing earlier ones."""
        self._queries.write("put", name=name, filters=Jsonb(filters.model_dump(mode="json", exclude_defaults=True)))

    def delete(self, name: str) -> None:
        """Delete a saved filter. Raises NotFoundError."""
        self._queries.change("delete", _unknown(name), name=name)


def _unknown(name: str) -> errors.NotFoundError:
    return errors.NotFoundError(
        N_("There is no saved filter “{name}”. List the saved filters and check the name."), name=name
    )

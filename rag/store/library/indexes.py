"""Indexes: named collections of documents, each with one embedding space, and their statistics and problems."""

import builtins
import itertools
import shlex
import uuid
from collections.abc import Mapping
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pgvector
from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.server import named_queries
from rag.store.server.database import Queries, UserDatabase

LEXEME_BYTES = 44.0
"""Average size of an occurrence of a term in `postings`, with its share of rows and keys."""
GROWTH_STEPS = 120
BANDS_TO_LIMIT = 12
"""Number of length bands up to the chunk size limit, and again beyond it."""
MAX_WORDLESS = 50
"""Maximum of reported documents that have pages without text, and of reported pages of each."""
BEGINNING_CHARS = 120


class IndexVersion(NamedTuple):
    """The version of an index: `content` changes whenever its documents do."""

    generation: int
    dimensions: int
    chunk_size_chars: int
    content: str | None


class VectorSample(NamedTuple):
    """Some chunks of an index, their vectors (chunks, dimensions) in the same order, and the number of all vectors."""

    points: list[types.MapPoint]
    vectors: npt.NDArray[Any]
    chunks: int


class Indexes:
    """A user's rows of the table `indexes`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "indexes")

    def ensure(self, name: str, space: types.EmbeddingSpace, chunking: types.ChunkingOptions) -> types.Index:
        """Return the index called `name`, created if there is none; an empty one takes on `space` and `chunking`.

        Raises:
            errors.IndexError: it has documents with vectors of another space.
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

        Raises:
            errors.NotFoundError: there is no such index.
        """
        with self._database.transaction(long=True) as connection:
            deleted = self._queries.run(connection, "delete", index_id=index_id).fetchall()
        if not deleted:
            raise unknown_index(index_id)

    def stats(self, index_id: uuid.UUID) -> types.IndexStats:
        """Return the numbers of documents and chunks of an index, and its size. Raises NotFoundError."""
        index = self.get_by_id(index_id)
        counts = self._queries.one("stats", index_id=index_id) or {}
        size = self._queries.one("table_size", table_name=f"data_document_chunks_{index.space.dimensions}")
        chunk_bytes = counts.pop("stored_chunks") * (float(size["row_bytes"]) if size else 0.0)
        database_bytes = round(chunk_bytes + counts.pop("stored_lexemes") * LEXEME_BYTES)
        languages = {row["language"]: row["chunks"] for row in self._queries.all("languages", index_id=index_id)}
        return types.IndexStats(index=index, database_bytes=database_bytes, languages=languages, **counts)

    # --- statistics, computed in the database, so that nothing is loaded whole ---

    def version(self, index_id: uuid.UUID) -> IndexVersion:
        """Return the version of an index. Raises NotFoundError."""
        return IndexVersion(**self._queries.get("version", unknown_index(index_id), index_id=index_id))

    def growth(self, index_id: uuid.UUID) -> builtins.list[types.Growth]:
        """Return how the present content was added over time, in up to `GROWTH_STEPS` steps."""
        return [types.Growth(**row) for row in self._queries.all("growth", index_id=index_id, steps=GROWTH_STEPS)]

    def lengths(self, index_id: uuid.UUID) -> builtins.list[types.LengthBand]:
        """Return the number of chunks by length, shortest first, without empty bands."""
        width = max(self.version(index_id).chunk_size_chars // BANDS_TO_LIMIT, 1)
        last = 2 * BANDS_TO_LIMIT
        return [
            types.LengthBand(
                start=row["band"] * width,
                end=None if row["band"] == last else (row["band"] + 1) * width,
                chunks=row["chunks"],
            )
            for row in self._queries.all("lengths", index_id=index_id, width=width, last=last)
        ]

    def wordless(self, index_id: uuid.UUID) -> types.WordlessSummary:
        """Return the pages of ready documents that have no chunk."""
        rows = self._queries.all("wordless", index_id=index_id, most=MAX_WORDLESS, most_pages=MAX_WORDLESS)
        if not rows:
            return types.WordlessSummary()
        totals = [(row.pop("all_documents"), row.pop("all_pages")) for row in rows]
        documents, pages = totals[0]
        worst = tuple(types.WordlessPages(**row) for row in rows)
        return types.WordlessSummary(documents=documents, pages=pages, worst=worst)

    def sample(self, index_id: uuid.UUID, most: int) -> VectorSample:
        """Return up to `most` chunks, not yet placed on a map; the same chunks as long as the index is the same."""
        dimensions = self.version(index_id).dimensions
        count = self._queries.all("vectors", index_id=index_id)[0]["chunks"]
        statement = self._queries["sample"].format(chunks=named_queries.chunk_table(dimensions))
        # Without vectors there may be no table of these dimensions yet.
        rows = self._queries.all(statement, index_id=index_id, most=most, characters=BEGINNING_CHARS) if count else []
        vectors = [pgvector.Vector.from_text(row.pop("embedding")).to_numpy() for row in rows]
        stacked = np.stack(vectors) if vectors else np.zeros((0, dimensions), np.float32)
        return VectorSample([types.MapPoint(**row, x=0.0, y=0.0) for row in rows], stacked, count)

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

"""Statistics of an index, computed in the database, so that nothing is loaded whole."""

import itertools
import uuid
from collections.abc import Mapping
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pgvector

from rag import types
from rag.store.library.indexes import unknown_index
from rag.store.server import named_queries
from rag.store.server.database import Queries, Row, UserDatabase

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


class IndexStatistics:
    """Statistics of a user's indexes."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "index_statistics")

    def version(self, index_id: uuid.UUID) -> IndexVersion:
        """Return the version of an index. Raises NotFoundError."""
        row = self._queries.one("version", index_id=index_id)
        if row is None:
            raise unknown_index(index_id)
        return IndexVersion(**row)

    def growth(self, index_id: uuid.UUID) -> list[types.Growth]:
        """Return how the present content was added over time, in up to `GROWTH_STEPS` steps."""
        return [types.Growth(**row) for row in self._queries.all("growth", index_id=index_id, steps=GROWTH_STEPS)]

    def lengths(self, index_id: uuid.UUID) -> list[types.LengthBand]:
        """Return the number of chunks by length, shortest first, without empty bands."""
        width = max(self.version(index_id).chunk_size_chars // BANDS_TO_LIMIT, 1)
        last = 2 * BANDS_TO_LIMIT
        rows = self._queries.all("lengths", index_id=index_id, width=width, last=last)
        return [_band(row, width, last) for row in rows]

    def wordless(self, index_id: uuid.UUID) -> types.WordlessSummary:
        """Return the pages of ready documents that have no chunk."""
        rows = self._queries.all("wordless", index_id=index_id, most=MAX_WORDLESS, most_pages=MAX_WORDLESS)
        if not rows:
            return types.WordlessSummary()
        totals = [(row.pop("all_documents"), row.pop("all_pages")) for row in rows]
        documents, pages = totals[0]
        return types.WordlessSummary(
            documents=documents, pages=pages, worst=tuple(types.WordlessPages(**row) for row in rows)
        )

    def sample(self, index_id: uuid.UUID, most: int) -> VectorSample:
        """Return up to `most` chunks, not yet placed on a map; the same chunks as long as the index is the same."""
        dimensions = self.version(index_id).dimensions
        counted = self._queries.one("vectors", index_id=index_id) or {"chunks": 0}
        if not counted["chunks"]:
            return VectorSample([], np.zeros((0, dimensions), np.float32), 0)
        statement = self._queries["sample"].format(chunks=named_queries.chunk_table(dimensions))
        rows = self._queries.all(statement, index_id=index_id, most=most, characters=BEGINNING_CHARS)
        vectors = [pgvector.Vector.from_text(row.pop("embedding")).to_numpy() for row in rows]
        stacked = np.stack(vectors) if vectors else np.zeros((0, dimensions), np.float32)
        return VectorSample([types.MapPoint(**row, x=0.0, y=0.0) for row in rows], stacked, counted["chunks"])

    def findings(
        self, index_id: uuid.UUID, *, kind: types.FindingKind | None = None, most: int = 5
    ) -> list[types.HealthFinding]:
        """Return problems of the documents, of one `kind` or all, each with up to `most` documents."""
        limits = {"max_loss": types.MAX_NEGLIGIBLE_LOSS, "max_word_errors": types.MAX_WORD_ERROR_SHARE}
        rows = self._queries.all("findings", index_id=index_id, kind=kind, most=most, **limits)
        grouped = itertools.groupby(rows, key=itemgetter("kind", "count"))
        return [
            types.HealthFinding(kind=found, count=count, documents=tuple(map(_ailing, ailing)))
            for (found, count), ailing in grouped
        ]


def _band(row: Row, width: int, last: int) -> types.LengthBand:
    start = row["band"] * width
    return types.LengthBand(start=start, end=None if row["band"] == last else start + width, chunks=row["chunks"])


def _ailing(row: Mapping[str, Any]) -> types.AilingDocument:
    details = {
        "failed": {"error": row["error"]},
        "vectors": {"missing_vectors": row["missing_vectors"]},
        "pages": {"failed_pages": row["failed_pages"]},
        "incomplete": {"completeness": row["completeness"] and types.Completeness.model_validate(row["completeness"])},
    }.get(row["kind"], {})
    return types.AilingDocument(document_id=row["document_id"], name=row["name"], **details)

"""What an index is made of, counted in the database: nothing is loaded whole, however large it is."""

import itertools
import uuid
from collections.abc import Mapping
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pgvector

from rag import errors
from rag.store.server import named_queries
from rag.store.server.database import Row, UserDatabase
from rag.types import (
    AilingDocument,
    Completeness,
    FindingKind,
    Growth,
    HealthFinding,
    LengthBand,
    MapPoint,
    WordlessPages,
    WordlessSummary,
)

GROWTH_STEPS = 120
BANDS_TO_LIMIT = 12
"""So many bands of length up to the size that chunks are cut to, and as many beyond it."""
MAX_WORDLESS = 50
"""Documents with pages without text that are told of, and the numbers of pages of each."""
BEGINNING_CHARS = 120


class IndexVersion(NamedTuple):
    """An index as it is now: another `content` as soon as it holds anything else."""

    generation: int
    dimensions: int
    chunk_size_chars: int
    content: str | None


class VectorSample(NamedTuple):
    """Some chunks of an index, their vectors (chunks, dimensions) in the same order, and how many have one in all."""

    points: list[MapPoint]
    vectors: npt.NDArray[Any]
    chunks: int


class IndexStatistics:
    """A user's documents and chunks, counted."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("surveys")

    def stamp(self, index_id: uuid.UUID) -> IndexVersion:
        """An index as it is now. Raises NotFoundError."""
        row = self._database.one(self._queries["stamp"], {"index_id": index_id})
        if row is None:
            raise errors.NotFoundError(f"There is no index {index_id}. List the indexes and check the id.")
        return IndexVersion(**row)

    def growth(self, index_id: uuid.UUID) -> list[Growth]:
        """How what it holds now came together, in up to `GROWTH_STEPS` steps."""
        parameters = {"index_id": index_id, "steps": GROWTH_STEPS}
        return [Growth(**row) for row in self._database.all(self._queries["growth"], parameters)]

    def lengths(self, index_id: uuid.UUID) -> list[LengthBand]:
        """How many chunks there are of each length, shortest first; bands without any are left out."""
        width = max(self.stamp(index_id).chunk_size_chars // BANDS_TO_LIMIT, 1)
        last = 2 * BANDS_TO_LIMIT
        rows = self._database.all(self._queries["lengths"], {"index_id": index_id, "width": width, "last": last})
        return [_band(row, width, last) for row in rows]

    def wordless(self, index_id: uuid.UUID) -> WordlessSummary:
        """The pages of ready documents that no chunk stands on."""
        parameters = {"index_id": index_id, "most": MAX_WORDLESS, "most_pages": MAX_WORDLESS}
        rows = self._database.all(self._queries["wordless"], parameters)
        if not rows:
            return WordlessSummary()
        totals = [(row.pop("all_documents"), row.pop("all_pages")) for row in rows]
        documents, pages = totals[0]
        return WordlessSummary(documents=documents, pages=pages, worst=tuple(WordlessPages(**row) for row in rows))

    def sample(self, index_id: uuid.UUID, most: int) -> VectorSample:
        """Up to `most` chunks, the same ones as long as the index is the same; without a place on any map so far."""
        dimensions = self.stamp(index_id).dimensions
        counted = self._database.one(self._queries["vectors"], {"index_id": index_id}) or {"chunks": 0}
        if not counted["chunks"]:
            return VectorSample([], np.zeros((0, dimensions), np.float32), 0)
        statement = self._queries["sample"].format(chunks=named_queries.chunk_table(dimensions))
        parameters = {"index_id": index_id, "most": most, "characters": BEGINNING_CHARS}
        rows = self._database.all(statement, parameters)
        vectors = [pgvector.Vector.from_text(row.pop("embedding")).to_numpy() for row in rows]
        stacked = np.stack(vectors) if vectors else np.zeros((0, dimensions), np.float32)
        return VectorSample([MapPoint(**row, x=0.0, y=0.0) for row in rows], stacked, counted["chunks"])

    def findings(self, index_id: uuid.UUID, *, kind: FindingKind | None = None, most: int = 5) -> list[HealthFinding]:
        """What is amiss with its documents, or of one `kind`; each with `most` of the documents at most."""
        parameters = {"index_id": index_id, "kind": kind, "most": most}
        rows = self._database.all(self._queries["findings"], parameters)
        grouped = itertools.groupby(rows, key=itemgetter("kind", "count"))
        return [
            HealthFinding(kind=found, count=count, documents=tuple(map(_ailing, ailing)))
            for (found, count), ailing in grouped
        ]


def _band(row: Row, width: int, last: int) -> LengthBand:
    start = row["band"] * width
    return LengthBand(start=start, end=None if row["band"] == last else start + width, chunks=row["chunks"])


def _ailing(row: Mapping[str, Any]) -> AilingDocument:
    told = {
        "failed": {"error": row["error"]},
        "vectors": {"missing_vectors": row["missing_vectors"]},
        "pages": {"failed_pages": row["failed_pages"]},
        "incomplete": {"completeness": row["completeness"] and Completeness.model_validate(row["completeness"])},
    }.get(row["kind"], {})
    return AilingDocument(document_id=row["document_id"], name=row["name"], **told)

"""What an index is made of, in figures for charts, and a map of its chunks."""

import uuid

from rag import errors, retrieval
from rag.engine.library.documents import Documents
from rag.engine.workspace import Workspace
from rag.types import (
    DEFAULT_INDEX,
    REPAIRABLE,
    EmbeddingMap,
    FindingKind,
    Growth,
    HealthFinding,
    LengthBand,
    WordlessSummary,
)

MOST_POINTS = 2000
"""Of more chunks a map shows a sample: a screen has no room for more, and a browser not the time."""


class IndexStatistics:
    """One user's indexes, looked at as a whole."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def stamp(self, index_name: str = DEFAULT_INDEX) -> str:
        """The same as long as the index holds the same, so that what was worked out of it can be kept."""
        index = self._workspace.asked_index(index_name)
        return ":".join(map(str, (index.id, *self._workspace.store.index_statistics.version(index.id))))

    def growth(self, index_name: str = DEFAULT_INDEX) -> list[Growth]:
        """How what the index holds now came together; of a large one in steps."""
        return self._workspace.store.index_statistics.growth(self._workspace.asked_index(index_name).id)

    def lengths(self, index_name: str = DEFAULT_INDEX) -> list[LengthBand]:
        """How many chunks there are of each length in characters, shortest first."""
        return self._workspace.store.index_statistics.lengths(self._workspace.asked_index(index_name).id)

    def wordless(self, index_name: str = DEFAULT_INDEX) -> WordlessSummary:
        """Pages of ready documents on which no chunk has a line, and the documents that have the most of them."""
        return self._workspace.store.index_statistics.wordless(self._workspace.asked_index(index_name).id)

    def map(self, index_name: str = DEFAULT_INDEX, *, most: int = MOST_POINTS) -> EmbeddingMap:
        """Chunks laid out by their vectors; of more than `most` a sample, which is the same every time."""
        sampled = self._workspace.store.index_statistics.sample(self._workspace.asked_index(index_name).id, most)
        projection = retrieval.principal_plane(sampled.vectors)
        placed = (
            point.model_copy(update={"x": float(x), "y": float(y)})
            for point, (x, y) in zip(sampled.points, projection.places, strict=True)
        )
        return EmbeddingMap(points=tuple(placed), chunks=sampled.chunks, spread=projection.spread)


MOST_MENDED = 1000
"""Documents that are lined up at once; the rest is still found afterwards."""


class HealthChecks:
    """One user's indexes, looked through for what is amiss."""

    def __init__(self, workspace: Workspace, documents: Documents) -> None:
        self._workspace = workspace
        self._documents = documents

    def findings(self, index_name: str = DEFAULT_INDEX) -> list[HealthFinding]:
        """What is amiss with documents of an index, each with the first of them; none of those being read just now."""
        return self._workspace.store.index_statistics.findings(self._workspace.asked_index(index_name).id)

    def mend(self, kind: FindingKind, index_name: str = DEFAULT_INDEX) -> list[uuid.UUID]:
        """Have a worker read the documents of a finding again; until then they are found as they are. Returns which.

        Raises:
            errors.ValidationError: what only their owner can do something about.
        """
        if kind not in REPAIRABLE:
            raise errors.ValidationError("Reading again does not help these. Give each its password.")
        index = self._workspace.asked_index(index_name)
        found = self._workspace.store.index_statistics.findings(index.id, kind=kind, most=MOST_MENDED)
        return [self._documents.retry(ailing.document_id).id for finding in found for ailing in finding.documents]

"""Statistics and health checks of indexes."""

import uuid

from rag import errors, retrieval, types
from rag.engine.library.documents import Documents
from rag.engine.workspace import Workspace
from rag.messages import N_

MAX_POINTS = 2000
"""Maximum number of points on the map; browsers cannot draw more in reasonable time."""


class IndexStatistics:
    """Figures for charts of one user's indexes, and a map of their chunks."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def stamp(self, index_name: str = types.DEFAULT_INDEX) -> str:
        """Return a version stamp of the index's content, as a cache key."""
        index = self._workspace.requested_index(index_name)
        return ":".join(map(str, (index.id, *self._workspace.store.index_statistics.version(index.id))))

    def growth(self, index_name: str = types.DEFAULT_INDEX) -> list[types.Growth]:
        """Return the growth of the index over time, in steps if it is large."""
        return self._workspace.store.index_statistics.growth(self._workspace.requested_index(index_name).id)

    def lengths(self, index_name: str = types.DEFAULT_INDEX) -> list[types.LengthBand]:
        """Return the number of chunks by length in characters, shortest first."""
        return self._workspace.store.index_statistics.lengths(self._workspace.requested_index(index_name).id)

    def wordless(self, index_name: str = types.DEFAULT_INDEX) -> types.WordlessSummary:
        """Return the pages of ready documents without text, and the documents that have the most of them."""
        return self._workspace.store.index_statistics.wordless(self._workspace.requested_index(index_name).id)

    def map(self, index_name: str = types.DEFAULT_INDEX, *, most: int = MAX_POINTS) -> types.EmbeddingMap:
        """Return chunks projected to two dimensions; a fixed sample if there are more than `most`."""
        sampled = self._workspace.store.index_statistics.sample(self._workspace.requested_index(index_name).id, most)
        projection = retrieval.principal_plane(sampled.vectors)
        placed = (
            point.model_copy(update={"x": float(x), "y": float(y)})
            for point, (x, y) in zip(sampled.points, projection.places, strict=True)
        )
        return types.EmbeddingMap(points=tuple(placed), chunks=sampled.chunks, spread=projection.spread)


MAX_REPAIRED = 1000
"""Maximum number of documents queued at once; the next check finds the rest."""


class HealthChecks:
    """Problems with the documents of one user's indexes."""

    def __init__(self, workspace: Workspace, documents: Documents) -> None:
        self._workspace = workspace
        self._documents = documents

    def findings(self, index_name: str = types.DEFAULT_INDEX) -> list[types.HealthFinding]:
        """Return the problems of an index, each with its first documents; documents being read are left out."""
        return self._workspace.store.index_statistics.findings(self._workspace.requested_index(index_name).id)

    def repair(self, kind: types.FindingKind, index_name: str = types.DEFAULT_INDEX) -> list[uuid.UUID]:
        """Queue the documents of a finding to be read again, and return their ids. They stay searchable as they are.

        Raises ValidationError if re-reading does not help; the owner has to act.
        """
        if kind not in types.REPAIRABLE:
            raise errors.ValidationError(N_("Reading again does not help these. Give each its password."))
        index = self._workspace.requested_index(index_name)
        found = self._workspace.store.index_statistics.findings(index.id, kind=kind, most=MAX_REPAIRED)
        return [self._documents.retry(document.document_id).id for finding in found for document in finding.documents]

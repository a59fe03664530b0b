"""What is amiss in an index, and mending what can be mended by reading documents again."""

import uuid

from rag import errors
from rag.engine.library.documents import Documents
from rag.engine.workspace import Workspace
from rag.types import DEFAULT_INDEX, MENDABLE, FindingKind, HealthFinding

MOST_MENDED = 1000
"""Documents that are lined up at once; the rest is still found afterwards."""


class Checkup:
    """One user's indexes, looked through for what is amiss."""

    def __init__(self, workspace: Workspace, documents: Documents) -> None:
        self._workspace = workspace
        self._documents = documents

    def findings(self, index_name: str = DEFAULT_INDEX) -> list[HealthFinding]:
        """What is amiss with documents of an index, each with the first of them; none of those being read just now."""
        return self._workspace.store.surveys.findings(self._workspace.asked_index(index_name).id)

    def mend(self, kind: FindingKind, index_name: str = DEFAULT_INDEX) -> list[uuid.UUID]:
        """Have a worker read the documents of a finding again; until then they are found as they are. Returns which.

        Raises:
            errors.ValidationError: what only their owner can do something about.
        """
        if kind not in MENDABLE:
            raise errors.ValidationError("Reading again does not help these. Give each its password.")
        index = self._workspace.asked_index(index_name)
        found = self._workspace.store.surveys.findings(index.id, kind=kind, most=MOST_MENDED)
        return [self._documents.retry(ailing.document_id).id for finding in found for ailing in finding.documents]

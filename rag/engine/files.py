"""The files of a user's documents."""

import uuid
from pathlib import Path

from rag.engine.parts import Parts
from rag.engine.workspace import Workspace
from rag.types import Document


class Files:
    """The originals and renditions of one user's documents, and the documents that came out of mails and archives."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def original(self, document_id: uuid.UUID) -> Path:
        """The file as it was uploaded."""
        return self._workspace.files.local_path(document_id, "original")

    def rendition(self, document_id: uuid.UUID) -> Path:
        """The PDF that is parsed, shown and highlighted."""
        return self._workspace.files.local_path(document_id, "rendition")

    def parts(self, *document_ids: uuid.UUID) -> list[Document]:
        """What was taken out of mails and archives, and out of what was in these, in the trash or not."""
        return Parts(self._workspace).of(*document_ids)

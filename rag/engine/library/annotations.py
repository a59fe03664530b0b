"""A reader's own highlights and notes in documents."""

import uuid
from collections.abc import Mapping
from typing import Any

from rag import types
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace


class Annotations:
    """One user's highlights and notes; they are private, also in shared documents."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def add(self, document_id: uuid.UUID, request: types.AnnotationRequest | Mapping[str, Any]) -> types.Annotation:
        """Highlight a region, with or without a note. Raises ValidationError and NotFoundError."""
        parsed = parse(types.AnnotationRequest, request)
        regions = [types.Region(page_number=region.page_number, rects=region.rects) for region in parsed.regions]
        return self._workspace.store.annotations.add(document_id, regions, parsed.quote, parsed.note)

    def edit(self, document_id: uuid.UUID, annotation_id: uuid.UUID, note: str) -> types.Annotation:
        """Change a note. Raises ValidationError if it is too long, NotFoundError if there is no such annotation."""
        return self._workspace.store.annotations.edit(
            document_id, annotation_id, parse(types.AnnotationEdit, {"note": note}).note
        )

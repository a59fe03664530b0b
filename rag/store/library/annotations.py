"""What users mark and note in documents."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors
from rag.store.library.documents import Documents
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import Annotation, Region

MAX_ANNOTATIONS = 5000
"""Of one user in one document."""


class Annotations:
    """A user's rows of the table `annotations`, in `documents` that the user sees."""

    def __init__(self, database: UserDatabase, documents: Documents) -> None:
        self._database = database
        self._documents = documents
        self._queries = named_queries.load("annotations")

    def list(self, document_id: uuid.UUID) -> builtins.list[Annotation]:
        """Those in a document, in the order of its pages. Raises NotFoundError if the user sees no such document."""
        self._documents.get(document_id)
        rows = self._database.all(self._queries["list"], {"document_id": document_id})
        return [_to_annotation(row) for row in rows]

    def add(self, document_id: uuid.UUID, regions: Sequence[Region], quote: str, note: str) -> Annotation:
        """Mark a place.

        Raises:
            errors.NotFoundError: the user sees no such document.
            errors.ValidationError: it has as many marks as it may have.
        """
        document = self._documents.get(document_id)
        values = {
            "id": uuid.uuid4(),
            "owner": document.user_id,
            "document_id": document_id,
            "regions": Jsonb([region.model_dump(mode="json") for region in regions]),
            "quote": quote,
            "note": note,
            "most": MAX_ANNOTATIONS,
        }
        added = self._database.write(self._queries["add"], values)
        if not added:
            raise errors.ValidationError(
                f"{document.name} has {MAX_ANNOTATIONS:,} notes and highlights, which is the most. Delete some."
            )
        return _to_annotation(added[0])

    def edit(self, document_id: uuid.UUID, annotation_id: uuid.UUID, note: str) -> Annotation:
        """Change the note of a mark. Raises NotFoundError."""
        return _to_annotation(self._change("edit", document_id, annotation_id, note=note))

    def delete(self, document_id: uuid.UUID, annotation_id: uuid.UUID) -> None:
        """Remove a mark. Raises NotFoundError."""
        self._change("delete", document_id, annotation_id)

    def _change(self, name: str, document_id: uuid.UUID, annotation_id: uuid.UUID, **values: str) -> Mapping[str, Any]:
        self._documents.get(document_id)
        changed = {"document_id": document_id, "id": annotation_id, **values}
        rows = self._database.write(self._queries[name], changed)
        if not rows:
            raise errors.NotFoundError(f"There is no note {annotation_id} in this document. List its notes.")
        return rows[0]


def _to_annotation(row: Mapping[str, Any]) -> Annotation:
    return Annotation.model_validate(dict(row))

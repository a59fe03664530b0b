"""Highlights and notes of users in documents."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.library.documents import Documents
from rag.store.server.database import Queries, UserDatabase

MAX_ANNOTATIONS = 5000
"""Maximum of one user in one document."""


class Annotations:
    """A user's rows of the table `annotations`, in `documents` that the user may see."""

    def __init__(self, database: UserDatabase, documents: Documents) -> None:
        self._documents = documents
        self._queries = Queries(database, "annotations")

    def list(self, document_id: uuid.UUID) -> builtins.list[types.Annotation]:
        """Return a document's annotations in page order. Raises NotFoundError if the user may not see the document."""
        self._documents.get(document_id)
        return [_to_annotation(row) for row in self._queries.all("list", document_id=document_id)]

    def add(self, document_id: uuid.UUID, regions: Sequence[types.Region], quote: str, note: str) -> types.Annotation:
        """Add an annotation.

        Raises:
            errors.NotFoundError: the user may not see such a document.
            errors.ValidationError: the document has `MAX_ANNOTATIONS` already.
        """
        document = self._documents.get(document_id)
        added = self._queries.write(
            "add",
            id=uuid.uuid4(),
            owner=document.user_id,
            document_id=document_id,
            regions=Jsonb([region.model_dump(mode="json") for region in regions]),
            quote=quote,
            note=note,
            most=MAX_ANNOTATIONS,
        )
        if not added:
            raise errors.ValidationError(
                N_("{name} has {count} notes and highlights, which is the most. Delete some."),
                name=document.name,
                count=f"{MAX_ANNOTATIONS:,}",
            )
        return _to_annotation(added[0])

    def edit(self, document_id: uuid.UUID, annotation_id: uuid.UUID, note: str) -> types.Annotation:
        """Change the note of an annotation. Raises NotFoundError."""
        return _to_annotation(self._change("edit", document_id, annotation_id, note=note))

    def delete(self, document_id: uuid.UUID, annotation_id: uuid.UUID) -> None:
        """Delete an annotation. Raises NotFoundError."""
        self._change("delete", document_id, annotation_id)

    def _change(self, query: str, document_id: uuid.UUID, annotation_id: uuid.UUID, **values: str) -> Mapping[str, Any]:
        self._documents.get(document_id)
        rows = self._queries.write(query, document_id=document_id, id=annotation_id, **values)
        if not rows:
            raise errors.NotFoundError(N_("There is no note {id} in this document. List its notes."), id=annotation_id)
        return rows[0]


def _to_annotation(row: Mapping[str, Any]) -> types.Annotation:
    return types.Annotation.model_validate(dict(row))

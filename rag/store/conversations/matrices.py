"""Matrices: the same questions asked of several documents, and the answers in their cells."""

import builtins
import uuid
from collections.abc import Sequence

from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.library.documents import to_document
from rag.store.server.database import Queries, UserDatabase


class Matrices:
    """A user's rows of the tables `matrices` and `matrix_cells`."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "matrices")

    def create(
        self, name: str, questions: Sequence[types.MatrixQuestion], lineage_ids: Sequence[uuid.UUID]
    ) -> types.Matrix:
        """Add an empty matrix."""
        return self._write("create", uuid.uuid4(), name=name, questions=_to_json(questions), lineage_ids=[*lineage_ids])

    def list(self) -> builtins.list[types.Matrix]:
        """Return all matrices, the latest first."""
        return [types.Matrix(**row) for row in self._queries.all("list")]

    def get(self, matrix_id: uuid.UUID) -> types.Matrix:
        """Return a matrix. Raises NotFoundError."""
        return types.Matrix(**self._queries.get("get", _unknown(matrix_id), id=matrix_id))

    def set_job(self, matrix_id: uuid.UUID, job_id: uuid.UUID) -> types.Matrix:
        """Save the job that fills a matrix. Raises NotFoundError."""
        return self._write("set_job", matrix_id, job_id=job_id)

    def edit(
        self,
        matrix_id: uuid.UUID,
        *,
        name: str | None = None,
        questions: Sequence[types.MatrixQuestion] | None = None,
        lineage_ids: Sequence[uuid.UUID] | None = None,
    ) -> types.Matrix:
        """Change what is given; the answers of removed questions and documents are deleted. Raises NotFoundError."""
        return self._write(
            "edit",
            matrix_id,
            name=name,
            questions=None if questions is None else _to_json(questions),
            lineage_ids=None if lineage_ids is None else [*lineage_ids],
        )

    def open(
        self, *, matrix_id: uuid.UUID | None = None, lineage_id: uuid.UUID | None = None
    ) -> builtins.list[types.Matrix]:
        """Return matrices with cells that are missing or outdated, of one matrix, of one document, or all.

        Documents that are not ready do not count, nor do matrices whose job the user cancelled.
        """
        return [types.Matrix(**row) for row in self._queries.all("open", id=matrix_id, lineage_id=lineage_id)]

    def delete(self, matrix_id: uuid.UUID) -> None:
        """Delete a matrix with its answers. Raises NotFoundError."""
        self._queries.change("delete", _unknown(matrix_id), id=matrix_id)

    def documents(self, lineage_ids: Sequence[uuid.UUID]) -> builtins.list[types.Document]:
        """Return the current versions of documents that are not in the trash, in the order asked."""
        rows = self._queries.all("documents", lineage_ids=[*lineage_ids])
        documents = {row["lineage_id"]: to_document(row) for row in rows}
        return [documents[lineage_id] for lineage_id in lineage_ids if lineage_id in documents]

    def cells(self, matrix_id: uuid.UUID) -> builtins.list[types.SavedCell]:
        """Return the cells that have an answer."""
        return [types.SavedCell(**row) for row in self._queries.all("cells", id=matrix_id)]

    def put(self, matrix_id: uuid.UUID, question: types.MatrixQuestion, cell: types.MatrixCell) -> None:
        """Save an answer, replacing an earlier one. Raises NotFoundError if it is no longer asked."""
        self._queries.change(
            "put",
            _unknown(matrix_id),
            id=matrix_id,
            lineage_id=cell.lineage_id,
            question=question.text,
            document_id=cell.document_id,
            sha256=cell.sha256,
            cell=Jsonb(cell.model_dump(mode="json")),
        )

    def _write(self, query: str, matrix_id: uuid.UUID, **values: object) -> types.Matrix:
        return types.Matrix(**self._queries.change(query, _unknown(matrix_id), id=matrix_id, **values))


def _to_json(questions: Sequence[types.MatrixQuestion]) -> Jsonb:
    return Jsonb([question.model_dump(mode="json") for question in questions])


def _unknown(matrix_id: uuid.UUID) -> errors.NotFoundError:
    return errors.NotFoundError(N_("There is no matrix {id}. List the matrices and check the id."), id=matrix_id)

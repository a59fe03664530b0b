"""Questions put to documents, each to each, and what was answered."""

import builtins
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors
from rag.store.library.documents import to_document
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import Document, Matrix, MatrixCell, MatrixQuestion, SavedCell


class Matrices:
    """A user's rows of the tables `matrices` and `matrix_cells`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("matrices")

    def create(self, name: str, questions: Sequence[MatrixQuestion], lineage_ids: Sequence[uuid.UUID]) -> Matrix:
        """A new one, with nothing answered."""
        parameters = {
            "id": uuid.uuid4(),
            "name": name,
            "questions": _questions(questions),
            "lineage_ids": [*lineage_ids],
        }
        return _to_matrix(self._database.write(self._queries["create"], parameters)[0])

    def list(self) -> builtins.list[Matrix]:
        """All of them, the latest first."""
        return [_to_matrix(row) for row in self._database.all(self._queries["list"], {})]

    def get(self, matrix_id: uuid.UUID) -> Matrix:
        """One of them. Raises NotFoundError."""
        row = self._database.one(self._queries["get"], {"id": matrix_id})
        if row is None:
            raise _unknown(matrix_id)
        return _to_matrix(row)

    def set_job(self, matrix_id: uuid.UUID, job_id: uuid.UUID) -> Matrix:
        """Remember which job fills it. Raises NotFoundError."""
        rows = self._database.write(self._queries["set_job"], {"id": matrix_id, "job_id": job_id})
        if not rows:
            raise _unknown(matrix_id)
        return _to_matrix(rows[0])

    def edit(
        self,
        matrix_id: uuid.UUID,
        *,
        name: str | None = None,
        questions: Sequence[MatrixQuestion] | None = None,
        lineage_ids: Sequence[uuid.UUID] | None = None,
    ) -> Matrix:
        """Change what is given; with a question or a document go its answers. Raises NotFoundError."""
        parameters = {
            **_id(matrix_id),
            "name": name,
            "questions": None if questions is None else _questions(questions),
            "lineage_ids": None if lineage_ids is None else [*lineage_ids],
        }
        rows = self._database.write(self._queries["edit"], parameters)
        if not rows:
            raise _unknown(matrix_id)
        return _to_matrix(rows[0])

    def open(self, *, matrix_id: uuid.UUID | None = None, lineage_id: uuid.UUID | None = None) -> builtins.list[Matrix]:
        """Those with a cell to ask that is missing, or older than its document; only of one matrix, or of one document.

        Documents that are not ready cannot be asked; what the user has cancelled is left out.
        """
        parameters = {"id": matrix_id, "lineage_id": lineage_id}
        return [_to_matrix(row) for row in self._database.all(self._queries["open"], parameters)]

    def delete(self, matrix_id: uuid.UUID) -> None:
        """Forget it with its answers. Raises NotFoundError."""
        if not self._database.write(self._queries["delete"], {"id": matrix_id}):
            raise _unknown(matrix_id)

    def documents(self, lineage_ids: Sequence[uuid.UUID]) -> builtins.list[Document]:
        """Of each document that is there, and not in the trash, the version that is searched; in the order asked."""
        rows = self._database.all(self._queries["documents"], {"lineage_ids": [*lineage_ids]})
        found = {row["lineage_id"]: to_document(row) for row in rows}
        return [found[lineage_id] for lineage_id in lineage_ids if lineage_id in found]

    def cells(self, matrix_id: uuid.UUID) -> builtins.list[SavedCell]:
        """What was answered so far."""
        return [
            SavedCell.model_validate(dict(row)) for row in self._database.all(self._queries["cells"], _id(matrix_id))
        ]

    def put(self, matrix_id: uuid.UUID, question: MatrixQuestion, cell: MatrixCell) -> None:
        """Keep an answer in the place of the one there was. Raises NotFoundError: it is not asked any more."""
        parameters = {
            **_id(matrix_id),
            "lineage_id": cell.lineage_id,
            "question": question.text,
            "document_id": cell.document_id,
            "sha256": cell.sha256,
            "cell": Jsonb(cell.model_dump(mode="json")),
        }
        if not self._database.write(self._queries["put"], parameters):
            raise _unknown(matrix_id)


def _id(matrix_id: uuid.UUID) -> dict[str, object]:
    return {"id": matrix_id}


def _questions(questions: Sequence[MatrixQuestion]) -> Jsonb:
    return Jsonb([question.model_dump(mode="json") for question in questions])


def _to_matrix(row: Mapping[str, Any]) -> Matrix:
    return Matrix.model_validate(dict(row))


def _unknown(matrix_id: uuid.UUID) -> errors.NotFoundError:
    return errors.NotFoundError(f"There is no matrix {matrix_id}. List the matrices and check the id.")

"""Matrices: fields of several documents, the values in their cells, reviews, and saved lists of fields."""

import builtins
import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.jobs.jobs import to_job
from rag.store.library.documents import to_document
from rag.store.server.database import Connection, Queries, Row, UserDatabase
from rag.store.users import audit_log


class Matrices:
    """A user's rows of the tables `matrices`, `field_cells` and `field_templates`.

    `follows` is the index id and tags of documents that join by themselves. `index_id` is the collection with which
    something is shared: those with whom the collection is shared read it, and if they may write review and fill it, and
    edit its fields.
    """

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "matrices")

    def create(
        self,
        name: str,
        fields: Sequence[types.FieldDefinition],
        lineage_ids: Sequence[uuid.UUID],
        *,
        pilot: int | None = None,
        follows: types.FollowedDocuments | None = None,
        index_id: uuid.UUID | None = None,
    ) -> types.Matrix:
        """Add an empty matrix."""
        values = {"fields": _to_json(fields), "lineage_ids": [*lineage_ids], "pilot": pilot, "follows": _json(follows)}
        (row,) = self._queries.write("create", id=uuid.uuid4(), name=name, index_id=index_id, **values)
        return types.Matrix(**_matrix(row))

    def list(self) -> builtins.list[types.Matrix]:
        """Return all matrices, the latest first."""
        return [types.Matrix(**_matrix(row)) for row in self._queries.all("list")]

    def get(self, matrix_id: uuid.UUID) -> types.Matrix:
        """Return a matrix. Raises NotFoundError."""
        return types.Matrix(**_matrix(self._queries.get("get", _unknown(matrix_id), id=matrix_id)))

    def start_job(self, matrix_id: uuid.UUID, index_name: str, cells: int, *, is_asked: bool = False) -> types.Job:
        """Add a job of the matrix's owner that fills it; `cells` is its weight. Raises NotFoundError.

        It is audited if a person asked for it.
        """
        place = {"id": matrix_id, "job_id": uuid.uuid4()}
        request = Jsonb({"matrix_id": str(matrix_id), "cells": cells})
        with self._database.transaction() as connection:
            row = self._queries.run(connection, "set_job", **place).fetchone()
            if row is None:
                raise _unknown(matrix_id)
            added = self._queries.run(connection, "add_job", **place, index_name=index_name, request=request)
            job = to_job(added.fetchall()[0])
            if is_asked:
                self._audit(connection, "matrix.fill", row)
        return job

    def set_pilot(self, matrix_id: uuid.UUID, pilot: int | None) -> types.Matrix:
        """Save how many of the first documents are filled, None for all, as a person asked; it is audited as filling.

        Raises NotFoundError.
        """
        with self._database.transaction() as connection:
            row = self._queries.run(connection, "set_pilot", id=matrix_id, pilot=pilot).fetchone()
            if row is None:
                raise _unknown(matrix_id)
            self._audit(connection, "matrix.fill", row)
        return types.Matrix(**_matrix(row))

    def edit(
        self,
        matrix_id: uuid.UUID,
        *,
        name: str | None = None,
        fields: Sequence[types.FieldDefinition] | None = None,
        lineage_ids: Sequence[uuid.UUID] | None = None,
        follows: types.FollowedDocuments | None = None,
        sets_follows: bool = False,
        index_id: uuid.UUID | None = None,
        sets_index: bool = False,
        seen_at: dt.datetime | None = None,
    ) -> types.Matrix:
        """Change what is given; the cells of removed fields and documents are deleted. What changes nothing is no edit.

        Cells of fields that mean something else now become out of date. `follows` is changed, also to None, only with
        `sets_follows`, and `index_id` only with `sets_index`.

        Raises:
            errors.NotFoundError: there is no such matrix.
            errors.ConflictError: it was edited after `seen_at`, if that is given.
            errors.ForbiddenError: it is another's, and more than fields is changed, or a field removed.
        """
        with self._database.transaction() as connection:
            # A worker that saves values meanwhile waits, or was before, and then its cells become out of date, too
            row = self._queries.run(connection, "lock", id=matrix_id).fetchone()
            if row is None:
                raise _unknown(matrix_id)
            if seen_at not in (None, row["edited_at"]):
                raise errors.ConflictError(
                    N_("Somebody else has edited the matrix meanwhile. Look at it again, then save your changes.")
                )
            present = types.Matrix(**_matrix(row))
            changes: dict[str, object] = {"follows": follows} if sets_follows else {}
            changes |= {"index_id": index_id} if sets_index else {}
            changes |= {} if name is None else {"name": name}
            changes |= {} if fields is None else {"fields": (*fields,)}
            changes |= {} if lineage_ids is None else {"lineage_ids": (*lineage_ids,)}
            if present.model_copy(update=changes) == present:
                return present
            before = {field.id: field for field in present.fields}
            changed = [one.id for one in fields or () if one.id in before and not one.means_the_same(before[one.id])]
            edited = self._queries.run(
                connection,
                "edit",
                id=matrix_id,
                name=name,
                fields=None if fields is None else _to_json(fields),
                lineage_ids=None if lineage_ids is None else [*lineage_ids],
                follows=_json(follows),
                sets_follows=sets_follows,
                index_id=index_id,
                sets_index=sets_index,
            ).fetchone()
            if edited is None:
                raise errors.ForbiddenError(
                    N_("This matrix is another's: change or add fields, and ask its owner for all else.")
                )
            if changed:
                self._queries.run(connection, "outdate", id=matrix_id, field_ids=changed)
            if fields is not None and (*fields,) != present.fields:
                differing = {*fields} ^ {*present.fields} or fields  # all, if only their order changed
                names = {one.name for one in differing}
                self._audit(connection, "matrix.edit", row, {"field": sorted(names)})
            return types.Matrix(**_matrix(edited))

    def join_following(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Add ready documents to the matrices that follow their collection and tags; return all that follow any."""
        rows = self._queries.write("join_following", document_ids=[*document_ids], most=types.MAX_ROWS)
        return [row["id"] for row in rows]

    def open(
        self, *, matrix_id: uuid.UUID | None = None, lineage_id: uuid.UUID | None = None
    ) -> builtins.list[types.Matrix]:
        """Return matrices with cells that are missing or outdated, of one matrix, of one document, or all.

        Documents that are not ready or beyond a pilot do not count, nor do matrices whose job the user cancelled.
        """
        return [types.Matrix(**_matrix(row)) for row in self._queries.all("open", id=matrix_id, lineage_id=lineage_id)]

    def delete(self, matrix_id: uuid.UUID) -> None:
        """Delete a matrix with its cells. Raises NotFoundError."""
        self._queries.change("delete", _unknown(matrix_id), id=matrix_id)

    def lineages(self, document_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, uuid.UUID]:
        """Return the lineages of documents, in the trash or not; those that are not there are left out."""
        rows = self._queries.all("lineages", document_ids=[*document_ids])
        return {row["id"]: row["lineage_id"] for row in rows}

    def documents(self, lineage_ids: Sequence[uuid.UUID]) -> builtins.list[types.Document]:
        """Return the current versions of documents that are not in the trash, without pages, in the order asked."""
        rows = self._queries.all("documents", lineage_ids=[*lineage_ids])
        documents = {row["lineage_id"]: to_document(row) for row in rows}
        return [documents[lineage_id] for lineage_id in lineage_ids if lineage_id in documents]

    def rows(self, matrix: types.Matrix, needs_model: str) -> dict[uuid.UUID, types.RowProgress]:
        """Return how far each document is, by its lineage; those of which nothing is filled are left out.

        `needs_model` is the reason of what failed for lack of a language model. Values that contradict others are not
        among those to review.
        """
        values = {
            "required_ids": [field.id for field in matrix.fields if field.required],
            "sure_confidence": types.SURE_CONFIDENCE,
            "needs_model": needs_model,
        }
        rows = self._queries.all("rows", id=matrix.id, **values)
        return {row["lineage_id"]: types.RowProgress(**row) for row in rows}

    def cells(
        self,
        matrix_id: uuid.UUID,
        *,
        lineage_ids: Sequence[uuid.UUID] | None = None,
        field_ids: Sequence[uuid.UUID | None] | None = None,
        in_brief: bool = False,
    ) -> builtins.list[types.SavedCell]:
        """Return the cells that were filled, of all documents and fields or some.

        `in_brief` with the page of the first quote only, without boxes, other values, pages read and `previous`.
        """
        rows = self._queries.all(
            "cells",
            id=matrix_id,
            lineage_ids=None if lineage_ids is None else [*lineage_ids],
            field_ids=None if field_ids is None else [*field_ids],
            in_brief=in_brief,
        )
        return [types.SavedCell(**row) for row in rows]

    def compared(self, matrix_id: uuid.UUID, field_ids: Sequence[uuid.UUID | None]) -> builtins.list[types.SavedCell]:
        """Return the cells of fields, and those with a value from before, without citations and pages."""
        return [types.SavedCell(**row) for row in self._queries.all("compared", id=matrix_id, field_ids=[*field_ids])]

    def put(
        self, matrix_id: uuid.UUID, values: Sequence[tuple[types.FieldDefinition, types.MatrixCell]]
    ) -> builtins.list[uuid.UUID]:
        """Save what was found for fields, all of it or nothing, and return the fields that are still asked for so.

        Values of fields that were removed or changed meanwhile are left out, as are all of a matrix that is gone.
        """
        saved = []
        with self._database.transaction() as connection:
            row = self._queries.run(connection, "lock", id=matrix_id).fetchone()
            fields = types.Matrix(**_matrix(row)).fields if row else ()
            for cell in (cell for field, cell in values if field in fields):
                parameters = {
                    "id": matrix_id,
                    "lineage_id": cell.lineage_id,
                    "field_id": cell.field_id,
                    "document_id": cell.document_id,
                    "sha256": cell.sha256,
                    "cell": Jsonb(cell.model_dump(mode="json")),
                }
                saved += [row["field_id"] for row in self._queries.run(connection, "put", **parameters)]
        return saved

    def review(
        self,
        matrix_id: uuid.UUID,
        lineage_id: uuid.UUID,
        field_id: uuid.UUID,
        review: types.CellReview | None,
        *,
        seen_at: dt.datetime | None,
        filled_at: dt.datetime | None = None,
    ) -> types.SavedCell:
        """Save a person's decision about the present content of a cell, or take it back with None.

        Raises:
            errors.NotFoundError: there is no such cell.
            errors.ConflictError: there is another decision than the one of `seen_at`, or another value than the one of
                `filled_at`, if that is given.
        """
        place = {"id": matrix_id, "lineage_id": lineage_id, "field_id": field_id}
        with self._database.transaction() as connection:
            matrix = self._queries.run(connection, "get", id=matrix_id).fetchone()
            row = self._queries.run(connection, "lock_cell", **place).fetchone()
            if matrix is None or row is None:
                raise _unknown(matrix_id)
            before = types.SavedCell(**row)
            if (before.review and before.review.reviewed_at) != seen_at:
                raise errors.ConflictError(
                    N_("Somebody else has reviewed this value meanwhile. Look at it again, then decide.")
                )
            if filled_at not in (None, before.cell.filled_at):
                raise errors.ConflictError(
                    N_("The value was read again from the document meanwhile. Look at it again, then decide.")
                )
            review = review and review.model_copy(update={"sha256": before.cell.sha256})
            if self._queries.run(connection, "review", **place, review=_json(review)).fetchone() is None:
                raise _unknown(matrix_id)
            field = next((one["name"] for one in matrix["fields"] if one["id"] == str(field_id)), "")
            told = {"document_id": str(before.cell.document_id), "field": field, "decision": review and review.state}
            self._audit(connection, "matrix.review", matrix, told)
        return before.model_copy(update={"review": review})

    def templates(self) -> builtins.list[types.FieldTemplate]:
        """Return the saved lists of fields, by name."""
        return [_to_template(row) for row in self._queries.all("templates")]

    def save_template(
        self,
        name: str,
        fields: Sequence[types.FieldDefinition],
        index_id: uuid.UUID | None = None,
        *,
        sets_index: bool = True,
    ) -> types.FieldTemplate:
        """Save a list of fields, replacing the one of that name, whose `index_id` stays without `sets_index`."""
        saved = _to_json([field.model_copy(update={"id": None}) for field in fields])
        values = {"fields": saved, "index_id": index_id, "sets_index": sets_index}
        return _to_template(self._queries.write("save_template", name=name, **values)[0])

    def delete_template(self, name: str) -> None:
        """Delete a saved list of fields. Raises NotFoundError."""
        unknown = errors.NotFoundError(N_("There is no template {name} of your own."), name=name)
        self._queries.change("delete_template", unknown, name=name)

    def _audit(
        self, connection: Connection, action: str, row: Row, details: Mapping[str, object] | None = None
    ) -> None:
        """Record who did something to a matrix that several people may work on."""
        if row["index_id"] is not None:
            subject = audit_log.Subject("matrix", str(row["id"]), row["name"])
            audit_log.add_entry(self._database, connection, action, subject, details=details)


def _matrix(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "following_since"}


def _to_json(fields: Sequence[types.FieldDefinition]) -> Jsonb:
    return Jsonb([field.model_dump(mode="json") for field in fields])


def _json(value: types.Model | None) -> Jsonb | None:
    return None if value is None else Jsonb(value.model_dump(mode="json"))


def _to_template(row: Mapping[str, Any]) -> types.FieldTemplate:
    return types.FieldTemplate(title=row["name"], **row)


def _unknown(matrix_id: uuid.UUID) -> errors.NotFoundError:
    return errors.NotFoundError(N_("There is no matrix {id}. List the matrices and check the id."), id=matrix_id)

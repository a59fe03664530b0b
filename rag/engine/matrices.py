"""Matrices: fields read from each of several documents in the background, reviewed by people, exported as a table."""

import builtins
import datetime as dt
import io
import uuid
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from rag import errors, export, parsing, types
from rag.answering.fields.checked_values import corrected_value
from rag.answering.fields.contradictions import contradictions, is_compared
from rag.answering.fields.quoted_values import NEEDS_MODEL
from rag.engine import matrix_filling
from rag.engine.field_reading import FieldReader
from rag.engine.field_suggestions import suggest_fields
from rag.engine.library.files import unique_names
from rag.engine.questions.questions import Questions
from rag.engine.request_parsing import parse, request_key_errors
from rag.engine.templates import Templates
from rag.engine.workspace import Workspace
from rag.ingestion.language_detection import language_code
from rag.messages import N_
from rag.store.users.audit_log import Subject

ANY_MODEL = types.GenerationOptions()
"""The language model of the settings."""


class Matrices:
    """One user's matrices, over the user's own documents, or those of a collection that another user shares.

    Of a shared collection they are read, and with the right to write filled and reviewed, and fields added and changed.
    All else their owner decides. Jobs that fill them are the owner's.
    """

    def __init__(self, workspace: Workspace, questions: Questions, templates: Templates) -> None:
        self._workspace = workspace
        self._questions = questions
        self._templates = templates

    def list(self) -> builtins.list[types.ListedMatrix]:
        """Return the user's matrices, the latest first, then those of collections that others share with the user.

        In a shared collection they are those of it.
        """
        store, permission = self._workspace.store, self._workspace.permission
        listed = [types.ListedMatrix(**dict(matrix), permission=permission) for matrix in store.matrices.list()]
        return listed if permission else [*listed, *store.shares.matrices()]

    # --- define ---

    def create(self, request: types.MatrixRequest | Mapping[str, Any]) -> types.Matrix:
        """Create a matrix; a worker fills it.

        Raises:
            errors.ValidationError: the request is malformed, or shares documents of several collections.
            errors.NotFoundError: a document or collection is missing, in the trash, or another user's.
        """
        parsed = parse(types.MatrixRequest, request)
        lineages, follows = self._lineages(parsed.document_ids), self._followed(parsed.follows)
        index_id = self._workspace.shared_index_id(parsed.index_name)
        self._require_inside(index_id, lineages, follows)
        fields = _with_ids(parsed.fields, ())
        matrix = self._workspace.store.matrices.create(
            parsed.name, fields, lineages, pilot=parsed.pilot, follows=follows, index_id=index_id
        )
        matrix_filling.start(self._workspace, matrix)
        return self._workspace.store.matrices.get(matrix.id)

    def edit(self, matrix_id: uuid.UUID, request: types.MatrixEdit | Mapping[str, Any]) -> types.Matrix:
        """Change the name, documents, fields or what is followed. New and changed cells are filled, others kept.

        Documents in the trash stay in it, where nobody can name them. A cancelled job starts again only if more is to
        be read than before.

        Raises:
            errors.ValidationError: as in `create`.
            errors.NotFoundError: there is no such matrix, or a document or collection as in `create`.
            errors.ConflictError: the matrix was edited since the caller saw it, if the request says when.
            errors.ForbiddenError: it is another's, and more than fields is changed, or a field removed.
        """
        parsed = parse(types.MatrixEdit, request)
        matrices = self._workspace.store.matrices
        matrix = matrices.get(matrix_id)
        lineages, before = None, matrix.fields
        if parsed.document_ids is not None:
            listed = {document.lineage_id for document in matrices.documents(matrix.lineage_ids)}
            hidden = [lineage_id for lineage_id in matrix.lineage_ids if lineage_id not in listed]
            lineages = [*self._lineages(parsed.document_ids), *hidden]
        given = parsed.model_fields_set
        follows = self._followed(parsed.follows) if "follows" in given else matrix.follows
        index_id = self._workspace.shared_index_id(parsed.index_name) if "index_name" in given else matrix.index_id
        if given & {"document_ids", "follows", "index_name"}:
            self._require_inside(index_id, matrix.lineage_ids if lineages is None else lineages, follows)
        edited = matrices.edit(
            matrix_id,
            name=parsed.name,
            fields=None if parsed.fields is None else _with_ids(parsed.fields, before),
            lineage_ids=lineages,
            follows=follows,
            sets_follows="follows" in given,
            index_id=index_id,
            sets_index="index_name" in given,
            seen_at=parsed.seen_at,
        )
        known = {field.id: field for field in before}
        is_new = any(one.id not in known or not one.means_the_same(known[one.id]) for one in edited.fields)
        joined = {*edited.lineage_ids[: edited.pilot]} - {*matrix.lineage_ids[: matrix.pilot]}
        if (is_new or joined) and self.progress(matrix_id).to_fill:
            matrix_filling.start(self._workspace, edited)
        return matrices.get(matrix_id)

    def _lineages(self, document_ids: Iterable[uuid.UUID]) -> builtins.list[uuid.UUID]:
        store, asked = self._workspace.store, [*dict.fromkeys(document_ids)]
        known = store.matrices.lineages(asked)
        for document_id in asked:
            if document_id not in known:
                store.documents.get(document_id)  # raises, with the time of its purge if it was purged
        lineages = [*dict.fromkeys(known[document_id] for document_id in asked)]
        if len(store.matrices.documents(lineages)) < len(lineages):
            raise errors.NotFoundError(N_("A document is in the trash. Restore it, or choose another."))
        return lineages

    def _followed(self, source: types.MatrixSource | None) -> types.FollowedDocuments | None:
        if source is None:
            return None
        return types.FollowedDocuments(index_id=self._workspace.requested_index(source.index_name).id, tags=source.tags)

    def _require_inside(
        self, index_id: uuid.UUID | None, lineage_ids: Sequence[uuid.UUID], follows: types.FollowedDocuments | None
    ) -> None:
        """Raise ValidationError if a matrix is shared with a collection that does not have all of its documents."""
        used = {one.index_id for one in self._workspace.store.matrices.documents(lineage_ids)}
        used |= {follows.index_id} if follows else set()
        if index_id is not None and not used <= {index_id}:
            raise errors.ValidationError(
                N_("A matrix that is shared with a collection is of documents of that collection only.")
            )

    def delete(self, matrix_id: uuid.UUID) -> None:
        """Delete the matrix and its cells, and cancel its job. Raises NotFoundError."""
        job = self.job(matrix_id)
        self._workspace.store.matrices.delete(matrix_id)
        if job:
            self._workspace.store.jobs.cancel(job.id)

    # --- fill ---

    def fill(self, matrix_id: uuid.UUID, request: types.FillRequest | Mapping[str, Any] | None = None) -> types.Job:
        """Start filling empty and outdated cells, or return the job that does so.

        A `pilot` in the request restricts the matrix to its first documents; null ends a pilot. Raises ValidationError
        and NotFoundError.
        """
        parsed = parse(types.FillRequest, request or {})
        matrices = self._workspace.store.matrices
        if "pilot" in parsed.model_fields_set:
            # Audited by itself, not with a job: one that is at it goes on with the documents that are added here
            return matrix_filling.start(self._workspace, matrices.set_pilot(matrix_id, parsed.pilot))
        return matrix_filling.start(self._workspace, matrices.get(matrix_id), is_asked=True)

    def job(self, matrix_id: uuid.UUID) -> types.Job | None:
        """Return the current or last job that fills the matrix. Raises NotFoundError."""
        return matrix_filling.job_of(self._workspace, self._workspace.store.matrices.get(matrix_id))

    def cancel(self, matrix_id: uuid.UUID) -> types.Job | None:
        """Stop filling after the current request, until `fill`, or an edit of what is read. Values are kept.

        Raises NotFoundError.
        """
        job = self.job(matrix_id)
        return self._workspace.store.jobs.cancel(job.id) if job else None

    # --- read, review, export ---

    def get(self, matrix_id: uuid.UUID) -> types.FilledMatrix:
        """Return the matrix with all its cells. Raises NotFoundError."""
        return self.with_cells(self.progress(matrix_id))

    def progress(self, matrix_id: uuid.UUID) -> types.FilledMatrix:
        """Return the matrix without cells: how far each document is, and which values contradict others.

        Raises NotFoundError.
        """
        store = self._workspace.store.matrices
        matrix = store.get(matrix_id)
        documents = store.documents(matrix.lineage_ids)
        listed = {document.lineage_id for document in documents}
        compared = [
            types.ShownCell(**vars(saved))
            for saved in store.compared(matrix_id, [field.id for field in matrix.fields if is_compared(field)])
            if saved.cell.lineage_id in listed
        ]
        conflicts = contradictions(matrix.fields, compared)
        contradicting = defaultdict[uuid.UUID, set[uuid.UUID]](set)
        for one in compared:
            if (one.cell.lineage_id, one.cell.field_id) in conflicts and not one.is_reviewed:
                contradicting[one.cell.lineage_id].add(one.cell.field_id)
        rows, found = [], store.rows(matrix, NEEDS_MODEL)
        waits = any(row.need_model for row in found.values())
        waits = waits and not FieldReader(self._workspace, self._questions, ANY_MODEL).has_model
        for lineage_id in (document.lineage for document in documents):
            row = found.get(lineage_id) or types.RowProgress(lineage_id=lineage_id)
            to_review = tuple(sorted({*row.to_review, *contradicting[lineage_id]}))
            rows.append(row.model_copy(update={"to_review": to_review, "need_model": row.need_model if waits else 0}))
        return types.FilledMatrix(
            matrix=matrix,
            documents=tuple(documents),
            rows=tuple(rows),
            conflicts=conflicts,
            job=matrix_filling.job_of(self._workspace, matrix),
            permission=self._workspace.permission,
        )

    def with_cells(
        self,
        filled: types.FilledMatrix,
        *,
        documents: Sequence[types.Document] | None = None,
        fields: Sequence[types.FieldDefinition] | None = None,
        in_brief: bool = False,
    ) -> types.FilledMatrix:
        """Return the matrix of `progress` with its cells, all or those of some documents and fields.

        `in_brief` for a table: with the page of the first quote only, without boxes, other values and pages read.
        """
        by_lineage = {one.lineage: one for one in (filled.documents if documents is None else documents)}
        by_id = {field.id: field for field in (filled.matrix.fields if fields is None else fields)}
        kept = self._workspace.store.matrices.cells(
            filled.matrix.id,
            lineage_ids=None if documents is None else [*by_lineage],
            field_ids=None if fields is None else [*by_id],
            in_brief=in_brief,
        )
        cells = tuple(
            types.ShownCell(
                **vars(saved),
                is_stale=saved.cell.state != "failed" and not saved.is_fresh(by_lineage[saved.cell.lineage_id]),
                conflict=filled.conflicts.get((saved.cell.lineage_id, saved.cell.field_id)),
                is_missing=by_id[saved.cell.field_id].required and saved.cell.state == "not_stated",
            )
            for saved in kept
            if saved.cell.lineage_id in by_lineage and saved.cell.field_id in by_id
        )
        return types.FilledMatrix(**{**dict(filled), "cells": cells})

    def review(
        self,
        matrix_id: uuid.UUID,
        lineage_id: uuid.UUID,
        field_id: uuid.UUID,
        request: types.ReviewRequest | Mapping[str, Any],
    ) -> types.SavedCell:
        """Save a person's decision about a cell: accept, correct or reject it, or take the decision back.

        A correction is normalised as the field says, from its value or else from its words.

        Raises:
            errors.ValidationError: the request is malformed, or the value is not of the field's type.
            errors.NotFoundError: there is no such matrix, field or filled cell.
            errors.ConflictError: somebody else has decided meanwhile, or the cell was filled again.
        """
        parsed = parse(types.ReviewRequest, request)
        store = self._workspace.store.matrices
        field = next((field for field in store.get(matrix_id).fields if field.id == field_id), None)
        saved = store.cells(matrix_id, lineage_ids=[lineage_id], field_ids=[field_id])
        documents = store.documents([lineage_id])
        if field is None or not saved or not documents:
            raise errors.NotFoundError(N_("The matrix has no such document or field."))
        review = None
        if parsed.state is not None:
            value: dict[str, Any] = {}
            if parsed.state == "corrected":
                value = dict(corrected_value(field, parsed, language_code(documents[0].language)))
            reviewer = self._workspace.store.account.get()
            review = types.CellReview(
                **value,
                state=parsed.state,
                sha256=saved[0].cell.sha256,
                reviewed_at=dt.datetime.now(dt.UTC),
                reviewed_by=reviewer.user_id,
                reviewer=reviewer.name,
            )
        return store.review(matrix_id, lineage_id, field_id, review, seen_at=parsed.seen_at, filled_at=parsed.filled_at)

    def _marked_copies(self, filled: types.FilledMatrix, say: export.Translate, language: str) -> bytes:
        marked = [(document, export.matrix_highlights(document, filled, language)) for document in filled.documents]
        marked = [(document, highlights) for document, highlights in marked if highlights]
        if not marked:
            raise errors.NotFoundError(N_("No value of this matrix has a quote yet. Fill it first."))
        suffix = say(N_("marked"))
        names = unique_names([f"{PurePath(document.name).stem} – {suffix}.pdf" for document, _ in marked])
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for (document, highlights), name in zip(marked, names, strict=True):
                rendition = self._workspace.files.local_path(document.id, "rendition")
                archive.writestr(name, parsing.annotated_excerpt(rendition, highlights))
        return content.getvalue()

    def export(
        self,
        matrix_id: uuid.UUID,
        format_name: types.MatrixFormat,
        *,
        say: export.Translate = str,
        language: str = "en",
    ) -> bytes:
        """Export as XLSX, CSV or JSON, safe against formula injection, or as a ZIP of marked copies.

        A marked copy is a PDF of a document's quoted pages, with the field and value noted at each quote; quotes of its
        former content are left out. `say` translates labels and names to `language`, in which values are written that
        are no numbers, dates or truth values. Raises NotFoundError, of a ZIP also if nothing is quoted.
        """
        filled = self.get(matrix_id)
        write = self._marked_copies if format_name == "zip" else export.MATRIX_WRITERS[format_name]
        content = write(filled, say, language)
        subject = Subject("matrix", str(matrix_id), filled.matrix.name)
        self._workspace.store.audit.add("export", subject, owner=filled.matrix.user_id, format=format_name)
        return content

    # --- fields without a matrix ---

    def extract(
        self, request: types.ExtractRequest | Mapping[str, Any], pause: Callable[[], None] = lambda: None
    ) -> types.Extraction:
        """Read fields from documents in this process, without saving them; `pause` is called before each request.

        Raises:
            errors.ValidationError: the request is malformed, or its schema has what no field can be.
            errors.NotFoundError: a document is missing, in the trash, another user's, or not read yet.
            errors.ConflictError: a document has a newer version.
            errors.ProviderError: a provider refuses or is down.
        """
        parsed = parse(types.ExtractRequest, request)
        fields, documents = self._templates.fields(parsed), self._read_documents(parsed.document_ids)
        reader = FieldReader(self._workspace, self._questions, parsed.generation)
        rows = []
        for document in documents:
            with request_key_errors(parsed.generation.auth):
                found = {field.name: value for field, value in reader.read(document, fields, pause)}
            in_order = {field.name: found[field.name] for field in fields}
            rows.append(
                types.ExtractedRow(
                    document_id=document.id, name=document.name, version=document.version, fields=in_order
                )
            )
        return types.Extraction(rows=tuple(rows), model=reader.model, usage=reader.usage)

    def _read_documents(self, document_ids: Iterable[uuid.UUID]) -> builtins.list[types.Document]:
        documents = self._workspace.store.matrices.documents(self._lineages(document_ids))
        asked = {*document_ids}
        for document in documents:
            if document.id not in asked:
                raise errors.ConflictError(
                    N_("“{name}” has a newer version, {version}. Give its id instead: {id}"),
                    name=document.name,
                    version=document.version,
                    id=document.id,
                )
        unread = [document.name for document in documents if document.status is not types.DocumentStatus.READY]
        if unread:
            raise errors.NotFoundError(
                N_("{names} is not read yet. Wait until it is, then extract."), names=", ".join(unread)
            )
        return [self._workspace.store.documents.get(document.id) for document in documents]  # with their pages

    def suggest_fields(
        self, document_id: uuid.UUID, generation: types.GenerationOptions | Mapping[str, Any] = ANY_MODEL
    ) -> types.FieldSuggestions:
        """Return fields to ask of documents like this one, and the template that fits it.

        A language model names what the document states. Without one they are the fields of the template, and the values
        that stand beside a label in the document.

        Raises:
            errors.NotFoundError: the document is missing, in the trash, another user's, or not read yet.
            errors.ConflictError: the document has a newer version.
            errors.ProviderError: a provider refuses or is down.
        """
        (document,) = self._read_documents([document_id])
        return suggest_fields(self._workspace, document, parse(types.GenerationOptions, generation))


def _with_ids(
    fields: Sequence[types.FieldDefinition], before: Sequence[types.FieldDefinition]
) -> builtins.list[types.FieldDefinition]:
    """Return fields with ids: their own if it is known, else that of the former field of that name, or a new one.

    Of several with one id the first keeps it.
    """
    known = {field.id for field in before}
    given = {field.id for field in fields} & known
    free = {field.name: field.id for field in before if field.id not in given}
    used = set[uuid.UUID | None]()
    named = []
    for field in fields:
        own = field.id if field.id in known and field.id not in used else free.pop(field.name, None)
        named.append(field.model_copy(update={"id": own or uuid.uuid4()}))
        used.add(own)
    return named

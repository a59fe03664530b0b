"""Matrices: fields read from each of several documents in the background, reviewed by people, exported as a table."""

import builtins
import datetime as dt
import functools
import io
import uuid
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, get_args

from pydantic.alias_generators import to_camel

from rag import errors, export, parsing, types, vocabulary
from rag.answering.fields.agreement import Reading, agree, outliers, read_value
from rag.answering.fields.checked_values import corrected_value
from rag.answering.fields.quoted_values import NEEDS_MODEL
from rag.answering.fields.schemas import fields_of_schema, schema_of_fields
from rag.answering.text.question_parts import asks_whether
from rag.engine.field_reading import FieldReader, Read
from rag.engine.field_suggestions import suggest_fields
from rag.engine.library.files import unique_names
from rag.engine.questions.questions import Questions
from rag.engine.request_parsing import parse, request_key_errors
from rag.engine.workspace import Workspace
from rag.ingestion.language_detection import language_code
from rag.messages import N_
from rag.store.users.audit_log import Subject

ANY_MODEL = types.GenerationOptions()
"""The language model of the settings."""


class _Named(types.Model):
    name: types.TemplateName


def job_of(workspace: Workspace, matrix: types.Matrix) -> types.Job | None:
    """Return the current or last job that fills the matrix, or None."""
    try:
        return workspace.store.jobs.get(matrix.job_id) if matrix.job_id else None
    except errors.NotFoundError:
        return None


def start(workspace: Workspace, matrix: types.Matrix, *, is_asked: bool = False) -> types.Job:
    """Start filling a matrix, or return the job that does so; a follow-up job handles what is added meanwhile.

    It is audited if a person asked for it. Raises NotFoundError if the matrix is gone.
    """
    present = job_of(workspace, matrix)
    if present is not None and present.finished_at is None:
        return present
    index_name = workspace.requested_index(types.DEFAULT_INDEX).name
    cells = len(matrix.fields) * len(matrix.lineage_ids[: matrix.pilot])  # the weight of the job among the user's jobs
    return workspace.enqueue_job(workspace.store.matrices.start_job(matrix.id, index_name, cells, is_asked=is_asked))


def refill(workspace: Workspace, *, matrix_id: uuid.UUID | None = None, lineage_id: uuid.UUID | None = None) -> None:
    """Start filling a matrix, or those of a document, where cells are missing or outdated."""
    for matrix in workspace.store.matrices.open(matrix_id=matrix_id, lineage_id=lineage_id):
        start(workspace, matrix)


def follow(workspace: Workspace, document_ids: Sequence[uuid.UUID]) -> None:
    """Add documents that were read to the matrices that follow their collection and tags, and fill their rows.

    In a collection that another user shares it does nothing: the matrices are its owner's.
    """
    if workspace.permission is not None:
        return
    for matrix_id in workspace.store.matrices.join_following(document_ids):
        refill(workspace, matrix_id=matrix_id)


class Matrices:
    """One user's matrices, over the user's own documents, or those of a collection that another user shares.

    Of a shared collection they are read, and with the right to write filled and reviewed. What they are about, their
    owner decides. Jobs that fill them are the owner's.
    """

    def __init__(self, workspace: Workspace, questions: Questions) -> None:
        self._workspace = workspace
        self._questions = questions

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
        index_id = self._shared_with(parsed.index_name)
        self._require_inside(index_id, lineages, follows)
        fields = _with_ids(parsed.fields, ())
        matrix = self._workspace.store.matrices.create(
            parsed.name, fields, lineages, pilot=parsed.pilot, follows=follows, index_id=index_id
        )
        start(self._workspace, matrix)
        return self._workspace.store.matrices.get(matrix.id)

    def edit(self, matrix_id: uuid.UUID, request: types.MatrixEdit | Mapping[str, Any]) -> types.Matrix:
        """Change the name, documents, fields or what is followed. New and changed cells are filled, others kept.

        Documents in the trash stay in it, where nobody can name them.

        Raises:
            errors.ValidationError: as in `create`.
            errors.NotFoundError: there is no such matrix, or a document or collection as in `create`.
            errors.ConflictError: the matrix was edited since the caller saw it, if the request says when.
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
        index_id = self._shared_with(parsed.index_name) if "index_name" in given else matrix.index_id
        if given & {"document_ids", "follows", "index_name"}:
            self._require_inside(index_id, matrix.lineage_ids if lineages is None else lineages, follows)
        matrices.edit(
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
        if (parsed.document_ids or parsed.fields) and self.progress(matrix_id).to_fill:
            start(self._workspace, matrices.get(matrix_id))
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

    def _shared_with(self, index_name: str | None) -> uuid.UUID | None:
        return None if index_name is None else self._workspace.requested_index(index_name).id

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

    # --- templates ---

    def templates(self) -> tuple[types.FieldTemplate, ...]:
        """Return the user's own templates, then those for kinds of documents that come with the program."""
        return (*self._workspace.store.matrices.templates(), *vocabulary.field_templates())

    def template(self, name: str) -> types.FieldTemplate:
        """Return a template, the user's own before one that comes with the program. Raises NotFoundError."""
        found = next((template for template in self.templates() if template.name == name), None)
        if found is None:
            raise errors.NotFoundError(N_("There is no template {name}. List the templates."), name=name)
        return found

    def template_schema(self, name: str) -> dict[str, Any]:
        """Return a template as the JSON Schema of an object, which `save_template` reads. Raises NotFoundError."""
        template = self.template(name)
        return schema_of_fields(template.fields, template.title)

    def save_template(self, name: str, request: types.TemplateRequest | Mapping[str, Any]) -> types.FieldTemplate:
        """Save fields under a name, replacing the user's template of that name.

        They are given as a list, as JSON Schema, or as those of a matrix or another template. A template stays shared
        unless the request says with which collection.

        Raises:
            errors.ValidationError: the name or the request is malformed, or the schema has what no field can be.
            errors.NotFoundError: there is no such matrix, template or collection.
        """
        label, parsed = parse(_Named, {"name": name}).name, parse(types.TemplateRequest, request)
        fields, index_id = self._fields(parsed), self._shared_with(parsed.index_name)
        return self._workspace.store.matrices.save_template(
            label, fields, index_id, sets_index="index_name" in parsed.model_fields_set
        )

    def delete_template(self, name: str) -> None:
        """Delete a template of the user's own. Raises NotFoundError."""
        self._workspace.store.matrices.delete_template(name)

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

    def _fields(self, request: types.RequestedFields) -> tuple[types.FieldDefinition, ...]:
        if request.json_schema is not None:
            return fields_of_schema(request.json_schema)
        if request.template is not None:
            return self.template(request.template).fields
        if request.matrix_id is not None:
            return self._workspace.store.matrices.get(request.matrix_id).fields
        return request.fields or ()

    # --- fill ---

    def fill(self, matrix_id: uuid.UUID, request: types.FillRequest | Mapping[str, Any] | None = None) -> types.Job:
        """Start filling empty and outdated cells, or return the job that does so.

        A `pilot` in the request restricts the matrix to its first documents; null ends a pilot. Raises ValidationError
        and NotFoundError.
        """
        parsed = parse(types.FillRequest, request or {})
        matrices = self._workspace.store.matrices
        if "pilot" in parsed.model_fields_set:
            return start(self._workspace, matrices.set_pilot(matrix_id, parsed.pilot), is_asked=True)
        return start(self._workspace, matrices.get(matrix_id), is_asked=True)

    def fill_cells(
        self, matrix_id: uuid.UUID, job_id: uuid.UUID, report: types.OnProgress, pause: Callable[[], None]
    ) -> dict[str, Any]:
        """Fill empty and outdated cells as a job. Documents that are not read yet are skipped.

        It ends when another job was started for the matrix, so that no two pay for the same cells.

        What a request gives is saved at once, all of it or nothing: an interrupted job resumes with the next request. A
        language model's reply is kept before, so that it is not paid twice. `pause` is called before each request.

        Returns:
            The numbers of cells `found`, `notStated`, `conflict` and `failed`, and of skipped documents, `waiting`;
            `filled`, how many cells this run read, with the tokens and cost that it took.
        Raises NotFoundError, CancelledError and ProviderError.
        """
        store = self._workspace.store.matrices
        matrix = store.get(matrix_id)
        documents = store.documents(matrix.lineage_ids[: matrix.pilot])
        reader = FieldReader(self._workspace, self._questions, types.GenerationOptions())
        counts, total, kept = Counter[str](), len(documents) * len(matrix.fields), 0

        def count(states: Iterable[str]) -> None:
            counts.update(states)
            report("cells", counts.total(), total)

        for document in documents:
            lineage_ids, field_ids = [document.lineage], [field.id for field in matrix.fields]
            saved = store.cells(matrix_id, lineage_ids=lineage_ids, field_ids=field_ids, in_brief=True)
            fresh = {cell.cell.field_id: cell.cell.state for cell in saved if _is_fresh(cell, document)}
            count(fresh.values())
            kept += len(fresh)
            open_fields = [field for field in matrix.fields if field.id not in fresh]
            if open_fields and document.status is types.DocumentStatus.READY:
                if store.get(matrix_id).job_id != job_id:
                    break
                try:
                    with_pages = self._workspace.store.documents.get(document.id)
                except errors.NotFoundError:
                    continue  # purged meanwhile
                self._fill_row(
                    matrix_id, document, functools.partial(reader.read, with_pages, open_fields), pause, count
                )
            else:
                count(["waiting"] * len(open_fields))
        return {
            **{to_camel(state): counts[state] for state in get_args(types.CellState)},
            "filled": counts.total() - counts["waiting"] - kept,
            "waiting": sum(one.status is not types.DocumentStatus.READY for one in documents),
            "usage": reader.usage.model_dump(mode="json", by_alias=True),
        }

    def _fill_row(
        self,
        matrix_id: uuid.UUID,
        document: types.Document,
        read: Callable[[Callable[[], None]], Read],
        pause: Callable[[], None],
        count: Callable[[Iterable[str]], None],
    ) -> None:
        """Save the values of a document, those of one request together: a part of them would be asked for anew."""
        store, values = self._workspace.store.matrices, builtins.list[tuple[types.FieldDefinition, types.MatrixCell]]()

        def save() -> None:
            if values and len(store.put(matrix_id, values)) < len(values):  # fields were changed, or all deleted
                store.get(matrix_id)
            count(cell.state for _, cell in values)
            values.clear()

        def save_and_pause() -> None:
            save()
            pause()

        for field, found in read(save_and_pause):
            values.append((field, _to_cell(document, field, found)))
        save()

    def job(self, matrix_id: uuid.UUID) -> types.Job | None:
        """Return the current or last job that fills the matrix. Raises NotFoundError."""
        return job_of(self._workspace, self._workspace.store.matrices.get(matrix_id))

    def cancel(self, matrix_id: uuid.UUID) -> types.Job | None:
        """Stop filling after the current request, until `fill` or an edit. Values are kept. Raises NotFoundError."""
        job = self.job(matrix_id)
        return self._workspace.store.jobs.cancel(job.id) if job else None

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
        fields, documents = self._fields(parsed), self._read_documents(parsed.document_ids)
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
        listed, fields = {document.lineage_id for document in documents}, {field.id: field for field in matrix.fields}
        compared = [
            types.ShownCell(**vars(saved))
            for saved in store.compared(matrix_id, [field.id for field in matrix.fields if _is_compared(field)])
            if saved.cell.lineage_id in listed and saved.cell.field_id in fields
        ]
        conflicts = {**_conflicts_with_others(fields, compared), **_conflicts_with_previous(fields, compared)}
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
            job=job_of(self._workspace, matrix),
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
                is_stale=saved.cell.state != "failed" and not _is_fresh(saved, by_lineage[saved.cell.lineage_id]),
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

    def marked_copies(self, matrix_id: uuid.UUID, *, say: export.Translate = str, language: str = "en") -> bytes:
        """Return a ZIP of a PDF for each document: its quoted pages, with the field and value noted at each quote.

        Quotes of a document's former content are left out. `say` translates the names of the files, and values are
        written in `language`. Raises NotFoundError, also if nothing is quoted.
        """
        filled = self.get(matrix_id)
        marked = [(document, _highlights(document, filled, language)) for document in filled.documents]
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
        subject = Subject("matrix", str(matrix_id), filled.matrix.name)
        self._workspace.store.audit.add("export", subject, owner=filled.matrix.user_id, format="marked")
        return content.getvalue()

    def export(
        self,
        matrix_id: uuid.UUID,
        format_name: types.MatrixFormat,
        *,
        say: export.Translate = str,
        language: str = "en",
    ) -> bytes:
        """Export as XLSX, CSV or JSON, safe against formula injection.

        `say` translates labels to `language`, in which values are written that are no numbers, dates or truth values.
        Raises NotFoundError.
        """
        filled = self.get(matrix_id)
        subject = Subject("matrix", str(matrix_id), filled.matrix.name)
        self._workspace.store.audit.add("export", subject, owner=filled.matrix.user_id)
        return export.MATRIX_WRITERS[format_name](filled, say, language)


def _highlights(document: types.Document, filled: types.FilledMatrix, language: str) -> builtins.list[types.Highlight]:
    """Return the regions quoted in the values of a document; words quoted twice are marked once, with both notes."""
    notes: dict[types.Region, builtins.list[str]] = defaultdict(list)
    for field in filled.matrix.fields:
        cell = filled.at(document, field)
        if cell is None or cell.shown is None:
            continue
        source = cell.review if cell.review is not None and cell.shown is cell.review else cell.cell
        if source.sha256 != document.sha256:
            continue
        note = f"{field.name}: {export.value_text(field, cell.shown, language)}"
        for region in (region for citation in cell.shown.citations for region in citation.regions):
            if note not in notes[region]:
                notes[region].append(note)
    return [types.Highlight(region=region, note="\n\n".join(own)) for region, own in notes.items()]


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


def _to_cell(document: types.Document, field: types.FieldDefinition, found: types.FoundField) -> types.MatrixCell:
    return types.MatrixCell(
        **dict(found),
        lineage_id=document.lineage,
        field_id=field.id or uuid.uuid4(),
        document_id=document.id,
        version=document.version,
        sha256=document.sha256,
        filled_at=dt.datetime.now(dt.UTC),
    )


def _is_fresh(saved: types.SavedCell, document: types.Document) -> bool:
    return saved.cell.state != "failed" and saved.cell.sha256 == document.sha256 and not saved.is_outdated


def _is_compared(field: types.FieldDefinition) -> bool:
    """Return whether values of different documents can contradict each other."""
    return field.should_agree or field.type == "yes_no" or (field.type == "text" and asks_whether(field.question))


def _conflicts_with_previous(
    fields: Mapping[uuid.UUID | None, types.FieldDefinition], cells: Iterable[types.SavedCell]
) -> dict[tuple[uuid.UUID, uuid.UUID], str]:
    """Return cells that conflict with what their document said before it changed, each with a message."""
    messages = {}
    for saved in cells:
        field, now, before = fields[saved.cell.field_id], saved.cell, saved.previous
        if before is None or before.state == "failed" or "found" not in (before.state, now.state):
            continue
        if before.state == now.state and agree(read_value(field, now), read_value(field, before)):
            continue
        told = before.words if before.state == "found" else "not found"
        message = N_("Before it changed (version {version}): {told}").format(version=before.version, told=told)
        messages[now.lineage_id, now.field_id] = message
    return messages


def _conflicts_with_others(
    fields: Mapping[uuid.UUID | None, types.FieldDefinition], cells: Sequence[types.ShownCell]
) -> dict[tuple[uuid.UUID, uuid.UUID], str]:
    """Return cells that say yes against no, or another value where all should agree, each with a message."""
    columns: dict[uuid.UUID, builtins.list[tuple[types.ShownCell, Reading]]] = defaultdict(list)
    for cell in cells:
        field = fields[cell.cell.field_id]
        if cell.shown is None or not _is_compared(field):
            continue
        reading = read_value(field, cell.shown)
        if field.should_agree or reading.says is not None:
            columns[cell.cell.field_id].append((cell, reading))
    messages = {}
    for field_id, column in columns.items():
        for place in outliers([reading for _, reading in column]):
            cell, reading = column[place]
            if reading.says is not None:
                messages[cell.cell.lineage_id, field_id] = (
                    N_("Says yes, others say otherwise") if reading.says else N_("Says no, others say otherwise")
                )
            elif fields[field_id].should_agree:
                messages[cell.cell.lineage_id, field_id] = N_("Differs from the others")
    return messages

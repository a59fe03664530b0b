"""Provenance of answers: what an answer was made from, and what has changed since."""

import datetime as dt
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from rag import prompts, retrieval, types
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.engine.workspace import Workspace
from rag.messages import N_

WRITING = ("provider", "model", "temperature", "max_output_tokens")
"""Generation options that are saved; keys are not."""
MAX_NAMED = 3
PARAMETERS = {"configured": "search", "answering": "answer", "writing": "writing"}


def provenance(
    response: types.AnswerResponse,
    workspace: Workspace,
    index: types.Index,
    request: types.AnswerRequest,
    at: dt.datetime,
) -> types.Provenance:
    """Return what an answer to `request`, given `at` that time, was made from."""
    named = {hit.chunk.document_id for hit in (*response.contexts, *response.nearest)}
    versions = workspace.store.versions.list([*named]) if named else []
    return types.Provenance(
        at=at,
        question=request.question,
        documents=tuple(
            types.UsedDocument(id=version.id, name=version.name, version=version.version, sha256=version.sha256)
            for version in sorted(versions, key=lambda version: (version.name, version.version))
            if version.id in named
        ),
        index_id=index.id,
        index_name=index.name,
        generation=index.generation,
        space=index.space,
        prompt_version=prompts.ANSWER_PROMPT_VERSION,
        program_version=metadata.version("pagelight"),
        retrieval=request.retrieval,
        configured=retrieval.as_configured(request.retrieval, workspace.config).model_dump(mode="json"),
        answering=request.options.model_dump(mode="json", exclude={"use_cache"}),
        writing=request.generation.model_dump(mode="json", include=set(WRITING)),
    )


def differences(
    before: types.AnswerResponse, after: types.AnswerResponse, workspace: Workspace
) -> tuple[types.Difference, ...] | None:
    """Return the differences between two answers' provenance, or None if one has none."""
    old, new = before.provenance, after.provenance
    if old is None or new is None:
        return None
    kind = types.DifferenceKind
    changes = [
        *((kind.DOCUMENT, message) for message in _document_changes(old, workspace)),
        *((kind.LIBRARY, message) for message in _library_changes(old, workspace)),
    ]
    if old.space != new.space:
        message = N_("the index is of {model}, was of {earlier}")
        changes.append((kind.INDEX, message.format(model=new.space.name, earlier=old.space.name)))
    elif old.generation != new.generation:
        message = N_("the index is in generation {generation}, was in {earlier}")
        changes.append((kind.INDEX, message.format(generation=new.generation, earlier=old.generation)))
    if old.prompt_version != new.prompt_version:
        message = N_("the instructions are version {version}, were {earlier}")
        changes.append((kind.PROMPT, message.format(version=new.prompt_version, earlier=old.prompt_version)))
    if old.program_version != new.program_version:
        message = N_("Pagelight is version {version}, was {earlier}")
        changes.append((kind.PROGRAM, message.format(version=new.program_version, earlier=old.program_version)))
    if before.model != after.model:
        message = N_("the model was {model}, now the model was {latest}")
        if before.model == EXTRACTIVE_MODEL:
            message = N_("the documents were quoted, now the model was {latest}")
        elif after.model == EXTRACTIVE_MODEL:
            message = N_("the model was {model}, now the documents were quoted")
        changes.append((kind.MODEL, message.format(model=before.model, latest=after.model)))
    changes += ((kind.PARAMETER, message) for message in _parameter_changes(old, new))
    return tuple(types.Difference(kind=kind, message=message) for kind, message in changes)


def _document_changes(old: types.Provenance, workspace: Workspace) -> Iterator[str]:
    versions = workspace.store.versions.list([document.id for document in old.documents]) if old.documents else []
    by_id = {document.id: document for document in versions}
    for used in old.documents:
        present = by_id.get(used.id)
        if present is None:
            yield N_("{name} is gone").format(name=used.name)
        elif present.deleted_at is not None:
            yield N_("{name} is in the trash").format(name=used.name)
        elif present.superseded_by is not None:
            line = (
                document
                for document in versions
                if document.lineage_id == present.lineage_id and document.superseded_by is None
            )
            latest = next(line, present)
            yield N_("{name} has version {latest} now, where version {version} was read").format(
                name=used.name, latest=latest.version, version=used.version
            )
        elif present.disabled:
            yield N_("{name} is left out of searches").format(name=used.name)
        elif present.indexed_at is not None and present.indexed_at > old.at:
            yield N_("{name} was read again").format(name=used.name)


def _library_changes(old: types.Provenance, workspace: Workspace) -> Iterator[str]:
    list_documents, filters = workspace.store.documents.list, old.retrieval.filters.model_copy(update={"saved": None})
    if filters == types.Filters(document_ids=filters.document_ids) and filters.document_ids:
        return  # only these documents were searched, and none can be added
    named = {document.name for document in old.documents}
    here, trash = types.DocumentQuery(filters=filters), types.DocumentQuery(filters=filters, in_trash=True)
    came = [
        document
        for document in list_documents(old.index_id, here)
        if document.indexed_at and document.indexed_at > old.at
    ]
    gone = [
        document
        for document in list_documents(old.index_id, trash)
        if document.deleted_at and document.deleted_at > old.at
    ]
    for documents, template in ((came, N_("{_names} came since")), (gone, N_("{_names} went since"))):
        names = [document.name for document in documents if document.name not in named]
        if names:
            listed = ", ".join(names[:MAX_NAMED])
            if len(names) > MAX_NAMED:
                listed = N_("{names} and {count} more").format(names=listed, count=len(names) - MAX_NAMED)
            yield template.format(_names=listed)


def _parameter_changes(old: types.Provenance, new: types.Provenance) -> Iterator[str]:
    for group, name in PARAMETERS.items():
        before: dict[str, Any] = getattr(old, group)
        after: dict[str, Any] = getattr(new, group)
        for option in sorted({*before, *after}):
            value, earlier = after.get(option), before.get(option)
            if value != earlier:
                yield N_("{group} option {name} is {value}, was {earlier}").format(
                    group=name,
                    name=option,
                    value="not set" if value is None else value,
                    earlier="not set" if earlier is None else earlier,
                )

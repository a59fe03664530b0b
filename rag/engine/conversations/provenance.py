"""Provenance of answers: what an answer was made from, and what has changed since."""

import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Any

from rag import answering, prompts, retrieval, types
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
            types.UsedDocument(id=one.id, name=one.name, version=one.version, sha256=one.sha256)
            for one in sorted(versions, key=lambda one: (one.name, one.version))
            if one.id in named
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
    found = [
        *((types.DifferenceKind.DOCUMENT, message) for message in _document_changes(old, workspace)),
        *((types.DifferenceKind.LIBRARY, message) for message in _library_changes(old, workspace)),
        *_index_and_version_changes(old, new),
    ]
    if before.model != after.model:
        found.append((types.DifferenceKind.MODEL, _model_change(before.model, after.model)))
    found += ((types.DifferenceKind.PARAMETER, message) for message in _parameter_changes(old, new))
    return tuple(types.Difference(kind=kind, message=message) for kind, message in found)


def _model_change(before: str, after: str) -> str:
    template = N_("the model was {model}, now the model was {latest}")
    if before == answering.EXTRACTIVE_MODEL:
        return N_("the documents were quoted, now the model was {model}").format(model=after)
    if after == answering.EXTRACTIVE_MODEL:
        template = N_("the model was {model}, now the documents were quoted")
    return template.format(model=before, latest=after)


def _document_changes(old: types.Provenance, workspace: Workspace) -> Iterator[str]:
    """Describe what became of the documents used by the earlier answer."""
    versions = workspace.store.versions.list([one.id for one in old.documents]) if old.documents else []
    by_id = {one.id: one for one in versions}
    for used in old.documents:
        present = by_id.get(used.id)
        if present is None:
            yield N_("{name} is gone").format(name=used.name)
        elif present.deleted_at is not None:
            yield N_("{name} is in the trash").format(name=used.name)
        elif present.superseded_by is not None:
            latest = _latest(present, by_id)
            yield N_("{name} has version {latest} now, where version {version} was read").format(
                name=used.name, latest=latest.version, version=used.version
            )
        elif present.disabled:
            yield N_("{name} is left out of searches").format(name=used.name)
        elif present.indexed_at is not None and present.indexed_at > old.at:
            yield N_("{name} was read again").format(name=used.name)


def _latest(document: types.Document, by_id: Mapping[uuid.UUID, types.Document]) -> types.Document:
    of_line = [one for one in by_id.values() if one.lineage_id == document.lineage_id and one.superseded_by is None]
    return of_line[0] if of_line else document


def _library_changes(old: types.Provenance, workspace: Workspace) -> Iterator[str]:
    """Describe documents that were added to, or removed from, the searched ones since then."""
    list_documents, filters = workspace.store.documents.list, old.retrieval.filters.model_copy(update={"saved": None})
    if filters == types.Filters(document_ids=filters.document_ids) and filters.document_ids:
        return  # only these documents were searched, and none can be added
    named = {one.name for one in old.documents}
    here, trash = types.DocumentQuery(filters=filters), types.DocumentQuery(filters=filters, in_trash=True)
    came = [one for one in list_documents(old.index_id, here) if one.indexed_at and one.indexed_at > old.at]
    gone = [one for one in list_documents(old.index_id, trash) if one.deleted_at and one.deleted_at > old.at]
    for documents, template in ((came, N_("{_names} came since")), (gone, N_("{_names} went since"))):
        names = [one.name for one in documents if one.name not in named]
        if names:
            listed = ", ".join(names[:MAX_NAMED])
            if len(names) > MAX_NAMED:
                listed = N_("{names} and {count} more").format(names=listed, count=len(names) - MAX_NAMED)
            yield template.format(_names=listed)


def _index_and_version_changes(
    old: types.Provenance, new: types.Provenance
) -> Iterator[tuple[types.DifferenceKind, str]]:
    if old.space != new.space:
        yield (
            types.DifferenceKind.INDEX,
            N_("the index is of {model}, was of {earlier}").format(model=new.space.name, earlier=old.space.name),
        )
    elif old.generation != new.generation:
        yield (
            types.DifferenceKind.INDEX,
            N_("the index is in generation {generation}, was in {earlier}").format(
                generation=new.generation, earlier=old.generation
            ),
        )
    if old.prompt_version != new.prompt_version:
        yield (
            types.DifferenceKind.PROMPT,
            N_("the instructions are version {version}, were {earlier}").format(
                version=new.prompt_version, earlier=old.prompt_version
            ),
        )
    if old.program_version != new.program_version:
        yield (
            types.DifferenceKind.PROGRAM,
            N_("Pagelight is version {version}, was {earlier}").format(
                version=new.program_version, earlier=old.program_version
            ),
        )


def _parameter_changes(old: types.Provenance, new: types.Provenance) -> Iterator[str]:
    for group, name in PARAMETERS.items():
        before: dict[str, Any] = getattr(old, group)
        after: dict[str, Any] = getattr(new, group)
        for key in sorted({*before, *after}):
            if before.get(key) != after.get(key):
                yield N_("{group} option {name} is {value}, was {earlier}").format(
                    group=name, name=key, value=_format_value(after.get(key)), earlier=_format_value(before.get(key))
                )


def _format_value(value: object) -> str:
    return "not set" if value is None else str(value)

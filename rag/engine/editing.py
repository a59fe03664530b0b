"""What an owner changes of documents."""

import uuid
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from rag import ingestion
from rag.engine.requests import parse
from rag.engine.workspace import Workspace
from rag.store import UserStore
from rag.types import Document, DocumentEdit, Model, Tags


class _Tagging(Model):
    add: Tags
    remove: Tags


def edit(workspace: Workspace, document_id: uuid.UUID, changes: DocumentEdit | Mapping[str, Any]) -> Document:
    """See `Documents.edit`."""
    asked, documents = parse(DocumentEdit, changes), workspace.store.documents
    before = documents.get(document_id)
    if "name" in asked.given:
        asked = DocumentEdit(**{**asked.model_dump(exclude_unset=True), "name": named(asked.name, before.name)})
    after = documents.edit(document_id, asked)
    if (before.name, before.title) != (after.name, after.title):
        _refresh_front(workspace.store, after)
    return after


def tag(
    workspace: Workspace, document_ids: Sequence[uuid.UUID], *, add: Sequence[str], remove: Sequence[str]
) -> Sequence[uuid.UUID]:
    """See `Documents.tag`."""
    asked = parse(_Tagging, {"add": [*add], "remove": [*remove]})
    return workspace.store.documents.tag(document_ids, added=asked.add, removed=asked.remove)


def named(name: str, before: str) -> str:
    """`name` with the ending of the name `before`: it tells other programs, and this one, what kind of file it is."""
    ending = PurePath(before).suffix
    return (
        name if name.casefold().endswith(ending.casefold()) and name.casefold() != ending.casefold() else name + ending
    )


def _refresh_front(store: UserStore, document: Document) -> None:
    """Let a document be found by what it is called now. What was not read yet is found by it when it is."""
    if not document.chunk_count:
        return
    pages = store.chunks.page_lines([(document.id, number + 1) for number in range(ingestion.FRONT_PAGES)])
    lines = [line for key in sorted(pages) for line in pages[key]]
    store.chunks.refresh_front(document.id, ingestion.front(document.name, document.title, lines))

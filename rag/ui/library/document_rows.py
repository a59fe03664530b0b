"""Table rows of documents."""

from collections.abc import Sequence
from typing import Any

from rag import types
from rag.ui.formatting import file_size
from rag.ui.language import N_, _
from rag.ui.library.document_table import Column
from rag.ui.library.incomplete_documents import is_incomplete
from rag.ui.translated_messages import translate_message

KIND_NAMES = {
    "application/pdf": "PDF",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "text/html": N_("Web page"),
    "text/markdown": "Markdown",
    "text/plain": N_("Text"),
    "text/csv": "CSV",
    types.MAIL: N_("E-mail"),
    types.OUTLOOK_MAIL: N_("E-mail"),
    types.MAILBOX: N_("Mailbox"),
    "text/calendar": N_("Calendar"),
    types.ARCHIVE: "ZIP",
    types.FILING: N_("SEC filing"),
}
STATUS_NAMES = {
    types.DocumentStatus.QUEUED: N_("Waiting"),
    types.DocumentStatus.NEEDS_PASSWORD: N_("Needs password"),
    types.DocumentStatus.PARSING: N_("Reading"),
    types.DocumentStatus.EMBEDDING: N_("Indexing"),
    types.DocumentStatus.READY: N_("Ready"),
    types.DocumentStatus.FAILED: N_("Failed"),
}
DISABLED = N_("Disabled")
INCOMPLETE = N_("Ready, incomplete")

DOCUMENTS = (
    Column("name", N_("Name"), "name"),
    Column("version", N_("Version"), "version"),
    Column("inside", N_("In"), sorts=False),
    Column("status", N_("Status"), "status"),
    Column("tags", N_("Tags"), "tags"),
    Column("pages", N_("Pages"), "number"),
    Column("title", N_("Title")),
    Column("author", N_("Author")),
    Column("dated", N_("Date"), "day"),
    Column("kind", N_("Kind")),
    Column("chunks", N_("Chunks"), "number"),
    Column("size", N_("Size"), "size"),
    Column("added", N_("Added"), "moment"),
)
TRASH = (
    Column("name", N_("Name"), "name"),
    Column("inside", N_("In"), sorts=False),
    Column("kind", N_("Kind")),
    Column("pages", N_("Pages"), "number"),
    Column("size", N_("Size"), "size"),
    Column("added", N_("Deleted"), "moment"),
)
EMPTY_VALUES: dict[str, Any] = {"version": 1, "inside": "", "tags": (), "title": "", "author": "", "dated": None}
"""Values for which a rare column is empty; it is hidden if all rows are empty."""


def row(document: types.Document) -> dict[str, Any]:
    """Return a document's row."""
    return {
        "id": str(document.id),
        "state": _state(document),
        "name": document.name,
        "title": document.title or "",
        "author": document.author or "",
        "dated": document.dated and document.dated.isoformat(),
        "tags": document.tags,
        "kind": _(KIND_NAMES.get(document.mime_type, "")) or _ending(document),
        "inside": document.container_name or "",
        "version": document.version,
        "pages": document.page_count,
        "chunks": document.chunk_count,
        "size": file_size(document.size),
        "status": {"text": status(document), "reason": _reason(document)},
        "added": (document.deleted_at or document.created_at).isoformat(),
    }


def columns(every: Sequence[Column], rows: Sequence[dict[str, Any]]) -> list[Column]:
    """Return the columns that are not empty in these rows."""
    return [
        column
        for column in every
        if column.field not in EMPTY_VALUES or any(row[column.field] != EMPTY_VALUES[column.field] for row in rows)
    ]


def status(document: types.Document) -> str:
    """Return a document's status in a word or two; `Ready` never hides missing text."""
    if document.disabled:
        return _(DISABLED)
    if document.status is types.DocumentStatus.READY and is_incomplete(document):
        return _(INCOMPLETE)
    return translate_message(types.reading_progress(document) or "") or _(STATUS_NAMES[document.status])


def _state(document: types.Document) -> str:
    if document.disabled:
        return "disabled"
    if document.status is types.DocumentStatus.FAILED:
        return "failed"
    return "waiting" if document.status in types.UNFINISHED else "ready"


def _reason(document: types.Document) -> str:
    """Return why it failed or what it waits for."""
    if document.status is types.DocumentStatus.NEEDS_PASSWORD:
        return _("Enter it above.")
    return translate_message(document.error or "")


def _ending(document: types.Document) -> str:
    _, dot, ending = document.name.rpartition(".")
    return ending.upper() if dot and len(ending) <= 5 else document.mime_type

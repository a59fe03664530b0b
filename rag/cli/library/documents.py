"""`pagelight documents`: list documents, and put them in the trash or take them out of it."""

import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich import filesize

from rag import errors, types
from rag.access.name_lookup import require_index
from rag.cli import name_lookup, output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, IndexName, takes_filters

if TYPE_CHECKING:
    from rag.engine import RAGEngine

Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Names or ids, as listed.")]
Search = Annotated[
    str | None, typer.Option("--search", metavar="TEXT", help="Only with this in name, title, author or a tag.")
]
InTrash = Annotated[bool, typer.Option("--trash", help="Only documents in the trash.")]

COLUMNS = ["id", "name", "status", "pages", "chunks", "size", "added", "dated", "author", "tags"]
NUMBERS = ["pages", "chunks", "size"]


def documents(
    index_name: IndexName = types.DEFAULT_INDEX, search: Search = None, trash: InTrash = False, as_json: AsJson = False
) -> None:
    """List documents; delete, restore or purge them. For anything else about one: pagelight api PATCH /documents/ID.

    pagelight documents
    pagelight documents delete draft.pdf
    pagelight documents restore draft.pdf
    """
    list_documents(index_name=index_name, search=search, trash=trash, as_json=as_json)


@takes_filters
def list_documents(
    *,
    index_name: IndexName = types.DEFAULT_INDEX,
    search: Search = None,
    filters: types.Filters,
    disabled: Annotated[
        bool | None, typer.Option("--disabled/--enabled", help="Only disabled, or only enabled documents.")
    ] = None,
    trash: InTrash = False,
    as_json: AsJson = False,
) -> None:
    """List documents, newest first.

    pagelight documents list --search 2023
    pagelight documents list --tag legal --dated-after 2024-01-01
    pagelight documents list --trash --json
    """
    with open_engine(index_name) as engine:
        require_index(engine, index_name)
        listed = engine.documents.list(index_name, search=search, filters=filters, disabled=disabled, in_trash=trash)
    columns = [*COLUMNS, "in"] if any(document.container_name for document in listed) else COLUMNS
    if filters != types.Filters():
        empty = "No document matches. See what there is: pagelight documents list; pagelight api GET /tags"
    elif search:
        empty = f"No document has “{search}” in its name, title, author or tags."
    else:
        empty = "The trash is empty." if trash else "No documents yet. Add some: pagelight ingest PATH"
    output.print_list(
        listed, columns, lambda document: _row(document)[: len(columns)], as_json=as_json, right=NUMBERS, empty=empty
    )


def _row(document: types.Document) -> Sequence[object]:
    status = document.status.value
    if document.status is types.DocumentStatus.FAILED:
        status = f"failed: {document.error}"
    elif reading := types.reading_progress(document):
        status = f"{status}: {reading}{f': {document.error}' if document.retry_after else ''}"
    if document.disabled:
        status = f"{status}, disabled"
    return (
        name_lookup.short_id(document.id),
        document.name,
        status,
        f"{document.page_count:,}",
        f"{document.chunk_count:,}",
        filesize.decimal(document.size),
        output.minute(document.created_at),
        document.dated or "",
        document.author or "",
        ", ".join(document.tags),
        document.container_name or "",
    )


def delete(names: Names, index_name: IndexName = types.DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """Move documents to the trash: they are no longer searched, but can be restored.

    pagelight documents delete draft.pdf
    """
    _apply(lambda engine: engine.documents.trash, "deleted", names, index_name, as_json=as_json)


def restore(names: Names, index_name: IndexName = types.DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """Take documents out of the trash.

    pagelight documents restore draft.pdf
    """
    _apply(lambda engine: engine.documents.restore, "restored", names, index_name, in_trash=True, as_json=as_json)


def purge(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME...", help="Names or ids, as listed.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Empty the trash.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    index_name: IndexName = types.DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Delete documents in the trash for good, files included, and print a receipt.

    pagelight documents purge draft.pdf
    pagelight documents purge --all --yes
    """
    with open_engine(index_name) as engine:
        if bool(names) == everything:
            raise errors.ValidationError("Name documents or give --all, not both.")
        if names:
            targets = name_lookup.find_single_documents(engine, index_name, names, in_trash=True)
        else:
            targets = list(engine.documents.list(require_index(engine, index_name), in_trash=True))
        if targets and not yes:
            typer.confirm(f"Delete {output.plural(len(targets), 'document')} for good?", abort=True, err=True)
        receipt = engine.documents.purge([document.id for document in targets])
        _print_touched("purged", targets, receipt.document_ids, as_json=as_json, receipt=receipt)


def _apply(
    action_of: "Callable[[RAGEngine], Callable[[Sequence[uuid.UUID]], Sequence[uuid.UUID]]]",
    verb: str,
    names: Sequence[str],
    index_name: str,
    *,
    in_trash: bool = False,
    as_json: bool,
) -> None:
    """Do something with the named documents, and print those that were touched."""
    with open_engine(index_name) as engine:
        targets = name_lookup.find_single_documents(engine, index_name, names, in_trash=in_trash)
        touched = action_of(engine)([document.id for document in targets])
    _print_touched(verb, targets, touched, as_json=as_json)


def _print_touched(
    verb: str,
    targets: Sequence[types.Document],
    touched: Sequence[uuid.UUID],
    *,
    as_json: bool,
    receipt: types.PurgeReceipt | None = None,
) -> None:
    done = [document for document in targets if document.id in set(touched)]
    if as_json:
        report: dict[str, object] = {verb: [{"documentId": document.id, "name": document.name} for document in done]}
        output.print_json(report | ({"receipt": receipt} if receipt else {}))
        return
    for document in done:
        output.print_text(f"{verb}  {name_lookup.short_id(document.id)}  {document.name}")
    if not done:
        output.print_text(f"Nothing {verb}.")
    elif receipt:
        parts = [output.plural(getattr(receipt, f"{noun}s"), noun) for noun in ("row", "chunk", "vector", "file")]
        output.print_text(f"Counted afterwards, gone: {', '.join(parts)}, {filesize.decimal(receipt.bytes)}.")
        if receipt.unfinished:
            left = output.plural(receipt.unfinished, "document")
            output.print_note(f"The files of {left} could not be deleted yet; a worker will try again.", style="yellow")

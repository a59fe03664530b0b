"""`pagelight documents`: list, edit, delete, restore and re-read documents."""

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag import errors, types
from rag.access.name_lookup import require_index
from rag.cli import name_lookup, output
from rag.cli.command import open_engine
from rag.cli.library import file_ingestion
from rag.cli.options import AsJson, DocumentName, IndexName, Password, takes_filters

if TYPE_CHECKING:
    from rag.engine import RAGEngine

_NAMES = typer.Argument(
    metavar="NAME...", help="Names or ids, as listed.", autocompletion=name_lookup.complete_document_name
)
Names = Annotated[list[str], _NAMES]
NamesOrAll = Annotated[list[str] | None, _NAMES]
Search = Annotated[
    str | None, typer.Option("--search", metavar="TEXT", help="Only with this in name, title, author or a tag.")
]
InTrash = Annotated[bool, typer.Option("--trash", help="Only documents in the trash.")]

COLUMNS = ["id", "name", "status", "pages", "chunks", "size", "added", "dated", "author", "tags"]
NUMBERS = ["pages", "chunks", "size"]


def documents(
    index_name: IndexName = types.DEFAULT_INDEX, search: Search = None, trash: InTrash = False, as_json: AsJson = False
) -> None:
    """List documents; edit, tag, delete, restore, purge, cancel or retry them.

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
        empty = "No document matches. See what there is: pagelight documents list; pagelight documents tags"
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
        output.size(document.size),
        output.minute(document.created_at),
        document.dated or "",
        document.author or "",
        ", ".join(document.tags),
        document.container_name or "",
    )


def versions(name: DocumentName, index_name: IndexName = types.DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """List the versions of a document, the latest first.

    pagelight documents versions report.pdf
    """
    with open_engine(index_name) as engine:
        listed = engine.versions.list(name_lookup.find_single_documents(engine, index_name, [name])[0].id)

    def row(version: types.Document) -> Sequence[object]:
        return (f"v{version.version}", "searched" if version.superseded_by is None else "", *_row(version))

    output.print_list(listed, ["version", "", *COLUMNS], row, as_json=as_json, right=NUMBERS)


def edit(
    name: DocumentName,
    *,
    new_name: Annotated[
        str | None, typer.Option("--name", metavar="TEXT", help="The new name; the file's suffix is kept.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="“”: as in the file.")] = None,
    author: Annotated[str | None, typer.Option(metavar="TEXT", help="“”: as in the file.")] = None,
    dated: Annotated[str | None, typer.Option(metavar="DAY", help="Such as 2024-03-01; “”: as in the file.")] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Add this tag; may be repeated.")
    ] = None,
    untags: Annotated[
        list[str] | None, typer.Option("--untag", metavar="TAG", help="Remove this tag; may be repeated.")
    ] = None,
    disabled: Annotated[
        bool | None, typer.Option("--disable/--enable", help="Leave it out of all searches, or include it again.")
    ] = None,
    index_name: IndexName = types.DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Edit a document's name, title, author, date and tags; disable or enable it.

    pagelight documents edit scan0001.pdf --name "Lease of the pier" --tag legal --dated 2021-03-04
    pagelight documents edit "Lease of the pier.pdf" --disable
    """
    given = {"name": new_name, "disabled": disabled, "title": title, "author": author, "dated": dated}
    changes = {
        field: None if value == "" and field != "name" else value for field, value in given.items() if value is not None
    }
    if not (changes or tags or untags):
        raise errors.ValidationError("There is nothing to change. Give at least one option, such as --name or --tag.")
    with open_engine(index_name) as engine:
        document = name_lookup.find_single_documents(engine, index_name, [name])[0]
        if changes:
            engine.documents.edit(document.id, changes)
        engine.documents.tag([document.id], add=tags or (), remove=untags or ())
        document = engine.documents.get(document.id)
    if as_json:
        output.print_json(document)
    else:
        output.print_table(COLUMNS, [_row(document)[: len(COLUMNS)]], right=NUMBERS)


def tags(index_name: IndexName = types.DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """List the tags of documents with their counts.

    pagelight documents tags
    """
    with open_engine(index_name) as engine:
        require_index(engine, index_name)
        listed = engine.documents.tags(index_name)
    columns = ["tag", "documents"]
    empty = "No document has a tag. Add one: pagelight documents edit NAME --tag TAG"
    output.print_list(
        listed, columns, lambda tag: (tag.name, tag.documents), as_json=as_json, right=["documents"], empty=empty
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
    names: NamesOrAll = None,
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
        targets = _named_or_all(engine, index_name, names, everything=everything, in_trash=True)
        if targets and not yes:
            typer.confirm(f"Delete {output.plural(len(targets), 'document')} for good?", abort=True, err=True)
        receipt = engine.documents.purge([document.id for document in targets])
        _print_touched("purged", targets, receipt.document_ids, as_json=as_json, receipt=receipt)


def cancel(names: Names, index_name: IndexName = types.DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """Cancel the reading of documents. The finished part stays searchable, and retry continues from there.

    pagelight documents cancel long.pdf
    """
    _apply(lambda engine: engine.documents.cancel, "cancelled", names, index_name, as_json=as_json)


def retry(
    names: NamesOrAll = None,
    everything: Annotated[bool, typer.Option("--all", help="All documents that failed.")] = False,
    password: Password = None,
    index_name: IndexName = types.DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Read failed documents again, here and now.

    pagelight documents retry scan.pdf
    pagelight documents retry board-minutes.pdf --password secret
    """
    with open_engine(index_name) as engine:
        targets = _named_or_all(engine, index_name, names, everything=everything)
        if everything:
            failed = {types.DocumentStatus.FAILED, types.DocumentStatus.NEEDS_PASSWORD}
            targets = [document for document in targets if document.status in failed]

        def read(document: types.Document, on_progress: types.OnProgress) -> list[file_ingestion.Outcome]:
            path = Path(document.name)
            if document.status is types.DocumentStatus.READY:
                return [file_ingestion.Outcome(path, "skipped", document, "ready", "It is ready.")]
            return file_ingestion.read_again(engine, document, password, path, on_progress)

        outcomes = file_ingestion.each(targets, read)
    file_ingestion.report(outcomes, as_json=as_json)


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


def _named_or_all(
    engine: "RAGEngine", index_name: str, names: Sequence[str] | None, *, everything: bool, in_trash: bool = False
) -> list[types.Document]:
    if bool(names) == everything:
        raise errors.ValidationError("Name documents or give --all, not both.")
    if names:
        return name_lookup.find_single_documents(engine, index_name, names, in_trash=in_trash)
    return list(engine.documents.list(require_index(engine, index_name), in_trash=in_trash))


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
        output.print_text(f"Counted afterwards, gone: {', '.join(parts)}, {output.size(receipt.bytes)}.")
        if receipt.unfinished:
            left = output.plural(receipt.unfinished, "document")
            output.print_note(f"The files of {left} could not be deleted yet; a worker will try again.", style="yellow")

"""`pagelight documents`: look, throw away, get back, stop reading, read again."""

import functools
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag import errors
from rag.cli import completion, name_lookup, output
from rag.cli.command import open_engine
from rag.cli.library import file_ingestion
from rag.cli.options import AsJson, IndexName, Password, takes_filters
from rag.types import DEFAULT_INDEX, Document, DocumentStatus, Filters, OnProgress, PurgeReceipt, reading_progress

if TYPE_CHECKING:
    from rag.engine import RAGEngine

Names = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME...", help="Names or ids, as listed.", show_default=False, autocompletion=completion.document_names
    ),
]
NamesOrAll = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME...]",
        help="Names or ids, as listed.",
        show_default=False,
        autocompletion=completion.document_names,
    ),
]
Search = Annotated[
    str | None, typer.Option("--search", metavar="TEXT", help="Only names with this.", show_default=False)
]
InTrash = Annotated[bool, typer.Option("--trash", help="Those in the trash.")]

COLUMNS = ["id", "name", "status", "pages", "chunks", "size", "added", "dated", "author", "tags"]
NUMBERS = ["pages", "chunks", "size"]


def documents(
    context: typer.Context,
    index_name: IndexName = DEFAULT_INDEX,
    search: Search = None,
    trash: InTrash = False,
    as_json: AsJson = False,
) -> None:
    """List documents; edit, tag, delete, restore, purge, cancel or retry them.

    pagelight documents
    pagelight documents delete draft.pdf
    pagelight documents restore draft.pdf
    """
    if context.invoked_subcommand is None:
        _list(index_name, search, Filters(), None, in_trash=trash, as_json=as_json)
    elif (index_name, search, trash, as_json) != (DEFAULT_INDEX, None, False, False):
        raise errors.ValidationError(f"Put the options behind “{context.invoked_subcommand}”.")


@takes_filters
def list_documents(
    *,
    index_name: IndexName = DEFAULT_INDEX,
    search: Search = None,
    filters: Filters,
    disabled: Annotated[bool | None, typer.Option("--disabled/--enabled", help="Only those.")] = None,
    trash: InTrash = False,
    as_json: AsJson = False,
) -> None:
    """List documents, newest first.

    pagelight documents list --search 2023
    pagelight documents list --tag legal --dated-after 2024-01-01
    pagelight documents list --trash --json
    """
    _list(index_name, search, filters, disabled, in_trash=trash, as_json=as_json)


def _list(
    index_name: str, search: str | None, filters: Filters, disabled: bool | None, *, in_trash: bool, as_json: bool
) -> None:
    with open_engine(index_name) as engine:
        name_lookup.require_index(engine, index_name)
        found = engine.documents.list(index_name, search=search, filters=filters, disabled=disabled, in_trash=in_trash)
    if as_json:
        output.print_json(found)
    elif found:
        columns = [*COLUMNS, "in"] if any(document.container_name for document in found) else COLUMNS
        output.print_table(columns, (_row(document)[: len(columns)] for document in found), right=NUMBERS)
    else:
        output.print_text(_none(search, filters, in_trash=in_trash))


def _row(document: Document) -> Sequence[object]:
    status = document.status.value
    if document.status is DocumentStatus.FAILED:
        status = f"failed: {document.error}"
    elif reading := reading_progress(document):
        status = f"{status}: {reading}"
        if document.retry_after:
            status = f"{status}: {document.error}"
    if document.disabled:
        status = f"{status}, disabled"
    return (
        name_lookup.short_id(document.id),
        document.name,
        status,
        f"{document.page_count:,}",
        f"{document.chunk_count:,}",
        output.size(document.size),
        f"{document.created_at.astimezone():%Y-%m-%d %H:%M}",
        document.dated or "",
        document.author or "",
        ", ".join(document.tags),
        document.container_name or "",
    )


def _none(search: str | None, filters: Filters, *, in_trash: bool) -> str:
    if filters != Filters():
        return "No document has all of this. See what there is: pagelight documents list; pagelight documents tags"
    if search:
        return f"No document's name has “{search}”."
    return "The trash is empty." if in_trash else "No documents yet. Take some in: pagelight ingest PATH"


def versions(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name or id, as listed.", show_default=False)],
    index_name: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """List the versions of a document, the latest first.

    pagelight documents versions report.pdf
    """
    with open_engine(index_name) as engine:
        found = engine.versions.list(name_lookup.find_document(engine, index_name, name).id)
    if as_json:
        output.print_json(found)
    else:
        rows = [(f"v{one.version}", "searched" if one.superseded_by is None else "", *_row(one)) for one in found]
        output.print_table(["version", "", *COLUMNS], rows, right=["pages", "chunks", "size"])


def edit(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name or id, as listed.", show_default=False, autocompletion=completion.document_names
        ),
    ],
    *,
    new_name: Annotated[str | None, typer.Option("--name", metavar="TEXT", help="It keeps its ending.")] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="“”: as the file has it.")] = None,
    author: Annotated[str | None, typer.Option(metavar="TEXT", help="“”: as the file has it.")] = None,
    dated: Annotated[str | None, typer.Option(metavar="DAY", help="As 2024-03-01; “”: as the file has it.")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="One more; may be repeated.")] = None,
    untags: Annotated[
        list[str] | None, typer.Option("--untag", metavar="TAG", help="One less; may be repeated.")
    ] = None,
    disabled: Annotated[
        bool | None, typer.Option("--disable/--enable", help="Leave it out of every search, or not any more.")
    ] = None,
    index_name: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Change what a document is called, its title, author, day and tags; disable or enable it.

    pagelight documents edit scan0001.pdf --name "Lease of the pier" --tag legal --dated 2021-03-04
    pagelight documents edit "Lease of the pier.pdf" --disable
    """
    given = {"name": new_name, "disabled": disabled, "title": title, "author": author, "dated": dated}
    said = {field: value for field, value in given.items() if value is not None}
    changes = {field: None if value == "" and field != "name" else value for field, value in said.items()}
    if not (changes or tags or untags):
        raise errors.ValidationError("Nothing is to be changed. Give at least one option, such as --name or --tag.")
    with open_engine(index_name) as engine:
        document = name_lookup.find_document(engine, index_name, name)
        if changes:
            engine.catalogue.edit(document.id, changes)
        engine.catalogue.tag([document.id], add=tags or (), remove=untags or ())
        document = engine.documents.get(document.id)
    if as_json:
        output.print_json(document)
    else:
        output.print_table(COLUMNS, [_row(document)[: len(COLUMNS)]], right=NUMBERS)


def tags(index_name: IndexName = DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """List the tags of documents, each with their number.

    pagelight documents tags
    """
    with open_engine(index_name) as engine:
        name_lookup.require_index(engine, index_name)
        found = engine.catalogue.tags(index_name)
    if as_json:
        output.print_json(found)
    elif found:
        output.print_table(["tag", "documents"], [(tag.name, tag.documents) for tag in found], right=["documents"])
    else:
        output.print_text("No document has a tag. Give one: pagelight documents edit NAME --tag TAG")


def delete(names: Names, index_name: IndexName = DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """Put documents in the trash: out of every search, restorable.

    pagelight documents delete draft.pdf
    """
    with open_engine(index_name) as engine:
        found = _named(engine, index_name, names)
        _print_touched("deleted", found, engine.documents.trash([document.id for document in found]), as_json=as_json)


def restore(names: Names, index_name: IndexName = DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """Take documents out of the trash.

    pagelight documents restore draft.pdf
    """
    with open_engine(index_name) as engine:
        found = _named(engine, index_name, names, in_trash=True)
        _print_touched(
            "restored", found, engine.documents.restore([document.id for document in found]), as_json=as_json
        )


def purge(
    names: NamesOrAll = None,
    everything: Annotated[bool, typer.Option("--all", help="Empty the trash.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    index_name: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Remove documents in the trash for good, files included, and tell what is gone.

    pagelight documents purge draft.pdf
    pagelight documents purge --all --yes
    """
    with open_engine(index_name) as engine:
        found = _named_or_all(engine, index_name, names, everything=everything, in_trash=True)
        if found and not yes:
            typer.confirm(f"Remove {output.plural(len(found), 'document')} for good?", abort=True, err=True)
        receipt = engine.documents.purge([document.id for document in found])
        _print_touched("purged", found, receipt.document_ids, as_json=as_json, receipt=receipt)


def cancel(names: Names, index_name: IndexName = DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """End the reading of documents. What is found of them stays, and retry goes on from there.

    pagelight documents cancel long.pdf
    """
    with open_engine(index_name) as engine:
        found = _named(engine, index_name, names)
        touched = engine.documents.cancel([document.id for document in found])
        _print_touched("cancelled", found, touched, as_json=as_json)


def retry(
    names: NamesOrAll = None,
    everything: Annotated[bool, typer.Option("--all", help="All that have failed.")] = False,
    password: Password = None,
    index_name: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Read failed documents again, here and now.

    pagelight documents retry scan.pdf
    pagelight documents retry board-minutes.pdf --password secret
    """
    with open_engine(index_name) as engine:
        found = _named_or_all(engine, index_name, names, everything=everything, wanted=_is_unread)
        outcomes = file_ingestion.each(found, functools.partial(_read_again, engine, password))
    if as_json:
        output.print_json(file_ingestion.summary(outcomes))
    if any(outcome.state == "failed" for outcome in outcomes):
        raise typer.Exit(errors.SourceError.exit_code)


def _is_unread(document: Document) -> bool:
    return document.status in {DocumentStatus.FAILED, DocumentStatus.NEEDS_PASSWORD}


def _read_again(
    engine: "RAGEngine", password: str | None, document: Document, on_progress: OnProgress
) -> list[file_ingestion.Outcome]:
    path = Path(document.name)
    if document.status is DocumentStatus.READY:
        return [file_ingestion.Outcome(path, "skipped", document, "ready", "It is ready.")]
    try:
        return file_ingestion.read_document(
            engine, file_ingestion.reopen(engine, document, password), path, on_progress
        )
    except errors.SourceError as error:
        return [file_ingestion.Outcome(path, "failed", document, error.code, error.message)]


def _named(engine: "RAGEngine", index_name: str, names: Sequence[str], *, in_trash: bool = False) -> list[Document]:
    found = name_lookup.find_documents(engine, index_name, names, in_trash=in_trash)
    name_lookup.require_unambiguous(found)
    return found


def _named_or_all(
    engine: "RAGEngine",
    index_name: str,
    names: Sequence[str] | None,
    *,
    everything: bool,
    in_trash: bool = False,
    wanted: Callable[[Document], bool] = lambda _: True,
) -> list[Document]:
    if bool(names) == everything:
        raise errors.ValidationError("Name documents, or give --all, but not both.")
    if names:
        return _named(engine, index_name, names, in_trash=in_trash)
    name_lookup.require_index(engine, index_name)
    return [document for document in engine.documents.list(index_name, in_trash=in_trash) if wanted(document)]


def _print_touched(
    verb: str,
    found: Sequence[Document],
    touched: Sequence[uuid.UUID],
    *,
    as_json: bool,
    receipt: PurgeReceipt | None = None,
) -> None:
    done = [document for document in found if document.id in set(touched)]
    if as_json:
        report: dict[str, object] = {verb: [{"documentId": document.id, "name": document.name} for document in done]}
        output.print_json(report | ({"receipt": receipt} if receipt else {}))
        return
    for document in done:
        output.print_text(f"{verb}  {name_lookup.short_id(document.id)}  {document.name}")
    if not done:
        output.print_text(f"Nothing {verb}.")
    elif receipt:
        _print_receipt(receipt)


def _print_receipt(receipt: PurgeReceipt) -> None:
    parts = [output.plural(getattr(receipt, f"{noun}s"), noun) for noun in ("row", "chunk", "vector", "file")]
    output.print_text(f"Counted afterwards, gone: {', '.join(parts)}, {output.size(receipt.bytes)}.")
    if receipt.unfinished:
        left = output.plural(receipt.unfinished, "document")
        output.print_note(f"The files of {left} could not be deleted yet; a worker goes on with them.", style="yellow")

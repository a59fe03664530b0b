"""`pagelight documents`: look, throw away, get back, stop reading, read again."""

import functools
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag import errors
from rag.cli import completion, files, lookup, output
from rag.cli.door import open_engine
from rag.cli.options import AsJson, IndexName, Password
from rag.types import DEFAULT_INDEX, Document, DocumentStatus, OnProgress, reading_of

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

COLUMNS = ["id", "name", "status", "pages", "chunks", "size", "added"]
NUMBERS = ["pages", "chunks", "size"]


def documents(
    context: typer.Context,
    index_name: IndexName = DEFAULT_INDEX,
    search: Search = None,
    trash: InTrash = False,
    as_json: AsJson = False,
) -> None:
    """List documents; delete, restore, purge, cancel or retry them.

    pagelight documents
    pagelight documents delete draft.pdf
    pagelight documents restore draft.pdf
    """
    if context.invoked_subcommand is None:
        list_documents(index_name, search, trash, as_json)
    elif (index_name, search, trash, as_json) != (DEFAULT_INDEX, None, False, False):
        raise errors.ValidationError(f"Put the options behind “{context.invoked_subcommand}”.")


def list_documents(
    index_name: IndexName = DEFAULT_INDEX,
    search: Search = None,
    trash: InTrash = False,
    as_json: AsJson = False,
) -> None:
    """List documents, newest first.

    pagelight documents list --search 2023
    pagelight documents list --trash --json
    """
    with open_engine() as engine:
        lookup.require_index(engine, index_name)
        found = engine.documents.list(index_name, search=search, in_trash=trash)
    if as_json:
        output.print_json(found)
    elif found:
        columns = [*COLUMNS, "in"] if any(document.container_name for document in found) else COLUMNS
        output.print_table(columns, (_row(document)[: len(columns)] for document in found), right=NUMBERS)
    else:
        output.print_text(_none(search, in_trash=trash))


def _row(document: Document) -> Sequence[object]:
    status = document.status.value
    if document.status is DocumentStatus.FAILED:
        status = f"failed: {document.error}"
    elif reading := reading_of(document):
        status = f"{status}: {reading}"
    return (
        lookup.short_id(document.id),
        document.name,
        status,
        f"{document.page_count:,}",
        f"{document.chunk_count:,}",
        output.size(document.size),
        f"{document.created_at.astimezone():%Y-%m-%d %H:%M}",
        document.container_name or "",
    )


def _none(search: str | None, *, in_trash: bool) -> str:
    if search:
        return f"No document's name has “{search}”."
    return "The trash is empty." if in_trash else "No documents yet. Take some in: pagelight ingest PATH"


def delete(names: Names, index_name: IndexName = DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """Put documents in the trash: out of every search, restorable.

    pagelight documents delete draft.pdf
    """
    with open_engine() as engine:
        found = _named(engine, index_name, names)
        _print_touched("deleted", found, engine.documents.trash([document.id for document in found]), as_json=as_json)


def restore(names: Names, index_name: IndexName = DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """Take documents out of the trash.

    pagelight documents restore draft.pdf
    """
    with open_engine() as engine:
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
    """Remove documents in the trash for good, files included.

    pagelight documents purge draft.pdf
    pagelight documents purge --all --yes
    """
    with open_engine() as engine:
        found = _named_or_all(engine, index_name, names, everything=everything, in_trash=True)
        if found and not yes:
            typer.confirm(f"Remove {output.plural(len(found), 'document')} for good?", abort=True, err=True)
        _print_touched("purged", found, engine.documents.purge([document.id for document in found]), as_json=as_json)


def cancel(names: Names, index_name: IndexName = DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """End the reading of documents. What is found of them stays, and retry goes on from there.

    pagelight documents cancel long.pdf
    """
    with open_engine() as engine:
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
    with open_engine() as engine:
        found = _named_or_all(engine, index_name, names, everything=everything, wanted=_is_unread)
        outcomes = files.each(found, functools.partial(_read_again, engine, password))
    if as_json:
        output.print_json(files.summary(outcomes))
    if any(outcome.state == "failed" for outcome in outcomes):
        raise typer.Exit(errors.SourceError.exit_code)


def _is_unread(document: Document) -> bool:
    return document.status in {DocumentStatus.FAILED, DocumentStatus.NEEDS_PASSWORD}


def _read_again(
    engine: "RAGEngine", password: str | None, document: Document, on_progress: OnProgress
) -> list[files.Outcome]:
    path = Path(document.name)
    if document.status is DocumentStatus.READY:
        return [files.Outcome(path, "skipped", document, "ready", "It is ready.")]
    try:
        return files.read_document(engine, files.reopen(engine, document, password), path, on_progress)
    except errors.SourceError as error:
        return [files.Outcome(path, "failed", document, error.code, error.message)]


def _named(engine: "RAGEngine", index_name: str, names: Sequence[str], *, in_trash: bool = False) -> list[Document]:
    found = lookup.find_documents(engine, index_name, names, in_trash=in_trash)
    lookup.require_unambiguous(found)
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
    lookup.require_index(engine, index_name)
    return [document for document in engine.documents.list(index_name, in_trash=in_trash) if wanted(document)]


def _print_touched(verb: str, found: Sequence[Document], touched: Sequence[uuid.UUID], *, as_json: bool) -> None:
    done = [document for document in found if document.id in set(touched)]
    if as_json:
        output.print_json({verb: [{"documentId": document.id, "name": document.name} for document in done]})
        return
    for document in done:
        output.print_text(f"{verb}  {lookup.short_id(document.id)}  {document.name}")
    if not done:
        output.print_text(f"Nothing {verb}.")

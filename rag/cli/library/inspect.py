"""`pagelight inspect`: show the contents of an index, down to its chunks."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich import filesize

from rag import errors, types
from rag.access.name_lookup import require_index
from rag.cli import name_lookup, output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, IndexName


def inspect(
    document: Annotated[
        str | None, typer.Option(metavar="NAME", help="Show this document's chunks (name or id).")
    ] = None,
    page: Annotated[int | None, typer.Option(min=1, help="Only chunks on this page of the document.")] = None,
    index_name: IndexName = types.DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Show the contents of an index, or the chunks of a document.

    pagelight inspect
    pagelight inspect --document report.pdf --page 3
    """
    if page is not None and document is None:
        raise errors.ValidationError("--page needs a document: add --document NAME.")
    with open_engine() as engine:
        require_index(engine, index_name)
        if document is None:
            stats = engine.inspect_index(index_name)
            if as_json:
                output.print_json(stats)
            else:
                _print_index(stats, engine.documents.list(index_name))
            return
        target = name_lookup.find_single_documents(engine, index_name, [document])[0]
        if page is not None and page > target.page_count:
            pages = output.plural(target.page_count, "page")
            raise errors.NotFoundError(f"“{target.name}” has {pages}, so no page {page}.")
        chunks = engine.store.chunks.of_document(target.id, page_number=page)
        if not as_json:
            output.print_reading(target.completeness)
            counts = types.line_counts(chunks)
            output.print_text(f"lines: {', '.join(f'{count:,} {kind}' for kind, count in counts.items()) or 0}")
        columns = ["#", "page", "lines", "section", "text"]
        output.print_list(chunks, columns, _chunk_row, as_json=as_json, right=columns[:3])


def _print_index(stats: types.IndexStats, documents: Sequence[types.Document]) -> None:
    """Print figures, and which documents were not read as a person sees them, the least complete first."""
    index = stats.index
    model = f"{index.space.provider}:{index.space.model}, {index.space.dimensions} dimensions"
    chunking = f"{index.chunking.chunk_size_chars} characters, {index.chunking.chunk_overlap_chars} overlap"
    rows = [
        ("index", index.name),
        ("embedding model", model),
        ("chunking", chunking),
        ("documents", f"{stats.documents:,}"),
        ("  failed", f"{stats.failed_documents:,}"),
        ("  in the trash", f"{stats.documents_in_trash:,}"),
        ("pages", f"{stats.pages:,}"),
        ("chunks", f"{stats.chunks:,}"),
        ("tokens", f"{stats.tokens:,}"),
        ("languages", ", ".join(map(types.language_name, stats.languages)) or "–"),
        ("files", filesize.decimal(stats.file_bytes)),
        ("database", filesize.decimal(stats.database_bytes)),
    ]
    output.print_table(["", ""], rows)
    if stats.advice:
        output.print_text(f"\n{stats.advice}")
    measured = [(document.completeness, document.name) for document in documents if document.completeness is not None]
    incomplete = [
        (name, "; ".join(completeness.summaries))
        for completeness, name in sorted(measured, key=lambda pair: pair[0].share)
        if completeness.summaries
    ]
    if incomplete:
        output.print_text("")
        output.print_table(["document", "not read as seen"], incomplete)


def _chunk_row(chunk: types.Chunk) -> tuple[object, ...]:
    first, last = chunk.pages[0], chunk.pages[-1]
    return (
        chunk.ordinal,
        str(first) if first == last else f"{first}–{last}",
        f"{chunk.line_start}–{chunk.line_end}",
        chunk.section,
        output.excerpt(chunk.labelled_text()),
    )

"""`pagelight export`: write your documents and chats in open formats."""

from pathlib import Path
from typing import Annotated

import typer

from rag.cli import output, progress
from rag.cli.command import open_engine
from rag.cli.options import AsJson


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write; new or empty.")],
    index_name: Annotated[str | None, typer.Option("--index", metavar="NAME", help="Only this index.")] = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="Include the chunks' vectors, which are large.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write your documents and chats into a folder, in open formats.

    The original files go to documents/; documents.jsonl, chunks.jsonl (text, pages, lines and their boxes) and
    conversations.jsonl (with quotes and their boxes) have one JSON object per line. The trash is not exported. To move
    a whole installation, use pagelight backup.

        pagelight export my-documents
        pagelight export filings --index filings --vectors
    """
    with open_engine() as engine, progress.show(documents="Documents") as on_progress:
        report = engine.exports.write(folder, index_name, vectors=vectors, on_progress=on_progress)
    if as_json:
        output.print_json({"folder": str(folder), **report._asdict()})
        return
    parts = [
        output.plural(report.documents, "document"),
        output.plural(report.chunks, "chunk"),
        output.plural(report.conversations, "chat"),
    ]
    output.print_text(f"Written to {folder}: {', '.join(parts)}.")
    for name in report.missing:
        output.print_note(f"The file of {name} is not in the storage.", style="yellow")

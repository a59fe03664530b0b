"""`pagelight diff`: compare two versions of a document."""

from typing import TYPE_CHECKING, Annotated

import typer

from rag import errors, types
from rag.cli import name_lookup, output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, DocumentName, IndexName

if TYPE_CHECKING:
    from rag.engine import RAGEngine


def diff(
    name: DocumentName,
    old: Annotated[
        int | None, typer.Option("--from", metavar="N", help="The older version; the previous one unless given.")
    ] = None,
    new: Annotated[
        int | None, typer.Option("--to", metavar="N", help="The newer version; the current one unless given.")
    ] = None,
    index_name: IndexName = types.DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Show what changed between two versions of a document, paragraph by paragraph.

    pagelight diff report.pdf
    pagelight diff report.pdf --from 1 --to 3
    """
    with open_engine() as engine:
        document = name_lookup.find_document(engine, index_name, name)
        later = document if new is None else _version(engine, document, new)
        earlier = engine.versions.before(later.id) if old is None else _version(engine, document, old)
        found = engine.versions.diff(earlier.id, later.id)
    if as_json:
        output.print_json(found)
        return
    for change in found.changes:
        _print("-", change.old, "red")
        _print("+", change.new, "green")
        output.print_text()
    parts = [f"{found.count('changed')} changed", f"{found.count('added')} added", f"{found.count('removed')} removed"]
    output.print_text(
        f"v{found.old_version} → v{found.new_version}: {', '.join(parts)}, {found.unchanged:,} paragraphs unchanged."
    )


def _version(engine: "RAGEngine", document: types.Document, number: int) -> types.Document:
    versions = engine.versions.list(document.id)
    for version in versions:
        if version.version == number:
            return version
    there = ", ".join(str(version.version) for version in versions)
    raise errors.NotFoundError(f"{document.name} has no version {number}. There are: {there}.")


def _print(sign: str, paragraph: types.ParagraphText | None, style: str) -> None:
    if paragraph is not None:
        output.print_text(f"{sign} p. {paragraph.page_number}  {' '.join(paragraph.text.split())}", style=style)

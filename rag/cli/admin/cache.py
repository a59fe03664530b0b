"""`pagelight cache`: show and clear the caches."""

from typing import Annotated

import typer

from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all entries.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show how much the caches hold and how often they help, or clear them.

    They hold embeddings of texts, rewrites of questions, hypothetical answers, ratings and answers of language models.

        pagelight cache
        pagelight cache --clear
    """
    with open_engine() as engine:
        removed = engine.caches.clear() if clear else None
        caches = engine.caches.stats()
    if as_json:
        rows = [{**entry._asdict(), "hit_rate": entry.hit_rate} for entry in caches]
        output.print_json({"removed": removed, "caches": rows})
        return
    if removed is not None:
        output.print_text(f"{removed:,} entries removed.")
    rows_shown = [
        (entry.kind, entry.entries, entry.bytes, entry.hits + entry.misses, output.score(entry.hit_rate))
        for entry in caches
    ]
    output.print_table(["cache", "entries", "bytes", "lookups", "hit rate"], rows_shown, right=["entries", "bytes"])

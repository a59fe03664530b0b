"""Words that several formats share."""

import datetime as dt
from collections.abc import Iterator

from rag.export.report import Turn

DIGEST_CHARS = 12
"""So much of a SHA-256 is shown where people read it; JSON has all of it."""


def when(moment: dt.datetime) -> str:
    """A moment as people read it, to the minute."""
    return f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"


def made_from(turn: Turn) -> Iterator[str]:
    """What an answer was made from, line by line; nothing where that was not kept."""
    made = turn.provenance
    if made is None:
        return
    for document in made.documents:
        yield f"{document.name}, version {document.version}, SHA-256 {document.sha256[:DIGEST_CHARS]}…"
    yield f"Index “{made.index_name}”, generation {made.generation}, {made.space.name}"
    yield f"Model {turn.model}, instructions version {made.prompt_version}, Pagelight {made.program_version}"
    options = {**made.configured, "max_context_tokens": made.answering.get("max_context_tokens")}
    yield ", ".join(
        f"{name} {options[name]}" for name in ("mode", "top_k", "min_score", "max_context_tokens") if name in options
    )

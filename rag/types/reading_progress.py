"""How far the reading of a document is, in words for people."""

import datetime as dt

from rag.types.documents import Document, DocumentStatus


def reading_of(document: Document) -> str | None:
    """What is being done with an unfinished document, what it can be asked by, and how long that takes; else None."""
    progress = document.progress
    if document.retry_after:
        wait = (document.retry_after - dt.datetime.now(dt.UTC)).total_seconds()
        return f"tried again in {_duration(wait)}"
    match document.status:
        case DocumentStatus.QUEUED:
            done = "waiting"
        case DocumentStatus.PARSING:
            done = f"page {progress.done:,} of {progress.total:,}" if progress.total else "reading"
        case DocumentStatus.EMBEDDING if document.vector_count < document.chunk_count:
            done = f"words only; meaning {100 * document.vector_count // document.chunk_count} %"
        case DocumentStatus.EMBEDDING:
            done = f"chunk {progress.done:,} of {progress.total:,}"
        case _:
            return None
    left = f", {_duration(progress.seconds_left)} left" if progress.seconds_left is not None else ""
    return f"{done}{left}"


def _duration(seconds: float) -> str:
    """Roughly, as nobody knows better: 8 s, 2 min, 1.5 h."""
    if seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 60 else f"{minutes / 60:.1f} h"

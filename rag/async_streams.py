"""Read blocking generators from an event loop."""

import asyncio
import itertools
import threading
from collections.abc import AsyncGenerator, Generator
from typing import TypeVar

Piece = TypeVar("Piece")


async def in_threads(pieces: Generator[Piece, None, object]) -> AsyncGenerator[Piece, None]:
    """Yield what `pieces` yields, each read in a thread, so that the event loop never waits.

    If the reader is cancelled or closes the stream, `pieces` is closed: at once, or as soon as the piece that is being
    read is there. A cancelled reader does not wait for that.
    """
    one_at_a_time = threading.Lock()  # a generator cannot be closed while it runs

    def read() -> list[Piece]:
        with one_at_a_time:
            return list(itertools.islice(pieces, 1))

    def close() -> None:
        with one_at_a_time:
            pieces.close()

    cancelled = False
    try:
        while piece := await asyncio.to_thread(read):
            yield piece[0]
    except asyncio.CancelledError:
        cancelled = True
        raise
    finally:
        closing = asyncio.get_running_loop().run_in_executor(None, close)
        if not cancelled:
            await closing

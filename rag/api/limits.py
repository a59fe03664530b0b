"""How much is taken at once: requests per minute, questions at the same time, and seconds for a body to arrive."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import limits
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag import errors

MAX_JSON_BYTES = 4 * 1024 * 1024
"""Of a body without a file; the longest lawful one is an evaluation's list of questions."""

FORM_BYTES = 64 * 1024
"""What a form has beside its file."""

SEARCHES_AT_ONCE = 4
"""More only wait for each other: a search computes, and there are few cores."""

PATIENCE_SECONDS = 20.0
"""How long a request waits for its turn."""


class RateLimiter:
    """Counts requests in a moving window of a minute, in this process."""

    def __init__(self) -> None:
        self._limiter = limits.strategies.MovingWindowRateLimiter(limits.storage.MemoryStorage())

    def count(self, who: str, per_minute: int) -> None:
        """Note a request of `who`; 0 means no limit.

        Raises:
            errors.RateLimitError: it is one too many.
        """
        if per_minute and not self._limiter.hit(limits.RateLimitItemPerMinute(per_minute), who):
            raise errors.RateLimitError(
                f"More than {per_minute} requests within a minute. Wait, or raise RAG_RATE_LIMIT_PER_MINUTE.",
                details={"per_minute": per_minute, "retry_after_seconds": 60},
            )


class Turns:
    """Lets so many requests do something at the same time; the others wait for their turn."""

    def __init__(self, count: int, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._free = threading.BoundedSemaphore(count)
        self._patience_seconds = patience_seconds

    @contextmanager
    def take(self) -> Iterator[None]:
        """A turn, which ends with the block.

        Raises:
            errors.BusyError: none came in time.
        """
        if not self._free.acquire(timeout=self._patience_seconds):
            raise errors.BusyError
        try:
            yield
        finally:
            self._free.release()


class BodyDeadline:
    """Ends requests whose body does not arrive in time."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        deadline = asyncio.get_running_loop().time() + self._seconds
        arrived = False

        async def receive_in_time() -> Message:
            nonlocal arrived
            if arrived:  # what comes now tells whether the client is still there
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408) from None
            arrived = message["type"] != "http.request" or not message.get("more_body", False)
            return message

        await self._app(scope, receive_in_time, send)

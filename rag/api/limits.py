"""How much is taken at once: questions at the same time, the size of a body and how slowly it may arrive."""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag import errors
from rag.slow_clients import BODY_BYTES_PER_SECOND

MAX_JSON_BYTES = 4 * 1024 * 1024
"""Of a body without a file; the longest lawful one is an evaluation's list of questions."""

FORM_BYTES = 64 * 1024
"""What a form has beside its file."""

UPLOAD_PATH = "/documents"

HANG_UP = {"connection": "close"}
"""Ends the connection, on which the rest of the body would still come."""

SEARCHES_AT_ONCE = min(4, max(2, os.cpu_count() or 1))
"""More than there are cores only wait for each other, and Python itself uses hardly more than four."""

PATIENCE_SECONDS = 20.0
"""How long a request waits for its turn."""


class Turns:
    """Lets so many requests do something at the same time; the others wait for their turn, first come, first served.

    A semaphore would let newcomers overtake those who wait.
    """

    def __init__(self, count: int, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._free = count
        self._patience_seconds = patience_seconds
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def take(self) -> Iterator[None]:
        """A turn, which ends with the block.

        Raises:
            errors.BusyError: none came in time.
        """
        self._wait()
        try:
            yield
        finally:
            self._pass_on()

    def _wait(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(self._patience_seconds):
            return
        with self._lock:
            if mine.is_set():  # it came in this very moment
                return
            self._waiting.remove(mine)
        raise errors.BusyError

    def _pass_on(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


class BodyLimits:
    """Ends requests whose body is too large or rests too long; what was declared too large is not read.

    A body that goes on arriving, if ever so slowly, may take any time.
    """

    def __init__(self, app: ASGIApp, *, seconds: float, upload_bytes: int) -> None:
        self._app = app
        self._seconds = seconds
        self._upload_bytes = upload_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        clock = asyncio.get_running_loop().time
        patience = self._seconds
        limit = self._limit(scope)
        room = limit if _declared(scope) <= limit else -1
        arrived = False

        async def receive_within_limits() -> Message:
            nonlocal arrived, room, patience
            if arrived:  # what comes now tells whether the client is still there
                return await receive()
            if room < 0:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, headers=HANG_UP)
            asked = clock()
            try:
                async with asyncio.timeout(patience):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, headers=HANG_UP) from None
            came = len(message.get("body", b""))
            patience = min(self._seconds, patience - (clock() - asked) + came / BODY_BYTES_PER_SECOND)
            room -= came
            if room < 0:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, headers=HANG_UP)
            arrived = message["type"] != "http.request" or not message.get("more_body", False)
            return message

        await self._app(scope, receive_within_limits, send)

    def _limit(self, scope: Scope) -> int:
        """Bytes that the body may have."""
        is_upload = scope["method"] == "POST" and scope["path"].endswith(UPLOAD_PATH)
        return self._upload_bytes + FORM_BYTES if is_upload else MAX_JSON_BYTES


def _declared(scope: Scope) -> int:
    """The body's length as the request's head has it; 0 if it does not say."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0

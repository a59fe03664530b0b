"""Limit concurrent questions, the size and slowness of request bodies, and work for clients that have gone."""

import asyncio
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag import errors
from rag.answering.generation.model_answer import Stop

MAX_JSON_BYTES = 4 * 1024 * 1024
"""Maximum size of a body without a file."""

FORM_BYTES = 64 * 1024
"""Allowance for the rest of a form besides its file."""

UPLOAD_PATH = "/documents"

CLOSE_CONNECTION = {"connection": "close"}
"""Closes the connection, so that the rest of the body is not received."""

SEARCHES_AT_ONCE = min(4, max(2, os.cpu_count() or 1))
"""More than the number of cores would only wait for each other, and Python hardly uses more than four."""

WAIT_SECONDS = 20.0
"""How long a request waits in the queue."""


class FairSemaphore:
    """A semaphore that serves threads in the order of their arrival, and whose waits time out."""

    def __init__(self, count: int, timeout: float = WAIT_SECONDS) -> None:
        self._free = count
        self._timeout = timeout
        self._waiting: deque[threading.Event] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Hold a slot for the block. Raises BusyError if none becomes free in time."""
        self._wait()
        try:
            yield
        finally:
            with self._lock:
                if self._waiting:
                    self._waiting.popleft().set()  # hands its slot on
                else:
                    self._free += 1

    def _wait(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            mine = threading.Event()
            self._waiting.append(mine)
        if mine.wait(self._timeout):
            return
        with self._lock:
            if mine.is_set():  # it was served in this very moment
                return
            self._waiting.remove(mine)
        raise errors.BusyError


async def _watch_client(request: Request) -> AsyncIterator[Stop]:
    is_gone = threading.Event()

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        is_gone.set()

    watcher = asyncio.create_task(watch())
    yield is_gone.is_set
    watcher.cancel()


ClientIsGone = Annotated[Stop, Depends(_watch_client)]
"""A function that returns True once the client has closed its connection."""


class BodyLimits:
    """Middleware that refuses bodies that are too large or pause too long.

    A body that is declared too large is not read; one that keeps arriving may take any time.
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
        is_upload = scope["method"] == "POST" and scope["path"].endswith(UPLOAD_PATH)
        room = self._upload_bytes + FORM_BYTES if is_upload else MAX_JSON_BYTES
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and int(declared) > room:
            room = -1
        complete = False

        async def receive_within_limits() -> Message:
            nonlocal complete, room
            if complete:  # later messages only tell whether the client is still connected
                return await receive()
            if room < 0:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, headers=CLOSE_CONNECTION)
            try:
                async with asyncio.timeout(self._seconds):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, headers=CLOSE_CONNECTION) from None
            room -= len(message.get("body", b""))
            if room < 0:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, headers=CLOSE_CONNECTION)
            complete = message["type"] != "http.request" or not message.get("more_body", False)
            return message

        await self._app(scope, receive_within_limits, send)

"""Half-sent requests are hung up on; what moves, and what is being answered, is not. The clock is set forward."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from rag.api.limits import BodyLimits
from rag.slow_clients import BODY_BYTES_PER_SECOND, BODY_SECONDS, HEAD_SECONDS, ConnectionGuard

HEAD = b"POST / HTTP/1.1\r\nhost: x\r\n"
PIECE = bytes(16 * BODY_BYTES_PER_SECOND)
MUCH_LATER = 100 * BODY_SECONDS


class Clock(asyncio.SelectorEventLoop):
    """A loop whose clock can be set forward."""

    ahead = 0.0

    def time(self) -> float:
        """Seconds."""
        return super().time() + self.ahead


class Client:
    """A connection to the server, in the same loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
        await pause()

    async def answer(self) -> tuple[int, bytes]:
        """Status and body of an answer that says how long it is."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
        return int(head.split()[1]), await self._reader.readexactly(int(length.split()[1]))

    async def piece(self) -> bytes:
        return await self._reader.read(65536)

    async def is_hung_up_on(self) -> bool:
        try:
            return await self._reader.read() == b""
        except ConnectionResetError:
            return True


async def pause() -> None:
    """Let everything happen that is due by now; what was sent on loopback has arrived already."""
    for _ in range(20):
        await asyncio.sleep(0)


async def pass_time(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Clock)
    loop.ahead += seconds
    await pause()


async def count(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the length of the body."""
    length, more = 0, True
    while more:
        message = await receive()
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
    await say(send, str(length).encode())


async def say(send: Send, body: bytes) -> None:
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def serving(app: Any = count, **limits: Any) -> AsyncIterator[Callable[[], Awaitable[Client]]]:
    """Makes connections to a guarded server."""
    config = uvicorn.Config(
        app,
        port=0,
        log_config=None,
        lifespan="off",
        http=ConnectionGuard(**limits).protocol,
        timeout_graceful_shutdown=0,
    )
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    port = server.servers[0].sockets[0].getsockname()[1]
    opened: list[asyncio.StreamWriter] = []

    async def connect() -> Client:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        opened.append(writer)
        await pause()
        return Client(reader, writer)

    try:
        yield connect
    finally:
        for writer in opened:
            writer.close()
        await server.shutdown()


Connect = Callable[[], Awaitable[Client]]


def run(test: Callable[[Connect], Awaitable[None]], app: Any = count, **limits: Any) -> None:
    async def main() -> None:
        async with serving(app, **limits) as connect:
            await test(connect)

    with asyncio.Runner(loop_factory=Clock) as runner:
        runner.run(main())


@pytest.mark.parametrize("begun", [b"", b"PO", HEAD], ids=["nothing", "a word", "half a head"])
def test_a_head_that_does_not_come_in_time_ends_the_connection(begun: bytes) -> None:
    async def test(connect: Connect) -> None:
        client = await connect()
        await client.send(begun)
        await pass_time(HEAD_SECONDS + 2)
        assert await client.is_hung_up_on()

    run(test)


def test_a_head_is_not_given_more_time_because_it_trickles() -> None:
    async def test(connect: Connect) -> None:
        client = await connect()
        for _ in range(4):
            await client.send(b"x")
            await pass_time(HEAD_SECONDS / 3)
        assert await client.is_hung_up_on()

    run(test)


def test_the_second_request_of_a_connection_has_its_own_time() -> None:
    async def test(connect: Connect) -> None:
        client = await connect()
        for _ in range(3):
            await client.send(HEAD + b"content-length: 2\r\n\r\nab")
            assert await client.answer() == (200, b"2")
            await pass_time(2)
        await client.send(HEAD)
        await pass_time(HEAD_SECONDS + 2)
        assert await client.is_hung_up_on()

    run(test)


def test_a_body_that_rests_too_long_ends_the_connection() -> None:
    async def test(connect: Connect) -> None:
        client = await connect()
        await client.send(HEAD + b"content-length: 100\r\n\r\nab")
        await pass_time(BODY_SECONDS + 2)
        assert await client.is_hung_up_on()

    run(test)


def test_a_body_that_only_trickles_ends_too() -> None:
    async def test(connect: Connect) -> None:
        client = await connect()
        await client.send(HEAD + b"content-length: 100\r\n\r\n")
        for _ in range(4):
            await client.send(b"x")
            await pass_time(BODY_SECONDS / 3)
        assert await client.is_hung_up_on()

    run(test)


@pytest.mark.parametrize("app", [count, BodyLimits(count, seconds=BODY_SECONDS, upload_bytes=0)], ids=["", "the API's"])
def test_an_upload_that_moves_may_take_hours(app: Any) -> None:
    async def test(connect: Connect) -> None:
        client = await connect()
        await client.send(HEAD + f"content-length: {20 * len(PIECE)}\r\n\r\n".encode())
        for _ in range(20):
            await client.send(PIECE)
            await pass_time(15)
        assert await client.answer() == (200, str(20 * len(PIECE)).encode())

    run(test, app)


def test_an_answer_may_take_any_time_to_come() -> None:
    go_on = asyncio.Event()

    async def stream(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        await go_on.wait()
        await send({"type": "http.response.body", "body": b"last"})

    async def test(connect: Connect) -> None:
        client = await connect()
        await client.send(HEAD + b"content-length: 0\r\n\r\n")
        assert b"first" in await client.piece()
        await pass_time(MUCH_LATER)
        go_on.set()
        assert b"last" in await client.piece()

    run(test, stream)


def test_who_finds_no_room_is_told_when_to_come_back() -> None:
    async def test(connect: Connect) -> None:
        waiting = [await connect(), await connect()]
        for client in waiting:
            await client.send(HEAD + b"content-length: 0\r\n\r\n")
            assert await client.answer() == (200, b"0")
        client = await connect()
        await client.send(HEAD + b"content-length: 0\r\n\r\n")
        status, body = await client.answer()
        assert status == 503
        assert json.loads(body)["error"]["type"] == "busy"

    run(test, max_connections=2)


@pytest.mark.parametrize("limits", [{"max_connections": 2}, {"max_per_address": 2}], ids=str)
def test_a_half_sent_request_makes_room_for_another(limits: dict[str, int]) -> None:
    async def test(connect: Connect) -> None:
        slow = [await connect(), await connect()]
        await slow[1].send(HEAD)
        await pass_time(3)
        await slow[0].send(HEAD)
        await pass_time(2)
        client = await connect()
        await client.send(HEAD + b"content-length: 0\r\n\r\n")
        assert await client.answer() == (200, b"0")
        assert await slow[1].is_hung_up_on()  # of which nothing was heard for longest
        await slow[0].send(b"content-length: 0\r\n\r\n")
        assert await slow[0].answer() == (200, b"0")

    run(test, **limits)

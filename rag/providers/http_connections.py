"""The HTTP client that all vendor clients share, and a record of its open responses."""

import atexit
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

import httpx

LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")

_recorded: ContextVar[list[httpx.Response] | None] = ContextVar("recorded", default=None)


@cache
def http_client() -> httpx.Client:
    """Return the process's HTTP client, so that models opened per request reuse connections; no proxy for loopback."""
    client = httpx.Client(
        follow_redirects=True, verify=tls_context(), event_hooks={"response": [_record]}, mounts=dict.fromkeys(LOOPBACK)
    )
    atexit.register(client.close)
    return client


@cache
def tls_context() -> ssl.SSLContext:
    """Return the trusted certificates, cached because reading them is the slowest part of opening a model."""
    return httpx.create_ssl_context()


@contextmanager
def record_responses(responses: list[httpx.Response]) -> Iterator[None]:
    """Append the responses that begin within the block to `responses`, so that the caller can close them.

    The vendors' libraries close a stream that is not read to its end only when it is garbage-collected, which
    LlamaIndex's instrumentation delays by a reference cycle. The collector may then run in a thread that holds the
    lock of the same connection pool, and wait for that lock for ever.
    """
    token = _recorded.set(responses)
    try:
        yield
    finally:
        _recorded.reset(token)


def close_all(responses: Iterable[httpx.Response]) -> None:
    """Close each response that is still open."""
    for response in responses:
        response.close()


def _record(response: httpx.Response) -> None:
    responses = _recorded.get()
    if responses is not None:
        responses.append(response)

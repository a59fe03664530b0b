"""The process's connections to all vendors, and the answers that are still being read from them."""

import atexit
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

import httpx

HERE = ("all://127.0.0.1", "all://localhost", "all://[::1]")

_noted: ContextVar[list[httpx.Response] | None] = ContextVar("noted", default=None)


@cache
def http_client() -> httpx.Client:
    """One for all: a model is opened per request, its connection is not. What is on this machine gets no proxy."""
    client = httpx.Client(
        follow_redirects=True, verify=tls_context(), event_hooks={"response": [_note]}, mounts=dict.fromkeys(HERE)
    )
    atexit.register(client.close)
    return client


@cache
def tls_context() -> ssl.SSLContext:
    """The trusted certificates: reading them takes longer than everything else about opening a model."""
    return httpx.create_ssl_context()


@contextmanager
def noting(responses: list[httpx.Response]) -> Iterator[None]:
    """Add what vendors begin to answer meanwhile to `responses`, so that who asked can close it.

    The vendors' libraries close it themselves only when their generators are collected as garbage, which
    LlamaIndex's instrumentation puts off by keeping them in a reference cycle.
    """
    token = _noted.set(responses)
    try:
        yield
    finally:
        _noted.reset(token)


def _note(response: httpx.Response) -> None:
    responses = _noted.get()
    if responses is not None:
        responses.append(response)

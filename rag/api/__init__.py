"""The REST API: `create_app(engine)` is an ASGI application; `pagelight serve` runs it."""

from rag.api.app import create_app

__all__ = ["create_app"]

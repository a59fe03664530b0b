"""The REST API on a real port, over a real database, with two users and their keys."""

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from pydantic import SecretStr

from rag.api import create_app
from rag.config import load_config
from rag.engine import RAGEngine
from rag.providers.http_connections import tls_context
from rag.types import Permission
from tests import pdfs

SHARED_KEY = "the shared secret of this server"

FACTS = {
    "harbour.pdf": "The harbour of Lindmark handled 4,812 ships in 2019.\nIts crane lifts 95 tonnes.",
    "orchard.pdf": "The orchard grows eleven kinds of pears.\nHarvest begins in the last week of August.",
}


@contextlib.contextmanager
def serving(engine: RAGEngine) -> Iterator[str]:
    """The base URL of the API while the block runs."""
    server = uvicorn.Server(
        uvicorn.Config(create_app(engine.installation), port=0, log_config=None, timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def open_engine(database_url: str, data_dir: Path, **settings: Any) -> RAGEngine:
    """An engine over an empty database, with the shared key unless `settings` say otherwise."""
    values = {"rag_api_key": SecretStr(SHARED_KEY), **settings}
    return RAGEngine(load_config(rag_data_dir=data_dir, rag_database_url=database_url, **values))


def take_in(engine: RAGEngine, names: tuple[str, ...] = tuple(FACTS)) -> dict[str, str]:
    """Ready documents of the engine's user: ids by name."""
    ids = {}
    for name in names:
        added = engine.documents.add(pdfs.plain(FACTS[name].split("\n"), title=name[:-4].title()), name, enqueue=False)
        assert engine.documents.process(added.id).status == "ready"
        ids[name] = str(added.id)
    return ids


def client(base_url: str, key: str | None = SHARED_KEY, **headers: str) -> httpx.Client:
    """A client with a key, that waits as long as it takes."""
    given = {"x-api-key": key, **headers} if key else headers
    return httpx.Client(base_url=base_url, headers=given, timeout=120, trust_env=False, verify=tls_context())


def key_of(engine: RAGEngine, user_id: str, *permissions: Permission) -> str:
    """A new key of a user."""
    return engine.installation.for_user(user_id).keys.create("test", permissions or ("read",))[1]


def error_of(response: Any) -> tuple[int, str]:
    """Status and type of an error response, of whichever client, which has the documented shape."""
    body = response.json()
    assert body.keys() == {"success", "error"}
    assert body["success"] is False
    assert body["error"].keys() == {"type", "message", "details"}
    assert body["error"]["message"]
    return response.status_code, body["error"]["type"]

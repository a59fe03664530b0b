"""A real PostgreSQL for every test: one server per session, one database per test."""

import functools
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from rag import store
from rag.config import load_config
from rag.engine import RAGEngine
from rag.providers import embedded_models
from rag.store.server import embedded
from tests.databases import Databases, new_database
from tests.folders import open_folder


@pytest.fixture(scope="session")
def server_url(external_database_url: str | None) -> Iterator[str]:
    """The server of `RAG_DATABASE_URL`, else an embedded one."""
    if external_database_url:
        yield external_database_url
        return
    with open_folder() as folder:
        with pytest.MonkeyPatch.context() as settings:
            for setting in ("fsync", "full_page_writes"):  # nothing here has to outlive a power cut
                settings.setitem(embedded.SETTINGS, setting, "off")
            settings.setitem(embedded.SETTINGS, "shared_buffers", "32MB")  # of which each connection has to map a part
            server = embedded.start(folder / "database")
        yield server.url
        server.close()


@pytest.fixture(scope="session", autouse=True)
def texts_embedded_once() -> Iterator[None]:
    """The local model would compute the vectors of the same sentences for one test after another."""
    vector = functools.cache(embedded_models._embed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded_models, "_embed", lambda model, text: list(vector(model, text)))
        yield


@pytest.fixture(scope="session")
def databases(server_url: str, external_database_url: str | None) -> Iterator[Databases]:
    """Databases with our schema and nothing in them."""
    ours = Databases(server_url)
    yield ours
    if external_database_url:  # the embedded server is removed as a whole
        ours.close()


@pytest.fixture
def empty_url(server_url: str) -> Iterator[str]:
    """A database of its own, without a schema."""
    with new_database(server_url) as url:
        yield url


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A database of its own with our schema."""
    with databases.lent() as url:
        yield url


@pytest.fixture
def db(database_url: str) -> Iterator[store.Store]:
    """A store on a database of its own."""
    with store.Store.open(database_url, pool_size=4) as opened:
        yield opened


@pytest.fixture(scope="module")
def module_url(databases: Databases) -> Iterator[str]:
    """A database with our schema that the tests of a module share."""
    with databases.lent() as url:
        yield url


@pytest.fixture(scope="module")
def module_db(module_url: str) -> Iterator[store.Store]:
    """A store that the tests of a module share, who leave it as they found it."""
    with store.Store.open(module_url, pool_size=4) as opened:
        yield opened


@pytest.fixture
def engine(database_url: str, tmp_path: Path) -> Iterator[RAGEngine]:
    """Ada's engine, over a database and files of its own."""
    config = load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url)
    with RAGEngine(config, user_id="ada") as opened:
        yield opened


@contextmanager
def new_account(server_url: str) -> Iterator[str]:
    """The name of a new account on the embedded server, which admits it as it does no stranger; dropped at the end."""
    name = f"account_{uuid.uuid4().hex}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        (file,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        rules = Path(file).read_text()
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        try:
            Path(file).write_text(f"local all {name} trust\n{rules}")
            connection.execute("SELECT pg_reload_conf()")
            while not admits(server_url, name):  # it reads its rules again in its own time
                time.sleep(0.05)
            yield name
        finally:
            Path(file).write_text(rules)
            connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def admits(server_url: str, account: str) -> bool:
    """Whether an account may log in."""
    try:
        psycopg.connect(server_url, user=account).close()
    except psycopg.OperationalError:
        return False
    return True

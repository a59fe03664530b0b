"""A real PostgreSQL for every test: one server for all processes of a run, one database per test."""

import functools
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from filelock import FileLock
from psycopg import conninfo, sql

from rag.config import load_config
from rag.engine import Installation, RAGEngine
from rag.providers import embedded_models
from rag.store.server import embedded
from rag.store.store import Store
from tests.databases import Databases, join_nodes, migrated_database, new_database
from tests.folders import shared_folder

SERVER_SETTINGS = {
    "fsync": "off",  # nothing here has to outlive a power cut
    "full_page_writes": "off",
    "shared_buffers": "64MB",  # each connection has to map a part of it
    "max_connections": "200",
}


@pytest.fixture(scope="session")
def run_folder(testrun_uid: str) -> Iterator[Path]:
    """A folder that the processes of this run share."""
    with shared_folder(f"pagelight-test-{testrun_uid}") as folder:
        yield folder


@pytest.fixture(scope="session")
def server_url(external_database_url: str | None, run_folder: Path) -> Iterator[str]:
    """The server of `RAG_TEST_DATABASE_URL`, else an embedded one, which the first process of the run starts."""
    if external_database_url:
        yield external_database_url
        return
    with pytest.MonkeyPatch.context() as settings:
        for setting, value in SERVER_SETTINGS.items():
            settings.setitem(embedded.SETTINGS, setting, value)
        server = embedded.start(run_folder / "database")
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
def databases(server_url: str, external_database_url: str | None, run_folder: Path) -> Iterator[Databases]:
    """Databases with our schema and nothing in them."""
    if external_database_url:
        with ExitStack() as kept:
            with FileLock(run_folder / "template.lock"):  # roles are of the whole server
                template = kept.enter_context(migrated_database(server_url))
            yield kept.enter_context(closing(Databases(server_url, template)))
        return
    name = run_folder / "template"
    with FileLock(run_folder / "template.lock"):
        if not name.exists():
            with ExitStack() as kept:
                name.write_text(kept.enter_context(migrated_database(server_url)))
                kept.pop_all()  # the embedded server is removed as a whole
    yield Databases(server_url, name.read_text())


@pytest.fixture
def empty_url(server_url: str) -> Iterator[str]:
    """A database of its own, without a schema."""
    with new_database(server_url) as url:
        yield url


@pytest.fixture
def empty_cluster_url(server_url: str) -> Iterator[str]:
    """A database without a schema on all nodes of a Citus cluster."""
    with new_database(server_url, on_all_nodes=True) as url:
        join_nodes(server_url, str(conninfo.conninfo_to_dict(url)["dbname"]))
        yield url


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A database of its own with our schema."""
    with databases.lent() as url:
        yield url


@pytest.fixture
def db(database_url: str) -> Iterator[Store]:
    """A store on a database of its own."""
    with Store.open(database_url, pool_size=4) as opened:
        yield opened


@pytest.fixture(scope="module")
def module_url(databases: Databases) -> Iterator[str]:
    """A database with our schema that the tests of a module share."""
    with databases.lent() as url:
        yield url


@pytest.fixture(scope="module")
def module_db(module_url: str) -> Iterator[Store]:
    """A store that the tests of a module share, who leave it as they found it."""
    with Store.open(module_url, pool_size=4) as opened:
        yield opened


@pytest.fixture
def installation(database_url: str, tmp_path: Path) -> Iterator[Installation]:
    """An installation over a database and files of its own."""
    with Installation(load_config(rag_data_dir=tmp_path / "data", rag_database_url=database_url)) as opened:
        yield opened


@pytest.fixture
def ada(installation: Installation) -> RAGEngine:
    """Ada's engine there."""
    return installation.for_user("ada")


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
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        rule = f"local all {name} trust\n"
        try:
            change_rules(Path(file), lambda rules: rule + rules)
            connection.execute("SELECT pg_reload_conf()")
            while not admits(server_url, name):  # it reads its rules again in its own time
                time.sleep(0.05)
            yield name
        finally:
            change_rules(Path(file), lambda rules: rules.replace(rule, ""))
            connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def change_rules(file: Path, change: Callable[[str], str]) -> None:
    """Edit the access rules of a server that other processes may be editing."""
    with FileLock(f"{file}.lock"):
        file.write_text(change(file.read_text()))


def admits(server_url: str, account: str) -> bool:
    """Whether an account may log in."""
    try:
        psycopg.connect(server_url, user=account).close()
    except psycopg.OperationalError:
        return False
    return True

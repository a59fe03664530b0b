"""Databases for benchmarks: temporary ones, and large ones that later runs reuse."""

import hashlib
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import resources
from typing import LiteralString

import psycopg
from psycopg import conninfo, sql

from benchmarks.settings import Options
from rag.store.server import embedded, named_queries

Fill = Callable[[str], None]

NODES = "SELECT nodename, nodeport FROM pg_dist_node WHERE isactive AND noderole = 'primary' ORDER BY groupid"
"""The nodes of a Citus cluster, its coordinator first."""


@contextmanager
def server(options: Options) -> Iterator[str]:
    """Yield the server of `RAG_DATABASE_URL`, or else an embedded one in a separate folder."""
    if options.config.rag_database_url:
        yield options.config.rag_database_url.get_secret_value()
        return
    started = embedded.start(options.folder / "database")
    yield started.url
    started.close()


@contextmanager
def temporary(server_url: str, template: str = "template1", *, name: str = "") -> Iterator[str]:
    """Yield a new database, optionally from `template`, and drop it at the end."""
    name = name or f"pagelight_bench_{uuid.uuid4().hex}"
    _administer(server_url, "CREATE DATABASE {} TEMPLATE {}", name, template)
    try:
        yield conninfo.make_conninfo(server_url, dbname=name)
    finally:
        _administer(server_url, "DROP DATABASE {} WITH (FORCE)", name)


@contextmanager
def on_all_nodes(coordinator_url: str) -> Iterator[str]:
    """Yield a new database on all nodes of a Citus cluster, as a cluster of its own, and drop it at the end."""
    with psycopg.connect(coordinator_url) as connection:
        nodes = connection.execute(NODES).fetchall()
    with ExitStack() as stack:
        name = f"pagelight_bench_{uuid.uuid4().hex}"
        servers = [conninfo.make_conninfo(coordinator_url, host=host, port=port) for host, port in nodes]
        for server_url in servers:
            url = stack.enter_context(temporary(server_url, name=name))
            with psycopg.connect(url, autocommit=True) as node:
                node.execute("CREATE EXTENSION citus; CREATE EXTENSION vector")
        url = conninfo.make_conninfo(servers[0], dbname=name)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SELECT citus_set_coordinator_host(%s, %s)", nodes[0])
            for address in nodes[1:]:
                connection.execute("SELECT citus_add_node(%s, %s)", address)
        yield url


def copied(url: str) -> AbstractContextManager[str]:
    """Yield a copy of an unused database and drop it at the end."""
    return temporary(url, str(conninfo.conninfo_to_dict(url)["dbname"]))


@contextmanager
def filled(server_url: str, name: str, fill: Fill, *, keep: bool) -> Iterator[str]:
    """Yield a database made by `fill`; with `keep` later runs reuse it."""
    if keep:
        yield prepared(server_url, name, fill)
        return
    with temporary(server_url) as url:
        fill(url)
        yield url


def prepared(server_url: str, name: str, fill: Fill) -> str:
    """Return the database made by `fill`, in this run or in an earlier one with the same schema.

    It gets its name when it is complete; an interrupted one is made again.
    """
    name = f"pagelight_bench_{name}_{schema_version()}"
    if not _exists(server_url, name):
        unfinished = f"{name}_unfinished"
        _administer(server_url, "DROP DATABASE IF EXISTS {} WITH (FORCE)", unfinished)
        _administer(server_url, "CREATE DATABASE {}", unfinished)
        fill(conninfo.make_conninfo(server_url, dbname=unfinished))
        _administer(server_url, "ALTER DATABASE {} RENAME TO {}", unfinished, name)
    return conninfo.make_conninfo(server_url, dbname=name)


def schema_version() -> str:
    """Return a digest of everything that decides how chunks are stored."""
    folder = resources.files("rag.store") / "sql" / "migrations"
    migrations = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    scripts = [(folder / name).read_text(encoding="utf-8") for name in migrations]
    writing = [named_queries.load_text("chunks")[name] for name in ("add", "postings", "add_postings")]
    return hashlib.sha256("\n".join([*scripts, *writing]).encode()).hexdigest()[:8]


def _exists(server_url: str, name: str) -> bool:
    with psycopg.connect(server_url) as connection:
        return connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone() is not None


def _administer(server_url: str, statement: LiteralString, *names: str) -> None:
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

"""Databases for tests, with our schema and no rows; they are emptied and reused.

Creating and dropping a database costs the server a third of a second of CPU, emptying one a thirtieth of that.

On the coordinator of a Citus cluster those with our schema are distributed: they are on every node under the same name.
"""

import functools
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg
from psycopg import conninfo, sql

from rag.store.store import Store

DIMENSIONS = 384
"""Dimensions of the chunk table that most tests need."""

BLANK = "template1"
SHARDS = 4
"""Shards of each table of a distributed database."""

ENDING_MS = 10_000
"""Timeout for a connection to end, in seconds."""

SCHEMA = """
    SELECT md5(string_agg(line, ' ' ORDER BY line)) AS schema FROM (
        SELECT format('class %s %s', oid, xmin) FROM pg_class WHERE relnamespace = 'public'::regnamespace
        UNION ALL
        SELECT format('column %s %s %s', attrelid, attnum, a.xmin)
        FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'public'::regnamespace
        UNION ALL SELECT format('constraint %s %s', oid, xmin) FROM pg_constraint
        UNION ALL SELECT format('default %s %s', oid, xmin) FROM pg_attrdef
        UNION ALL SELECT format('extension %s %s', oid, xmin) FROM pg_extension
        UNION ALL SELECT format('function %s %s', oid, xmin) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT format('index %s %s', indexrelid, xmin) FROM pg_index
        UNION ALL SELECT format('namespace %s %s', oid, xmin) FROM pg_namespace WHERE nspname NOT LIKE 'pg_%'
        UNION ALL SELECT format('policy %s %s', oid, xmin) FROM pg_policy
        UNION ALL SELECT format('rule %s %s', oid, xmin) FROM pg_rewrite
        UNION ALL SELECT format('setting %s %s', setrole, s.xmin)
        FROM pg_db_role_setting s JOIN pg_database d ON d.oid = setdatabase WHERE datname = current_database()
        UNION ALL SELECT format('trigger %s %s', oid, xmin) FROM pg_trigger
        UNION ALL SELECT format('migration %s', name) FROM migrations
        UNION ALL SELECT format('database %s', datacl) FROM pg_database WHERE datname = current_database()
    ) AS known (line)
"""
"""A fingerprint of the schema; it changes with every change, even a reverted one, as each creates a row version.

Settings of other databases are left out: all test processes share the server.
"""

END_OTHERS = """
    SELECT bool_and(pg_terminate_backend(pid, %(milliseconds)s)) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type NOT LIKE 'Citus%%'
"""

FILLED = """
    SELECT c.relname FROM pg_class c
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'migrations'
      AND pg_relation_size(oid) > 0
"""
"""Tables that have or had rows."""

END_ALL = "SELECT pg_terminate_backend(pid, %(milliseconds)s) FROM pg_stat_activity WHERE datname = %(name)s"

NODES = """
    SELECT nodename, nodeport FROM pg_dist_node
    WHERE isactive AND noderole = 'primary' AND groupid <> 0 ORDER BY groupid
"""
"""The nodes of a Citus cluster besides the coordinator."""

SETTINGS = """
    SELECT split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1)
    FROM pg_db_role_setting s JOIN pg_database d ON d.oid = setdatabase, unnest(setconfig) AS setting
    WHERE datname = %s AND setrole = 0
"""
"""Settings of a database, which its copies do not have."""

RESTART = """
    SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences
    WHERE schemaname = 'public' AND last_value IS NOT NULL
"""


class Databases:
    """The databases of a server, each lent to one test at a time."""

    def __init__(self, server_url: str, template: str) -> None:
        self._server_url = server_url
        self._template = template
        self._known = ExitStack()
        self._free: list[tuple[str, str]] = []

    def close(self) -> None:
        """Drop all databases."""
        self._known.close()

    @contextmanager
    def lent(self) -> Iterator[str]:
        """Yield the URL of an empty database."""
        url, schema = self._free.pop() if self._free else self._made()
        yield url
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(END_OTHERS, {"milliseconds": ENDING_MS})
            if _schema(connection) == schema:  # otherwise it is not reused
                _empty(connection)
                connection.execute(RESTART)
                for node_url in node_urls(self._server_url)[1:]:
                    with psycopg.connect(node_url, dbname=connection.info.dbname, autocommit=True) as node:
                        _empty(node)
                self._free.append((url, schema))

    def _made(self) -> tuple[str, str]:
        url = self._known.enter_context(new_database(self._server_url, template=self._template))
        with psycopg.connect(url) as connection:
            return url, _schema(connection)


def _schema(connection: psycopg.Connection) -> str:
    try:
        (schema,) = connection.execute(SCHEMA).fetchone() or ("",)
    except psycopg.errors.UndefinedTable:
        return "none"
    return str(schema)


def _empty(connection: psycopg.Connection) -> None:
    """Delete all rows, ignoring triggers and foreign keys; on a node of a cluster those of the shards."""
    connection.execute(
        "SET session_replication_role = replica; SET citus.override_table_visibility = off; "
        "SET citus.enable_manual_changes_to_shards = on"
    )
    for (name,) in connection.execute(FILLED).fetchall():
        connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))


@functools.cache
def node_urls(server_url: str) -> tuple[str, ...]:
    """Return the URL of the server and, if it is a Citus coordinator, those of the other nodes."""
    with psycopg.connect(server_url) as connection:
        try:
            nodes = connection.execute(NODES).fetchall()
        except psycopg.errors.UndefinedTable:
            return (server_url,)
    return server_url, *(conninfo.make_conninfo(server_url, host=host, port=port) for host, port in nodes)


@contextmanager
def migrated_database(server_url: str) -> Iterator[str]:
    """Return a database with our schema and no rows or connections, to be copied.

    It is opened as a store once: only then the roles exist with their rights, which each copy would need again.
    """
    is_cluster = len(node_urls(server_url)) > 1
    with new_database(server_url, on_all_nodes=is_cluster) as url:
        name = str(conninfo.conninfo_to_dict(url)["dbname"])
        if is_cluster:
            join_nodes(server_url, name)
        with Store.open(url, pool_size=1) as store:
            if is_cluster:
                store.distribute()
        with psycopg.connect(url) as connection:
            connection.execute("SELECT add_chunk_table(%s)", [DIMENSIONS])
        yield name


def join_nodes(server_url: str, name: str) -> None:
    """Make a cluster of the databases of this name on all nodes."""
    coordinator, *others = (conninfo.make_conninfo(url, dbname=name) for url in node_urls(server_url))
    for url in (coordinator, *others):
        with psycopg.connect(url, autocommit=True) as node:
            node.execute("CREATE EXTENSION citus; CREATE EXTENSION vector")
    with psycopg.connect(coordinator, autocommit=True) as connection:
        connection.execute(sql.SQL("ALTER DATABASE {} SET citus.shard_count = {}").format(sql.Identifier(name), SHARDS))
        connection.execute("SELECT citus_set_coordinator_host(%s, %s)", [connection.info.host, connection.info.port])
        for url in others:
            address = conninfo.conninfo_to_dict(url)
            connection.execute("SELECT citus_add_node(%s, %s)", [address["host"], int(address["port"] or 0)])


@contextmanager
def new_database(server_url: str, *, template: str = BLANK, on_all_nodes: bool = False) -> Iterator[str]:
    """Yield the URL of a new database on the server and drop it at the end; a copy is on all nodes with `template`."""
    name = f"test_{uuid.uuid4().hex}"
    urls = [url for url in node_urls(server_url) if url == server_url or on_all_nodes or _has_database(url, template)]
    for url in urls:
        _create(url, name, template, is_quiet=len(urls) == 1)
    yield conninfo.make_conninfo(server_url, dbname=name)
    for url in urls:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _has_database(url: str, name: str) -> bool:
    with psycopg.connect(url) as server:
        return name != BLANK and server.execute("SELECT FROM pg_database WHERE datname = %s", [name]).rowcount > 0


def _create(url: str, name: str, template: str, *, is_quiet: bool) -> None:
    with psycopg.connect(url, autocommit=True) as server:
        # Without waiting for the disk, copying files takes a third of the time of copying rows.
        (fsync,) = server.execute("SHOW fsync").fetchone() or ("on",)
        strategy = sql.SQL("FILE_COPY" if fsync == "off" else "WAL_LOG")
        if not is_quiet:  # Citus keeps connections between the nodes, and has a daemon in each database
            server.execute(END_ALL, {"name": template, "milliseconds": ENDING_MS})
        database = sql.Identifier(name)
        command = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY {}")
        server.execute(command.format(database, sql.Identifier(template), strategy))
        for setting, value in server.execute(SETTINGS, [template]).fetchall():
            changed = sql.SQL("ALTER DATABASE {} SET {} = {}")
            server.execute(changed.format(database, sql.Identifier(*setting.split(".")), value))

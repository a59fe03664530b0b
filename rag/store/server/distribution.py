"""Distribution of the tables over the nodes of a Citus cluster: all rows of a user are on one node."""

import graphlib
from collections.abc import Sequence

from psycopg import sql

from rag import errors, types
from rag.store.server import named_queries
from rag.store.server.database import Connection, configure, store_errors

COORDINATOR_TABLES = {"accounts", "memberships", "logins", "api_keys"}
"""Tables with a `user_id` that stay whole: they are read before the user is known, by a key's digest or a login, and
joined across users, as for the members of a group with which a collection is shared."""


def distribute(connection: Connection, tables: Sequence[str]) -> types.Distribution:
    """Distribute those of our `tables` with users' data that are not yet, on the administrator's connection.

    Raises StoreError if the database, its nodes or the account do not allow it.
    """
    statements = named_queries.load("distribution")
    with store_errors():
        configure(connection)
        with connection.transaction():
            connection.execute(named_queries.load("session")["lock_migrations"])
            _require_cluster(connection)
            _set_up_database(connection)
            _set_up_roles(connection)
            connection.execute(statements["in_sequence"])
            _distribute_missing(connection, tables)
        return _report(connection, distributed(connection))


def extend(connection: Connection, tables: Sequence[str]) -> None:
    """Distribute tables and functions that a migration has just created, if the others are distributed."""
    if distributed(connection):
        _distribute_missing(connection, tables)


def describe(connection: Connection) -> types.Distribution | None:
    """Return what is on which node; None if nothing is distributed."""
    tables = distributed(connection)
    return _report(connection, tables) if tables else None


def _report(connection: Connection, tables: tuple[str, ...]) -> types.Distribution:
    statements = named_queries.load("distribution")
    nodes = connection.execute(statements["nodes"]).fetchall()
    return types.Distribution(
        nodes=tuple(types.ClusterNode(**row) for row in nodes),
        distributed=tables,
        on_coordinator=tuple(row["name"] for row in connection.execute(statements["on_coordinator"])),
    )


def _has_citus(connection: Connection) -> bool:
    row = connection.execute(named_queries.load("distribution")["has_citus"]).fetchone()
    return bool(row and row["present"])


def distributed(connection: Connection) -> tuple[str, ...]:
    """Return the tables whose rows are on the nodes of a Citus cluster."""
    if not _has_citus(connection):
        return ()
    return tuple(row["name"] for row in connection.execute(named_queries.load("distribution")["distributed"]))


def _require_cluster(connection: Connection) -> None:
    if not _has_citus(connection):
        raise errors.StoreError(
            "The database has no Citus, so its tables cannot be distributed. Install Citus and pgvector on each server "
            "and run CREATE EXTENSION citus in this database there, then on the coordinator "
            "SELECT citus_add_node('host', port) for each other server."
        )
    cluster = connection.execute(named_queries.load("distribution")["cluster"]).fetchone() or {}
    if not cluster["is_superuser"]:
        raise errors.StoreError(
            "Only a superuser may distribute the tables. Set RAG_DATABASE_ADMIN_URL to one and try again."
        )
    if not cluster["is_coordinator"]:
        raise errors.StoreError(
            "This server is not the coordinator of its Citus cluster. Set RAG_DATABASE_URL to the coordinator."
        )
    if not cluster["nodes"]:
        raise errors.StoreError(
            "The Citus cluster has no node for rows. Run on the coordinator: SELECT citus_add_node('host', port)"
        )
    if cluster["without_vector"]:
        listed = ", ".join(cluster["without_vector"])
        raise errors.StoreError(
            f"There is no pgvector on {listed}. Install it there, and run CREATE EXTENSION vector in this database.",
            details={"nodes": cluster["without_vector"]},
        )


def _set_up_database(connection: Connection) -> None:
    """Give connections between nodes the settings that our connections set for themselves."""
    statements = named_queries.load("distribution")
    connection.execute(statements["load_vector"])
    database = sql.Identifier(connection.info.dbname)
    for row in connection.execute(statements["session_settings"]).fetchall():
        setting = {"name": sql.Identifier(*row["name"].split(".")), "value": sql.Literal(row["value"])}
        connection.execute(statements["set_up_database"].format(database=database, **setting))


def _set_up_roles(connection: Connection) -> None:
    """Let nodes log in at each other as our roles, which are changed only if needed: they are of all databases."""
    statements = named_queries.load("distribution")
    create_roles = {"command": named_queries.load_text("row_security")["create_roles"]}  # policies name all of them
    if failed := connection.execute(statements["run_on_nodes"], create_roles).fetchone():
        raise errors.StoreError(f"The node {failed['address']} refuses to create roles: {failed['result']}")
    for role in connection.execute(statements["roles"]).fetchall():
        name = sql.Identifier(role["name"])
        if not role["can_login"]:
            connection.execute(named_queries.load("row_security")["allow_login"].format(role=name))
        if not role["sees_its_rows"]:
            connection.execute(statements["see_all_users"].format(role=name))


def _distribute_missing(connection: Connection, tables: Sequence[str]) -> None:
    statements = named_queries.load("distribution")
    ours = [table for table in tables if table not in COORDINATOR_TABLES]
    rows = connection.execute(statements["undistributed"], {"tables": ours}).fetchall()
    missing = {row["name"]: {*row["referenced"]} for row in rows}
    order = [table for table in graphlib.TopologicalSorter(missing).static_order() if table in missing]
    for row in rows:
        if row["is_unlogged"]:
            connection.execute(statements["log"].format(table=sql.Identifier(row["name"])))
    for table in order:  # after those that its foreign keys refer to
        colocate_with = next(iter(distributed(connection)), "none")
        connection.execute(statements["distribute"], {"table": table, "colocate_with": colocate_with})
    for table in order:
        connection.execute(statements["delete_local_rows"], {"table": table})
    connection.execute(statements["distribute_functions"])

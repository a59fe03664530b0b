"""Who this process is to the database: four accounts, each with no more rights than its work needs.

- the **administrator** owns the tables: it brings the schema forward, restores, and lets entries of the audit go;
- the **app** (role `pagelight_app`) sees the rows of one user at a time, and owns and makes nothing;
- the **worker** (role `pagelight_worker`) sees of all users whose what is and how urgent, and has the queue; and the
  audit, for admins, in which there are names of documents and chats, but nothing that stands in them;
- the **backup** (role `pagelight_backup`) reads everything of all users, and writes nothing.

On the embedded server all but the first log in as these roles. On another one the account of the URL takes them on
(``SET ROLE``, by the option `role` of the connection), for a backup the administrator's. Where there are no such roles,
because no account may make them, the policies of the tables still hold for an owner who is no superuser, and the
administrator backs up.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import psycopg
from psycopg import conninfo, sql

from rag import errors
from rag.store.server import migrations, named_queries
from rag.store.server.database import Connection, Database, connect, store_errors

APP = "pagelight_app"
WORKER = "pagelight_worker"
ROLES = {APP, WORKER}
"""Without which there are none: a server may have been set up when there was none for backups."""
BACKUP = "pagelight_backup"
ALL_USERS = "pagelight.all_users=on"
"""The setting by which the tables' owner and the worker say that they mean the rows of all users."""
GRANT_OPTIONS_SINCE = 160000


class Access(NamedTuple):
    """Connection strings by what they are for. `is_walled`: the app's may bypass nothing, whatever it runs."""

    app: str
    worker: str
    backup: str
    admin: str
    is_enforced: bool


class RowSecurity(NamedTuple):
    """How the database keeps users apart: whether the app has a role of its own, and tables without policies."""

    has_roles: bool
    unprotected: tuple[str, ...]


def prepare(connection: Connection, url: str, admin_url: str | None = None, *, as_roles: bool = False) -> Access:
    """Make the roles, where that is allowed, on a `connection` of the administrator, and say how to connect as each.

    `url` is the app's account, and the administrator's unless `admin_url` is. With `as_roles` the server lets its
    users in as the roles themselves.

    Raises:
        errors.StoreError: the server cannot be reached, or its roles of these names are none of ours.
    """
    admin = administrator(admin_url or url)
    with store_errors(), connection.transaction():
        connection.execute(named_queries.load("session")["lock_migrations"])  # one process at a time changes roles
        connection.execute(named_queries.load("walls")["create_roles"], {})
        found = _roles(connection, as_roles=as_roles)
        account = _account(connection)
        may_back_up = BACKUP in found and _may_back_up(connection, account)
    without_roles = Access(url, administrator(url), admin, admin, is_enforced=False)
    if not found >= ROLES:
        return without_roles
    if as_roles:
        app, worker, backup = (conninfo.make_conninfo(url, user=role) for role in (APP, WORKER, BACKUP))
        return Access(app, administrator(worker), administrator(backup), admin, is_enforced=True)
    if admin_url and admin_url != url:
        with store_errors(), connect(url) as apps:
            account = _account(apps)
    if not _may_become(url, admin, account):
        return without_roles
    app, worker = (_with_option(url, f"role={role}") for role in (APP, WORKER))
    backup = _with_option(admin, f"role={BACKUP}") if may_back_up else admin
    return Access(app, administrator(worker), backup, admin, is_enforced=True)


def replica(url: str, access: Access) -> str:
    """How the app connects to a read replica: with no more rights than to the primary."""
    return _with_option(url, f"role={APP}") if access.is_enforced else url


def administrator(url: str) -> str:
    """The connection string with which the owner of the tables sees the rows of all users."""
    return _with_option(url, ALL_USERS)


def _with_option(url: str, option: str) -> str:
    options = conninfo.conninfo_to_dict(url).get("options") or ""
    return conninfo.make_conninfo(url, options=f"{options} -c {option}".strip())


def _roles(connection: Connection, *, as_roles: bool) -> set[str]:
    """Those that are there, which can do as little as we made them for."""
    walls = named_queries.load("walls")
    found = connection.execute(walls["roles"]).fetchall()
    mighty = [role["name"] for role in found if role["is_mighty"]]
    if mighty:
        raise errors.StoreError(
            f"The database server has a role {mighty[0]} that may do more than Pagelight's role of this name. "
            f"Rename it, or take its rights: ALTER ROLE {mighty[0]} NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB.",
            details={"roles": mighty},
        )
    for role in found:
        if as_roles and not role["can_login"]:
            connection.execute(walls["let_in"].format(role=sql.Identifier(role["name"])))
    return {role["name"] for role in found}


def _account(connection: Connection) -> dict[str, Any]:
    """Who is connected."""
    return connection.execute(named_queries.load("walls")["account"]).fetchone() or {}


def _may_back_up(connection: Connection, account: Mapping[str, Any]) -> bool:
    """Whether the administrator, whose connection it is, may take on the role for it; it lets itself, where it may."""
    walls = named_queries.load("walls")
    allowed = connection.execute(walls["may_back_up"]).fetchone()
    if allowed and allowed["allowed"]:
        return True
    try:
        with connection.transaction():
            connection.execute(_grant("grant_backup", account))
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True


def _grant(query: str, account: Mapping[str, Any]) -> sql.Composed:
    """A query of ``sql/walls.sql`` by which an account may take on roles, as the server's version has it."""
    since = query if account["version"] >= GRANT_OPTIONS_SINCE else f"{query}_before_16"
    return named_queries.load("walls")[since].format(account=sql.Identifier(account["name"]))


def _may_become(url: str, admin: str, account: Mapping[str, Any]) -> bool:
    """Whether the account of `url` can take on the roles; the administrator lets it, if need be and allowed."""
    if account["is_superuser"] or _can_set_roles(url):
        return True
    try:
        with connect(admin) as connection:
            connection.execute(_grant("grant_roles", account))
    except psycopg.Error:
        return False
    return _can_set_roles(url)


def _can_set_roles(url: str) -> bool:
    try:
        with connect(url) as connection:
            for role in sorted(ROLES):
                connection.execute(named_queries.load("walls")["become"].format(role=sql.Identifier(role)))
                connection.execute(named_queries.load("walls")["be_oneself"])
    except psycopg.Error:
        return False
    return True


def require_role(database: Database) -> None:
    """See that the app is what it asked to be.

    A pooler between may drop what a connection asks for at its start; then everything would run without a wall.

    Raises:
        errors.StoreError: it is another.
    """
    row = database.one(named_queries.load("walls")["current_role"], {})
    if not row or row["name"] != APP:
        raise errors.StoreError(
            "The database does not take the option `role` of a connection, as behind some poolers. Connect to the "
            "server itself, or let the pooler pass startup options on.",
            details={"role": row["name"] if row else None},
        )


def walls(database: Database) -> RowSecurity:
    """How the database that the app uses keeps users apart. Raises StoreError if it cannot be reached."""
    row = database.one(named_queries.load("walls")["walls"], {"tables": [*migrations.tables()]}) or {}
    return RowSecurity(has_roles=row.get("role") == APP, unprotected=tuple(row.get("unprotected", ())))

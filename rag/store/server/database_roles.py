"""Database roles, each with the rights that its work needs.

- the **administrator** owns the tables: it migrates, restores, and deletes old entries of the audit log;
- the **app** (role `pagelight_app`) sees the rows of one user at a time, and owns and creates nothing;
- the **worker** (role `pagelight_worker`) has the queue, and sees of all users' rows whose they are and how urgent;
  and the audit log, for admins, with names of documents and chats, but none of their contents;
- the **backup** (role `pagelight_backup`) reads all rows of all users, and writes nothing.

On the embedded server all but the administrator log in as these roles. On another server the account of the URL takes
on the role (``SET ROLE``, by the connection option `role`), and the administrator's account does so for backups. Where
no account may create roles, row-level security still holds for an owner who is no superuser, and the administrator
backs up.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import psycopg
from psycopg import conninfo, sql

from rag import errors
from rag.store.server import migrations, named_queries
from rag.store.server.database import Connection, Database, Queries, connect, store_errors

APP = "pagelight_app"
WORKER = "pagelight_worker"
BACKUP = "pagelight_backup"
REQUIRED_ROLES = {APP, WORKER}
"""Without both of them none is used. The one for backups may be missing on an older server."""
ALL_USERS = "pagelight.all_users=on"
"""The setting with which the tables' owner and the worker see the rows of all users."""
GRANT_OPTIONS_SINCE = 160000


class Access(NamedTuple):
    """Connection URLs by purpose. `is_enforced`: the app's account cannot bypass row-level security."""

    app: str
    worker: str
    backup: str
    admin: str
    is_enforced: bool


class RowSecurity(NamedTuple):
    """Whether the app has a role of its own, and the tables that lack row-level security."""

    has_roles: bool
    unprotected: tuple[str, ...]


def prepare(connection: Connection, url: str, admin_url: str | None = None, *, as_roles: bool = False) -> Access:
    """Create the roles, where allowed, on the administrator's `connection`, and return the URLs to connect with.

    `url` is the app's account and, unless `admin_url` is given, the administrator's. With `as_roles` the server lets
    users log in as the roles themselves. Raises StoreError.
    """
    admin = administrator(admin_url or url)
    with store_errors(), connection.transaction():
        connection.execute(named_queries.load("session")["lock_migrations"])  # one process at a time changes roles
        connection.execute(named_queries.load("row_security")["create_roles"], {})
        roles = _existing_roles(connection, as_roles=as_roles)
        account = _account(connection)
        can_back_up = BACKUP in roles and _can_back_up(connection, account)
    without_roles = Access(url, administrator(url), admin, admin, is_enforced=False)
    if not roles >= REQUIRED_ROLES:
        return without_roles
    if as_roles:
        app, worker, backup = (conninfo.make_conninfo(url, user=role) for role in (APP, WORKER, BACKUP))
        return Access(app, administrator(worker), administrator(backup), admin, is_enforced=True)
    if admin_url and admin_url != url:
        with store_errors(), connect(url) as app_connection:
            account = _account(app_connection)
    if not _can_assume_roles(url, admin, account):
        return without_roles
    app, worker = (_with_option(url, f"role={role}") for role in (APP, WORKER))
    backup = _with_option(admin, f"role={BACKUP}") if can_back_up else admin
    return Access(app, administrator(worker), backup, admin, is_enforced=True)


def replica(url: str, access: Access) -> str:
    """Return the app's URL of a read replica, with the same role as on the primary."""
    return _with_option(url, f"role={APP}") if access.is_enforced else url


def administrator(url: str) -> str:
    """Return the URL with which the owner of the tables sees the rows of all users."""
    return _with_option(url, ALL_USERS)


def _with_option(url: str, option: str) -> str:
    options = conninfo.conninfo_to_dict(url).get("options") or ""
    return conninfo.make_conninfo(url, options=f"{options} -c {option}".strip())


def _existing_roles(connection: Connection, *, as_roles: bool) -> set[str]:
    statements = named_queries.load("row_security")
    roles = connection.execute(statements["roles"]).fetchall()
    excessive = [role["name"] for role in roles if role["has_excess_rights"]]
    if excessive:
        role = excessive[0]
        raise errors.StoreError(
            f"The database server has a role {role} that may do more than Pagelight's role of this name. Rename it, or "
            f"take its rights: ALTER ROLE {role} NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB.",
            details={"roles": excessive},
        )
    for role in roles:
        if as_roles and not role["can_login"]:
            connection.execute(statements["allow_login"].format(role=sql.Identifier(role["name"])))
    return {role["name"] for role in roles}


def _account(connection: Connection) -> dict[str, Any]:
    return connection.execute(named_queries.load("row_security")["account"]).fetchone() or {}


def _can_back_up(connection: Connection, account: Mapping[str, Any]) -> bool:
    """Return whether the administrator may take on the role for backups, after granting it to itself if allowed."""
    allowed = connection.execute(named_queries.load("row_security")["can_back_up"]).fetchone()
    if allowed and allowed["allowed"]:
        return True
    try:
        with connection.transaction():
            connection.execute(_grant("grant_backup", account))
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True


def _grant(query: str, account: Mapping[str, Any]) -> sql.Composed:
    name = query if account["version"] >= GRANT_OPTIONS_SINCE else f"{query}_before_16"
    return named_queries.load("row_security")[name].format(account=sql.Identifier(account["name"]))


def _can_assume_roles(url: str, admin: str, account: Mapping[str, Any]) -> bool:
    """Return whether the account of `url` may take on the roles, after the administrator granted them if needed."""
    if account["is_superuser"] or _can_set_roles(url):
        return True
    try:
        with connect(admin) as connection:
            connection.execute(_grant("grant_roles", account))
    except psycopg.Error:
        return False
    return _can_set_roles(url)


def _can_set_roles(url: str) -> bool:
    statements = named_queries.load("row_security")
    try:
        with connect(url) as connection:
            for role in sorted(REQUIRED_ROLES):
                connection.execute(statements["set_role"].format(role=sql.Identifier(role)))
                connection.execute(statements["reset_role"])
    except psycopg.Error:
        return False
    return True


def require_role(database: Database) -> None:
    """Raise StoreError if the app does not have its role: a pooler in between may drop connection options."""
    role = Queries(database, "row_security").value("current_role")
    if role != APP:
        raise errors.StoreError(
            "The database does not take the option `role` of a connection, as behind some poolers. Connect to the "
            "server itself, or let the pooler pass startup options on.",
            details={"role": role},
        )


def row_security(database: Database) -> RowSecurity:
    """Return how the app's database keeps users apart. Raises StoreError if it cannot be reached."""
    row = Queries(database, "row_security").one("state", tables=[*migrations.tables()]) or {}
    return RowSecurity(has_roles=row.get("role") == APP, unprotected=tuple(row.get("unprotected", ())))

"""`pagelight users`: list users and set their roles, groups and quotas."""

from typing import TYPE_CHECKING, Annotated

import typer

from rag import types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson

if TYPE_CHECKING:
    from rag.engine import RAGEngine
    from rag.engine.users.accounts import Accounts

UserId = Annotated[str, typer.Argument(metavar="USER", help="The user's id, as listed: issuer|subject of a login.")]
COLUMNS = ["user", "name", "role", "groups", "documents", "storage", "logins", "keys", "last seen"]


def users() -> None:
    """List users, set roles, groups and quotas, and end logins.

    pagelight users list
    pagelight users role "https://login.example|42" curator
    pagelight users groups "https://login.example|42" finance legal
    pagelight users quota "https://login.example|42" 5000
    pagelight users logout "https://login.example|42"
    """


def list_users(as_json: AsJson = False) -> None:
    """List all users who have logged in or own something, and what they use.

    pagelight users list --json
    """
    with open_engine() as engine:
        accounts = engine.installation.accounts.list()
        default_quota = engine.config.quota_bytes

    def row(user: types.AccountUse) -> tuple[object, ...]:
        quota = default_quota if user.quota_bytes is None else user.quota_bytes
        return (
            user.user_id,
            user.name or "",
            user.role.value,
            ", ".join(user.groups),
            user.documents,
            _storage(types.Storage(used_bytes=user.used_bytes, quota_bytes=quota)),
            user.logins,
            user.keys,
            output.minute(user.last_seen_at, never="never"),
        )

    output.print_list(accounts, COLUMNS, row, as_json=as_json)


def role(
    user: UserId, role: Annotated[types.Role, typer.Argument(help="What the user may do.")], as_json: AsJson = False
) -> None:
    """Give a user a role: curators share collections, admins administer the installation.

    pagelight users role "https://login.example|42" curator
    """
    with open_engine() as engine:
        account = _accounts(engine, user).set_role(user, role)
    output.print_result(account, f"{user}  {account.role.value}", as_json=as_json)


def groups(
    user: UserId,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[GROUP]...", help="All groups that are set here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set a user's groups, in addition to those that the login provides.

    pagelight users groups "https://login.example|42" finance legal
    """
    with open_engine() as engine:
        account = _accounts(engine, user).set_groups(user, names or [])
    output.print_result(account, f"{user}  {', '.join(account.groups) or 'in no group'}", as_json=as_json)


def quota(
    user: UserId,
    megabytes: Annotated[int | None, typer.Argument(min=0, help="Of originals; without it RAG_QUOTA_MB.")] = None,
    as_json: AsJson = False,
) -> None:
    """Limit the size of a user's files in megabytes, the trash and old versions included.

    pagelight users quota "https://login.example|42" 5000
    """
    with open_engine() as engine:
        storage = _accounts(engine, user).set_quota(user, megabytes)
    output.print_result(storage, f"{user}  {_storage(storage)}", as_json=as_json)


def logout(user: UserId, as_json: AsJson = False) -> None:
    """End all logins of a user, and refuse the tokens issued so far. API keys stay valid.

    pagelight users logout "https://login.example|42"
    """
    with open_engine() as engine:
        account = _accounts(engine, user).get(user)
        engine.installation.logins.by(engine.user_id, engine.origin).end_all(user)
    output.print_result(account, f"{user}  logged out everywhere", as_json=as_json)


def _accounts(engine: "RAGEngine", user: str) -> "Accounts":
    """Return the accounts if the user has one. Raises NotFoundError."""
    accounts = engine.installation.accounts.by(engine.user_id, engine.origin)
    accounts.find(user)
    return accounts


def _storage(storage: types.Storage) -> str:
    used = output.size(storage.used_bytes)
    return used if storage.quota_bytes is None else f"{used} of {output.size(storage.quota_bytes)}"

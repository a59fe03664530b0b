"""`pagelight users`: who works here, what they may do and what they use."""

import datetime as dt
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson
from rag.types import Role, Storage

if TYPE_CHECKING:
    from rag.engine import RAGEngine
    from rag.engine.users.accounts import Accounts

UserId = Annotated[
    str, typer.Argument(metavar="USER", help="The user's id, as listed: issuer|subject of a login.", show_default=False)
]
COLUMNS = ["user", "name", "role", "groups", "documents", "storage", "logins", "keys", "last seen"]


def users() -> None:
    """Who works here: roles, groups, quotas and logins.

    pagelight users list
    pagelight users role "https://login.example|42" curator
    pagelight users groups "https://login.example|42" finance legal
    pagelight users quota "https://login.example|42" 5000
    pagelight users logout "https://login.example|42"
    """


def list_users(as_json: AsJson = False) -> None:
    """List everybody who was seen or owns something, and what they use.

    pagelight users list --json
    """
    with open_engine() as engine:
        found = engine.installation.accounts.list()
        default = engine.config.quota_bytes
    if as_json:
        output.print_json(found)
        return
    rows = [
        (
            one.user_id,
            one.name or "",
            one.role.value,
            ", ".join(one.groups),
            one.documents,
            _storage(
                Storage(used_bytes=one.used_bytes, quota_bytes=default if one.quota_bytes is None else one.quota_bytes)
            ),
            one.logins,
            one.keys,
            _minute(one.last_seen_at),
        )
        for one in found
    ]
    output.print_table(COLUMNS, rows)


def role(
    user: UserId, role: Annotated[Role, typer.Argument(help="What the user may do.")], as_json: AsJson = False
) -> None:
    """Give a user a role: curators share, admins look after the installation.

    pagelight users role "https://login.example|42" curator
    """
    with open_engine() as engine:
        account = _known(engine, user).set_role(user, role)
    _print(account, f"{user}  {account.role.value}", as_json=as_json)


def groups(
    user: UserId,
    names: Annotated[list[str] | None, typer.Argument(metavar="[GROUP]...", help="All groups given here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Have a user in these groups, and in no other but those that the login names.

    pagelight users groups "https://login.example|42" finance legal
    """
    with open_engine() as engine:
        account = _known(engine, user).set_groups(user, names or [])
    _print(account, f"{user}  {', '.join(account.groups) or 'in no group'}", as_json=as_json)


def quota(
    user: UserId,
    megabytes: Annotated[
        int | None, typer.Argument(min=0, help="Of originals; without it RAG_QUOTA_MB.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Allow a user so many megabytes of files, the trash and old versions included.

    pagelight users quota "https://login.example|42" 5000
    """
    with open_engine() as engine:
        storage = _known(engine, user).set_quota(user, megabytes)
    _print(storage, f"{user}  {_storage(storage)}", as_json=as_json)


def logout(user: UserId, as_json: AsJson = False) -> None:
    """End every login of a user, and refuse the tokens issued until now. API keys stay.

    pagelight users logout "https://login.example|42"
    """
    with open_engine() as engine:
        account = _known(engine, user).get(user)
        engine.installation.logins.by(engine.user_id, engine.origin).end_all(user)
    _print(account, f"{user}  logged out everywhere", as_json=as_json)


def _known(engine: "RAGEngine", user: str) -> "Accounts":
    """The accounts, where the user is one. Raises NotFoundError."""
    accounts = engine.installation.accounts.by(engine.user_id, engine.origin)
    accounts.find(user)
    return accounts


def _print(value: object, text: str, *, as_json: bool) -> None:
    if as_json:
        output.print_json(value)
    else:
        output.print_text(text)


def _storage(storage: Storage) -> str:
    used = output.size(storage.used_bytes)
    return used if storage.quota_bytes is None else f"{used} of {output.size(storage.quota_bytes)}"


def _minute(moment: dt.datetime | None) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else "never"

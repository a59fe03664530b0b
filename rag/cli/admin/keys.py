"""`pagelight keys`: create, list and revoke keys of the REST API and the MCP server."""

import datetime as dt
import re
from typing import TYPE_CHECKING, Annotated

import typer

from rag import errors, types
from rag.access.name_lookup import with_id
from rag.cli import name_lookup, output
from rag.cli.command import open_engine
from rag.cli.options import AsJson

if TYPE_CHECKING:
    from rag.engine import RAGEngine
    from rag.engine.users.accounts import Accounts

DAYS = re.compile(r"(\d{1,5})d")

User = Annotated[str, typer.Option("--user", metavar="NAME", help="The user that the keys act as.")]
KeyId = Annotated[str, typer.Argument(metavar="ID", help="The key's id, as listed.")]
Label = Annotated[str, typer.Option("--name", metavar="LABEL", help="What the key is for.")]
Scopes = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        metavar="|".join(types.PERMISSIONS),
        help="What the key may do (read, unless given); may be repeated. admin implies write, write implies read.",
    ),
]
Expires = Annotated[str | None, typer.Option(metavar="30d|DATE", help="In so many days, or at the end of a day (UTC).")]

COLUMNS = ["id", "name", "key", "scopes", "state", "created", "last used"]


def keys() -> None:
    """Create, list and revoke the keys that programs use for the REST API and the MCP server.

    pagelight keys create --user ada --name laptop --scope write --expires 30d
    pagelight keys list --user ada
    pagelight keys revoke 1f0c2a9b --user ada
    """


def create(
    name: Label, user: User = types.LOCAL_USER, scope: Scopes = None, expires: Expires = None, as_json: AsJson = False
) -> None:
    """Create a key. Its secret is printed once, to stdout, and is stored nowhere.

    pagelight keys create --name laptop
    pagelight keys create --user ada --name importer --scope read --scope write --expires 2027-01-31
    """
    if unknown := [name for name in scope or () if name not in types.PERMISSIONS]:
        raise errors.ValidationError(
            f"--scope is one of {', '.join(types.PERMISSIONS)}, not {unknown[0]!r}.", details={"field": "scope"}
        )
    permissions = [permission for permission in types.PERMISSIONS if permission in (scope or ["read"])]
    expires_at = _expiry(expires)
    with open_engine() as engine:
        key, secret = _accounts(engine).keys_of(_named(user)).create(name, permissions, expires_at)
    if as_json:
        output.print_json({**key.model_dump(by_alias=True), "secret": secret})
        return
    output.print_text(secret)
    until = f", until {output.minute(key.expires_at)}" if key.expires_at else ""
    output.print_note(
        f"Key {name_lookup.short_id(key.id)} “{key.name}” of user “{key.user_id}”: {', '.join(key.permissions)}{until}."
        " Store the secret above: it is not shown again."
    )


def list_keys(user: User = types.LOCAL_USER, as_json: AsJson = False) -> None:
    """List a user's keys, newest first.

    pagelight keys list --user ada --json
    """
    with open_engine() as engine:
        user_keys = _keys(engine, user)
    empty = f"User “{user}” has no keys. Create one: pagelight keys create --user {user} --name LABEL"
    output.print_list(user_keys, COLUMNS, _row, as_json=as_json, empty=empty)


def revoke(key_id: KeyId, user: User = types.LOCAL_USER, as_json: AsJson = False) -> None:
    """Revoke a key, with effect from the next request.

    pagelight keys revoke 1f0c2a9b --user ada
    """
    with open_engine() as engine:
        missing = f"User “{user}” has no key {key_id}. List them: pagelight keys list --user {user}"
        named = with_id(_keys(engine, user), key_id)
        if not named:
            raise errors.NotFoundError(missing)
        if len(named) > 1:
            raise errors.ValidationError(f"Several key ids begin with {key_id}. Give the whole id, as --json lists it.")
        revoked = _accounts(engine).revoke_key(named[0].id)
    output.print_result(revoked, f"revoked  {name_lookup.short_id(revoked.id)}  {revoked.name}", as_json=as_json)


def _accounts(engine: "RAGEngine") -> "Accounts":
    """Return the keys of all users, to be changed by the local user: the audit log names who made a change."""
    return engine.installation.accounts.by(engine.user_id, engine.origin)


def _keys(engine: "RAGEngine", user: str) -> list[types.ApiKey]:
    return engine.installation.for_user(_named(user)).store.api_keys.list()


def _named(user: str) -> str:
    if not user.strip() or not user.isprintable():
        raise errors.ValidationError("--user must be a name of printable characters.", details={"field": "user"})
    return user


def _expiry(text: str | None) -> dt.datetime | None:
    """Return the moment that `--expires` means."""
    if text is None:
        return None
    try:
        if days := DAYS.fullmatch(text):
            return dt.datetime.now(dt.UTC) + dt.timedelta(days=int(days[1]))
        day = dt.date.fromisoformat(text) + dt.timedelta(days=1)
        return dt.datetime.combine(day, dt.time(), dt.UTC)
    except (ValueError, OverflowError):
        raise errors.ValidationError(
            f"--expires is neither a number of days, such as 30d, nor a date, such as 2027-01-31: {text!r}.",
            details={"field": "expires"},
        ) from None


def _row(key: types.ApiKey) -> tuple[object, ...]:
    state: str = key.state()
    if state == "valid" and key.expires_at:
        state = "until"
    return (
        name_lookup.short_id(key.id),
        key.name,
        f"{key.hint}…",
        ", ".join(key.permissions),
        f"{state} {output.minute(key.revoked_at or key.expires_at)}".rstrip(),
        output.minute(key.created_at),
        output.minute(key.last_used_at, never="never"),
    )

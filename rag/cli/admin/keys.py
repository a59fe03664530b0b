"""`pagelight keys`: what opens the REST API and the MCP server to programs."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rag import errors
from rag.cli import name_lookup, output
from rag.cli.command import open_engine
from rag.cli.options import AsJson
from rag.types import LOCAL_USER, PERMISSIONS, ApiKey, Permission

if TYPE_CHECKING:
    from rag.engine import RAGEngine
    from rag.engine.users.api_keys import AllKeys

DAYS = re.compile(r"(\d{1,5})d")

User = Annotated[str, typer.Option("--user", metavar="NAME", help="Whose keys: the user they act as.")]
KeyId = Annotated[str, typer.Argument(metavar="ID", help="The key's id, as listed.", show_default=False)]
Label = Annotated[str, typer.Option("--name", metavar="LABEL", help="What the key is for.", show_default=False)]
Scopes = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        metavar="|".join(PERMISSIONS),
        help="What the key may do (read, unless given); may be repeated. admin implies write, write implies read.",
        show_default=False,
    ),
]
Expires = Annotated[
    str | None,
    typer.Option(metavar="30d|DATE", help="In so many days, or at the end of a day (UTC).", show_default=False),
]

COLUMNS = ["id", "name", "key", "scopes", "state", "created", "last used"]


def keys() -> None:
    """Make, list and revoke the keys of users, with which programs reach the REST API and the MCP server.

    pagelight keys create --user ada --name laptop --scope write --expires 30d
    pagelight keys list --user ada
    pagelight keys revoke 1f0c2a9b --user ada
    """


def create(
    name: Label,
    user: User = LOCAL_USER,
    scope: Scopes = None,
    expires: Expires = None,
    as_json: AsJson = False,
) -> None:
    """Make a key. Its secret is printed once, to stdout, and is kept nowhere.

    pagelight keys create --name laptop
    pagelight keys create --user ada --name importer --scope read --scope write --expires 2027-01-31
    """
    expires_at = _expiry(expires)
    with open_engine() as engine:
        key, secret = _keys_of_all(engine).create(_named(user), name, _permissions(scope or ["read"]), expires_at)
    if as_json:
        output.print_json({**key.model_dump(by_alias=True), "secret": secret})
        return
    output.print_text(secret)
    until = f", until {_minute(key.expires_at)}" if key.expires_at else ""
    output.print_note(
        f"Key {name_lookup.short_id(key.id)} “{key.name}” of user “{key.user_id}”: {', '.join(key.permissions)}{until}."
        " Keep the secret above: it is not shown again."
    )


def list_keys(user: User = LOCAL_USER, as_json: AsJson = False) -> None:
    """List a user's keys, newest first.

    pagelight keys list --user ada --json
    """
    with open_engine() as engine:
        found = _keys(engine, user)
    if as_json:
        output.print_json(found)
    elif found:
        output.print_table(COLUMNS, map(_row, found))
    else:
        output.print_text(f"User “{user}” has no keys. Make one: pagelight keys create --user {user} --name LABEL")


def revoke(key_id: KeyId, user: User = LOCAL_USER, as_json: AsJson = False) -> None:
    """Revoke a key: it opens nothing from the next request on.

    pagelight keys revoke 1f0c2a9b --user ada
    """
    with open_engine() as engine:
        revoked = _keys_of_all(engine).revoke(_find(_keys(engine, user), key_id, user).id)
    if as_json:
        output.print_json(revoked)
    else:
        output.print_text(f"revoked  {name_lookup.short_id(revoked.id)}  {revoked.name}")


def _keys_of_all(engine: "RAGEngine") -> "AllKeys":
    """Whose keys they are is not who makes and revokes them: the audit tells of who is here."""
    return engine.installation.accounts.by(engine.user_id, engine.origin).keys


def _keys(engine: "RAGEngine", user: str) -> list[ApiKey]:
    return engine.installation.for_user(_named(user)).keys.list()


def _named(user: str) -> str:
    if not user.strip() or not user.isprintable():
        raise errors.ValidationError("--user must be a name of printable characters.", details={"field": "user"})
    return user


def _permissions(scopes: Sequence[str]) -> list[Permission]:
    if unknown := [scope for scope in scopes if scope not in PERMISSIONS]:
        raise errors.ValidationError(
            f"--scope is one of {', '.join(PERMISSIONS)}, not {unknown[0]!r}.", details={"field": "scope"}
        )
    return [permission for permission in PERMISSIONS if permission in scopes]


def _expiry(text: str | None) -> dt.datetime | None:
    """The moment that `--expires` means."""
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


def _find(found: Sequence[ApiKey], key_id: str, user: str) -> ApiKey:
    """The key of this id, or of the only one that begins so."""
    digits = key_id.replace("-", "").lower()
    named = [key for key in found if len(digits) >= name_lookup.SHORT_ID and key.id.hex.startswith(digits)]
    if len(named) == 1:
        return named[0]
    if named:
        raise errors.ValidationError(f"Several keys' ids begin with {key_id}. Give the whole id, as --json lists it.")
    raise errors.NotFoundError(f"User “{user}” has no key {key_id}. List them: pagelight keys list --user {user}")


def _row(key: ApiKey) -> Sequence[object]:
    return (
        name_lookup.short_id(key.id),
        key.name,
        f"{key.hint}…",
        ", ".join(key.permissions),
        _state(key),
        _minute(key.created_at),
        _minute(key.last_used_at) if key.last_used_at else "never",
    )


def _state(key: ApiKey) -> str:
    if key.revoked_at:
        return f"revoked {_minute(key.revoked_at)}"
    if key.expires_at:
        verb = "expired" if key.expires_at <= dt.datetime.now(dt.UTC) else "until"
        return f"{verb} {_minute(key.expires_at)}"
    return "valid"


def _minute(moment: dt.datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"

"""`pagelight share`: collections that others may read, or write too."""

from typing import Annotated

import typer

from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, IndexName
from rag.types import DEFAULT_INDEX, Share, ShareRequest

Grantee = Annotated[str, typer.Argument(metavar="NAME", help="A user's id, or a group.", show_default=False)]
IsGroup = Annotated[bool, typer.Option("--group", help="NAME is a group.")]

COLUMNS = ["collection", "shared with", "kind", "may", "since"]


def share(context: typer.Context, as_json: AsJson = False) -> None:
    """Show what you share, and what others share with you.

    pagelight share give analyst@example.org
    pagelight share give analysts --group --write --index filings
    pagelight share withdraw analyst@example.org
    """
    if context.invoked_subcommand:
        return
    with open_engine() as engine:
        given, got = engine.sharing.list(), engine.sharing.with_me()
    if as_json:
        output.print_json(
            {
                "given": [one.model_dump(mode="json") for one in given],
                "got": [one.model_dump(mode="json") for one in got],
            }
        )
        return
    _print(given)
    rows = [(one.index.name, one.owner_name or one.index.user_id, one.permission, one.index.id) for one in got]
    output.print_table(["collection", "of", "you may", "--index"], rows)


def give(
    grantee: Grantee,
    *,
    index_name: IndexName = DEFAULT_INDEX,
    group: IsGroup = False,
    write: Annotated[bool, typer.Option("--write", help="They may upload, rename, tag and delete, too.")] = False,
) -> None:
    """Share a collection with a user or a group, or change what they may.

    Only curators and admins may.
    """
    with open_engine() as engine:
        _print(engine.sharing.give(_request(grantee, group=group, write=write), index_name))


def withdraw(grantee: Grantee, *, index_name: IndexName = DEFAULT_INDEX, group: IsGroup = False) -> None:
    """Share a collection with a user or a group no longer, from this moment on."""
    with open_engine() as engine:
        _print(engine.sharing.withdraw(_request(grantee, group=group), index_name))


def _request(grantee: str, *, group: bool, write: bool = False) -> ShareRequest:
    return ShareRequest(
        grantee=grantee, grantee_kind="group" if group else "user", permission="write" if write else "read"
    )


def _print(shares: list[Share]) -> None:
    if not shares:
        output.print_text("Nothing is shared.")
        return
    rows = [
        (one.index_name, one.grantee, one.grantee_kind, one.permission, f"{one.created_at:%Y-%m-%d}") for one in shares
    ]
    output.print_table(COLUMNS, rows)

"""`pagelight share`: share collections with users and groups."""

from typing import Annotated

import typer

from rag import types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, Grantee, IndexName, IsGroup

COLUMNS = ["collection", "shared with", "kind", "may", "since"]


def share(as_json: AsJson = False) -> None:
    """Show what you share, and what others share with you.

    pagelight share give analyst@example.org
    pagelight share give analysts --group --write --index filings
    pagelight share withdraw analyst@example.org
    """
    with open_engine() as engine:
        given, got = engine.sharing.list(), engine.sharing.with_me()
    if as_json:
        shares: dict[str, list[types.Share] | list[types.SharedIndex]] = {"given": given, "got": got}
        output.print_json({name: [one.model_dump(mode="json") for one in found] for name, found in shares.items()})
        return
    _print(given)
    rows = [(one.index.name, one.owner_name or one.index.user_id, one.permission, one.index.id) for one in got]
    output.print_table(["collection", "of", "you may", "--index"], rows)


def give(
    grantee: Grantee,
    *,
    index_name: IndexName = types.DEFAULT_INDEX,
    group: IsGroup = False,
    write: Annotated[
        bool, typer.Option("--write", help="Allow uploading, renaming, tagging and deleting, too.")
    ] = False,
) -> None:
    """Share a collection with a user or a group, or change their permission.

    This takes the role of a curator or admin.
    """
    with open_engine() as engine:
        _print(engine.sharing.give(_request(grantee, group=group, write=write), index_name))


def withdraw(grantee: Grantee, *, index_name: IndexName = types.DEFAULT_INDEX, group: IsGroup = False) -> None:
    """Stop sharing a collection with a user or a group, at once."""
    with open_engine() as engine:
        _print(engine.sharing.withdraw(_request(grantee, group=group), index_name))


def _request(grantee: str, *, group: bool, write: bool = False) -> types.ShareRequest:
    return types.ShareRequest(
        grantee=grantee, grantee_kind="group" if group else "user", permission="write" if write else "read"
    )


def _print(shares: list[types.Share]) -> None:
    if not shares:
        output.print_text("Nothing is shared.")
        return
    rows = [
        (one.index_name, one.grantee, one.grantee_kind, one.permission, f"{one.created_at:%Y-%m-%d}") for one in shares
    ]
    output.print_table(COLUMNS, rows)

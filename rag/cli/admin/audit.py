"""`pagelight audit`: show the audit log."""

import datetime as dt
from typing import Annotated

import typer

from rag import types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson

COLUMNS = ["at", "actor", "action", "what", "of", "door", "address"]

Day = Annotated[
    dt.datetime | None, typer.Option(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], metavar="DATE", help="UTC.")
]


def audit(
    *,
    since: Day = None,
    until: Day = None,
    actor: Annotated[str | None, typer.Option(metavar="USER", help="Only what this user did.")] = None,
    action: Annotated[
        str | None, typer.Option(metavar="ACTION", help="Only this, such as document.purge, or a part, such as purge.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the latest entries; all unless given.")] = None,
    forget_before: Annotated[
        dt.datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="Delete older entries, which is itself logged."),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show who did what, when and from where, the latest first.

    pagelight audit --since 2026-01-01 --action share
    pagelight audit --csv > audit.csv
    """
    from rag.engine import to_csv

    with open_engine() as engine:
        if forget_before:
            engine.audit.forget(forget_before.replace(tzinfo=dt.UTC))
        asked = types.AuditFilter(since=_utc(since), until=_utc(until), actor=actor, action=action)
        entries = engine.audit.list(asked, limit=limit)
    if csv:
        typer.echo(to_csv(entries), nl=False)
    elif as_json:
        output.print_json([entry.model_dump(mode="json") for entry in entries])
    else:
        rows = [
            (f"{one.at:%Y-%m-%d %H:%M:%S}", one.actor, one.action, one.subject_name, one.owner, one.door, one.address)
            for one in entries
        ]
        output.print_table(COLUMNS, rows)


def _utc(day: dt.datetime | None) -> dt.datetime | None:
    return day and day.replace(tzinfo=dt.UTC)

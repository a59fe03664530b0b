"""`pagelight filters`: filters under a name, for `--filter`."""

from collections.abc import Iterator
from typing import Annotated

import typer

from rag import errors
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, takes_filters
from rag.types import Filters, SavedFilter

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]


def filters(context: typer.Context, as_json: AsJson = False) -> None:
    """List, save or delete filters that have a name.

    pagelight filters save "recent leases" --tag lease --dated-after 2023-01-01
    pagelight ask "Who may terminate?" --filter "recent leases"
    pagelight filters
    """
    if context.invoked_subcommand is not None:
        if as_json:
            raise errors.ValidationError(f"Put the options behind “{context.invoked_subcommand}”.")
        return
    with open_engine() as engine:
        found = engine.filters.list()
    if as_json:
        output.print_json(found)
    elif found:
        output.print_table(["name", "lets through"], [(saved.name, "; ".join(_spelled(saved))) for saved in found])
    else:
        output.print_text("No filter is saved. Save one: pagelight filters save NAME --tag TAG")


@takes_filters
def save(name: Name, *, filters: Filters, as_json: AsJson = False) -> None:
    """Keep a filter under a name, in the place of the one there was.

    pagelight filters save "recent leases" --tag lease --dated-after 2023-01-01
    """
    with open_engine() as engine:
        saved = engine.filters.save(name, filters)
    if as_json:
        output.print_json(saved)
    else:
        output.print_text(f"saved  {saved.name}  {'; '.join(_spelled(saved))}")


def delete(name: Name, as_json: AsJson = False) -> None:
    """Forget a saved filter.

    pagelight filters delete "recent leases"
    """
    with open_engine() as engine:
        engine.filters.delete(name)
    if as_json:
        output.print_json({"deleted": name})
    else:
        output.print_text(f"deleted  {name}")


def _spelled(saved: SavedFilter) -> Iterator[str]:
    for field, value in saved.filters.model_dump(mode="json", exclude_defaults=True).items():
        yield f"{field.replace('_', ' ')}: {', '.join(value) if isinstance(value, list) else value}"

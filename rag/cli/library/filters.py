"""`pagelight filters`: save filters by name, for `--filter`."""

from typing import Annotated

import typer

from rag import types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, takes_filters

Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]


def filters(as_json: AsJson = False) -> None:
    """List, save or delete named filters.

    pagelight filters save "recent leases" --tag lease --dated-after 2023-01-01
    pagelight ask "Who may terminate?" --filter "recent leases"
    pagelight filters
    """
    with open_engine() as engine:
        found = engine.filters.list()
    empty = "No filter is saved. Save one: pagelight filters save NAME --tag TAG"
    output.print_list(
        found, ["name", "lets through"], lambda saved: (saved.name, _format(saved)), as_json=as_json, empty=empty
    )


@takes_filters
def save(name: Name, *, filters: types.Filters, as_json: AsJson = False) -> None:
    """Save a filter by name, replacing an existing one.

    pagelight filters save "recent leases" --tag lease --dated-after 2023-01-01
    """
    with open_engine() as engine:
        saved = engine.filters.save(name, filters)
    output.print_result(saved, f"saved  {saved.name}  {_format(saved)}", as_json=as_json)


def delete(name: Name, as_json: AsJson = False) -> None:
    """Delete a saved filter.

    pagelight filters delete "recent leases"
    """
    with open_engine() as engine:
        engine.filters.delete(name)
    output.print_result({"deleted": name}, f"deleted  {name}", as_json=as_json)


def _format(saved: types.SavedFilter) -> str:
    return "; ".join(
        f"{field.replace('_', ' ')}: {', '.join(value) if isinstance(value, list) else value}"
        for field, value in saved.filters.model_dump(mode="json", exclude_defaults=True).items()
    )

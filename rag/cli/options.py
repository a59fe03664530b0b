"""Options shared by several commands; those of a search are derived from the fields of `RetrievalOptions`."""

import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, get_origin

import pydantic
import typer
from pydantic.fields import FieldInfo

from rag import types
from rag.cli.command import Command, validated, with_parameters

IndexName = Annotated[str, typer.Option("--index", metavar="NAME", help="The index to work in.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON to stdout; errors too.")]
Password = Annotated[str | None, typer.Option(metavar="TEXT", help="Opens encrypted files. It is not stored.")]
SameName = Annotated[
    types.OnSameName,
    typer.Option(
        help="What to do with a file that has the name of a document: keep both, make it a new version, or ask."
    ),
]
DocumentNames = Annotated[
    list[str] | None,
    typer.Option("--document", metavar="NAME", help="Only in this document (name or id); may be repeated."),
]

FLAGS = {
    "top_k": "--k",
    "multi_query": "--rewrites",
    "must_include_mode": "--any",
    "rerank__enabled": "--rerank",
    "filters__tags": "--tag",
    "filters__author": "--author",
    "filters__dated_after": "--dated-after",
    "filters__dated_before": "--dated-before",
    "filters__saved": "--filter",
}
"""Fields whose flag differs from their name."""
SWITCHES = {"must_include_mode": "any"}
"""Fields whose flag takes no value: it stands for this one."""
HIDDEN = (
    "trace",
    *("filters__document_ids", "filters__mime_types", "filters__sources", "filters__source_prefix"),
    *("filters__added_after", "filters__added_before"),
)
"""Fields without an option: `--document` and `pagelight why` serve instead."""


class Open(NamedTuple):
    """A default that depends on other options, and how the help describes it."""

    shown: str


def takes_retrieval(*, without: Collection[str] = (), **defaults: object) -> Callable[[Command], Command]:
    """Give a command an option for each field of its parameter `retrieval`.

    `without` are fields left out, `defaults` override the model's. A field with an `Open` default stays unset unless it
    is given, so that the command can choose.
    """
    options = [
        _option(name, field, defaults.get(name, field.default))
        for name, field in _fields(types.RetrievalOptions)
        if name not in (*HIDDEN, *without)
    ]
    return functools.partial(
        _with_options, "retrieval", options, lambda given: validated(types.RetrievalOptions, **given)
    )


def takes_filters(command: Command) -> Command:
    """Give a command the options of a search that say which documents are meant, for its parameter `filters`."""
    options = [
        _option(name, field, field.default)
        for name, field in _fields(types.RetrievalOptions)
        if name.startswith("filters__") and name not in HIDDEN
    ]
    return _with_options(
        "filters", options, lambda given: validated(types.Filters, **given.get("filters", {})), command
    )


def _with_options(
    parameter: str, options: Sequence[inspect.Parameter], make: Callable[[dict[str, Any]], object], command: Command
) -> Command:
    """Replace `parameter` of a command by `options`, from whose values `make` makes it."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        values = {option.name: given.pop(option.name, option.default) for option in options}
        command(**given, **{parameter: make(_nested(values))})

    own = inspect.signature(command).parameters
    others = {name: declared for name, declared in own.items() if name != parameter}
    return with_parameters(run, others | {option.name: option for option in options})


def _fields(model: type[pydantic.BaseModel], group: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield the model's fields, those of a nested model as `group__name`."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
            yield from _fields(kind, f"{name}__")
        else:
            yield group + name, field


def _option(name: str, field: FieldInfo, default: Any) -> inspect.Parameter:
    """Turn a field into a parameter that Typer makes an option of."""
    kind, description = field.annotation, field.description or ""
    if name in SWITCHES:
        kind, default = bool, False
    elif get_origin(kind) is tuple:
        kind, default, description = list[str], [*default], f"{description} May be repeated."
    elif name.startswith("filters__"):
        kind = str | None  # the model parses dates, too
    shown: bool | str = True
    if isinstance(default, Open):
        default, shown = None, default.shown
    flag = name.replace("__", "-").replace("_", "-")
    bounds = {
        option: getattr(limit, attribute)
        for limit in field.metadata
        for option, attribute in (("min", "ge"), ("max", "le"))
        if hasattr(limit, attribute)
    }
    option = typer.Option(
        FLAGS.get(name, f"--{flag}/--no-{flag}" if default is True else f"--{flag}"),
        help=description,
        show_default=shown,
        **bounds,
    )
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Nest option values as the model takes them, without those that were not given."""
    fields: dict[str, Any] = {}
    for name, value in values.items():
        if value is None or (name in SWITCHES and not value):
            continue
        group, _, inner = name.rpartition("__")
        (fields.setdefault(group, {}) if group else fields)[inner] = SWITCHES.get(name, value)
    return fields

"""Options that several commands take; those of a search are the fields of `RetrievalOptions`."""

import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, get_origin

import pydantic
import typer
from pydantic.fields import FieldInfo

from rag.cli import completion
from rag.cli.command import validated
from rag.types import Filters, OnSameName, RetrievalOptions

IndexName = Annotated[
    str,
    typer.Option("--index", metavar="NAME", help="The index to work in.", autocompletion=completion.index_names),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON to stdout; errors too.")]
Password = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Opens encrypted files. It is not kept.", show_default=False)
]
SameName = Annotated[
    OnSameName,
    typer.Option(
        help="What becomes of a file whose name a document has: a document of its own, its new version, or ask."
    ),
]
DocumentNames = Annotated[
    list[str] | None,
    typer.Option(
        "--document",
        metavar="NAME",
        help="Only in this document (name or id); may be repeated.",
        show_default=False,
        autocompletion=completion.document_names,
    ),
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
"""Fields whose flag is not their name."""
SWITCHES = {"must_include_mode": "any"}
"""Fields whose flag takes no value, since it stands for this one."""
NOT_TYPED_IN = (
    "trace",
    *("filters__document_ids", "filters__mime_types", "filters__sources", "filters__source_prefix"),
    *("filters__added_after", "filters__added_before"),
)
"""Fields for which there is `--document` and `pagelight why`."""

Command = Callable[..., None]


class Open(NamedTuple):
    """The default of an option that depends on others: what the help says of it."""

    shown: str


def takes_retrieval(*, without: Collection[str] = (), **defaults: object) -> Callable[[Command], Command]:
    """Give a command an option for each field of its parameter `retrieval`, which are then made into it.

    `without` are fields left out, `defaults` those with another value than the model's unless it is typed in; an `Open`
    one is left unset then, for the command to choose.
    """
    options = {
        name: _option(name, field, defaults.get(name, field.default))
        for name, field in _fields(RetrievalOptions)
        if name not in (*NOT_TYPED_IN, *without)
    }

    return functools.partial(_taking, "retrieval", options, lambda typed_in: validated(RetrievalOptions, **typed_in))


def takes_filters(command: Command) -> Command:
    """Give a command the options that say which documents are meant, which are then made into its parameter `filters`.

    They are those of a search.
    """
    options = {
        name: _option(name, field, field.default)
        for name, field in _fields(RetrievalOptions)
        if name.startswith("filters__") and name not in NOT_TYPED_IN
    }
    return _taking("filters", options, lambda typed_in: validated(Filters, **typed_in.get("filters", {})), command)


def _taking(
    parameter: str, options: Mapping[str, inspect.Parameter], make: Callable[[dict[str, Any]], object], command: Command
) -> Command:
    """`command` with `options` in the place of its `parameter`, which `make` makes of what is typed in."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        typed_in = {name: given.pop(name) for name in options}
        command(**given, **{parameter: make(_nested(typed_in))})

    own = inspect.signature(command).parameters
    shown = {**own, **options}
    del shown[parameter]
    described: Any = run
    described.__signature__ = inspect.Signature(list(shown.values()))
    described.__annotations__ = {name: parameter.annotation for name, parameter in shown.items()}
    return run


def _fields(model: type[pydantic.BaseModel], group: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """The model's fields, those of a model within it as `group__name`."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
            yield from _fields(kind, f"{name}__")
        else:
            yield group + name, field


def _option(name: str, field: FieldInfo, default: Any) -> inspect.Parameter:
    """The field as a parameter that Typer makes an option of."""
    kind, explained = field.annotation, field.description or ""
    if name in SWITCHES:
        kind, default = bool, False
    elif get_origin(kind) is tuple:
        kind, default, explained = list[str], [*default], f"{explained} May be repeated."
    elif name.startswith("filters__"):
        kind = str | None  # days, too, are read by the model
    shown: bool | str = True
    if isinstance(default, Open):
        default, shown = None, default.shown
    flag = name.replace("__", "-").replace("_", "-")
    option = typer.Option(
        FLAGS.get(name, f"--{flag}/--no-{flag}" if default is True else f"--{flag}"),
        min=_bound(field, "ge"),
        max=_bound(field, "le"),
        help=explained,
        show_default=shown,
    )
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def _bound(field: FieldInfo, name: str) -> float | None:
    return next((getattr(limit, name) for limit in field.metadata if hasattr(limit, name)), None)


def _nested(typed_in: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed in, as the model takes it."""
    fields: dict[str, Any] = {}
    for name, value in typed_in.items():
        if value is None or (name in SWITCHES and not value):
            continue
        group, _, inner = name.rpartition("__")
        (fields.setdefault(group, {}) if group else fields)[inner] = SWITCHES.get(name, value)
    return fields

"""Shared parts of all commands: open the engine late, and turn errors into messages and exit codes.

Commands import models, database drivers and servers where they use them, so that `pagelight --help` starts at once.
"""

import contextlib
import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic
import typer

import rag
from rag import config, errors, types
from rag.cli import output

if TYPE_CHECKING:
    from rag.engine import RAGEngine

KEEP_LINES = "\b\n"
"""Typer's marker before a paragraph whose line breaks matter."""

Command = Callable[..., None]
Model = TypeVar("Model", bound=pydantic.BaseModel)


@contextlib.contextmanager
def open_engine(index_name: str = types.DEFAULT_INDEX) -> "Iterator[RAGEngine]":
    """Open the local user's engine, or the one of the shared collection that `index_name` names."""
    with rag.RAGEngine(config.load_config()) as engine:
        yield engine.installation.for_user(engine.user_id, types.RequestOrigin("cli")).for_index(index_name)


def validated(model: type[Model], **fields: object) -> Model:
    """Make `model` from command line values.

    Raises:
        errors.ValidationError: a value is out of bounds; the message names it.
    """
    try:
        return model.model_validate(fields)
    except pydantic.ValidationError as error:
        raise errors.ValidationError(f"Invalid request: {types.error_summary(error.errors())}.") from error


def add_command(app: typer.Typer, function: Command, name: str | None = None) -> None:
    """Make `function` a command of `app`."""
    app.command(name, help=help_text(function))(_report_errors(function))


def add_group(app: typer.Typer, own_command: Command, subcommands: Mapping[str, Command]) -> None:
    """Make a command with subcommands; `own_command` runs if none is given, or help is printed if it has no options."""
    has_options = bool(inspect.signature(own_command).parameters)
    group = typer.Typer(no_args_is_help=not has_options, invoke_without_command=has_options)
    group.callback(help=help_text(own_command))(_report_errors(_unless_subcommand(own_command)))
    for name, function in subcommands.items():
        add_command(group, function, name)
    app.add_typer(group, name=own_command.__name__)


def with_parameters(function: Command, parameters: Mapping[str, inspect.Parameter]) -> Command:
    """Declare that `function`, which takes any keyword arguments, has these parameters: Typer reads the signature."""
    declared: Any = function
    declared.__signature__ = inspect.Signature(list(parameters.values()))
    declared.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return function


def help_text(function: Command) -> str:
    """Return the docstring as help: prose is wrapped anew, examples keep their lines."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(
        KEEP_LINES + inspect.cleandoc(part) if part.startswith((" ", "pagelight ")) else " ".join(part.splitlines())
        for part in paragraphs
    )


def _report_errors(function: Command) -> Command:
    """Print an error's message instead of a traceback, and exit with its code."""

    @functools.wraps(function)
    def run(**options: Any) -> None:
        try:
            _require_fork()
            function(**options)
        except errors.Error as error:
            output.print_error(error, as_json=bool(options.get("as_json")))
            raise typer.Exit(error.exit_code) from error

    return run


def _require_fork() -> None:
    """Raise ConfigError where documents cannot be read in processes of their own, as on Windows."""
    if not hasattr(os, "fork"):
        raise errors.ConfigError(
            "Pagelight does not run on Windows itself. Install it in WSL 2 or use its container, and open "
            "http://localhost:8501 in your browser."
        )


def _unless_subcommand(own_command: Command) -> Command:
    """Run a group's own command only if no subcommand follows; its options are refused before one."""
    own = inspect.signature(own_command).parameters

    @functools.wraps(own_command)
    def run(context: typer.Context, **options: Any) -> None:
        if context.invoked_subcommand is None:
            own_command(**options)
        elif any(options[name] != parameter.default for name, parameter in own.items()):
            raise errors.ValidationError(f"Put the options behind “{context.invoked_subcommand}”.")

    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    return with_parameters(run, {**own, "context": context})

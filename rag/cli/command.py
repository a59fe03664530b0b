"""What every command shares: opening the engine late, and turning errors into messages and exit codes.

Commands import models, database drivers and servers where they use them: `pagelight --help` does not wait for these.
"""

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic
import typer
from typer import core

import rag
from rag import config, errors
from rag.cli import output
from rag.types import DEFAULT_INDEX, RequestOrigin
from rag.types.base import error_summary

if TYPE_CHECKING:
    from rag.engine import RAGEngine

KEEP_LINES = "\b\n"
"""What Typer wants to see before a paragraph whose line breaks matter."""

Model = TypeVar("Model", bound=pydantic.BaseModel)


@contextlib.contextmanager
def open_engine(index_name: str = DEFAULT_INDEX) -> "Iterator[RAGEngine]":
    """The local user's engine under the settings of this environment, or that of a shared collection that is named."""
    with rag.RAGEngine(config.load_config()) as engine:
        yield engine.installation.for_user(engine.user_id, RequestOrigin("cli")).access.index(index_name)


def validated(model: type[Model], **fields: object) -> Model:
    """`model` made from what was typed in.

    Raises:
        errors.ValidationError: a value is out of bounds; the message names it.
    """
    try:
        return model.model_validate(fields)
    except pydantic.ValidationError as error:
        raise errors.ValidationError(f"This cannot be asked: {error_summary(error.errors())}.") from error


@contextlib.contextmanager
def _reported(parameters: dict[str, Any]) -> Iterator[None]:
    try:
        yield
    except errors.Error as error:
        output.print_error(error, as_json=bool(parameters.get("as_json")))
        raise typer.Exit(error.exit_code) from error


class Command(core.TyperCommand):
    """A command whose typed errors end as a message and the error's exit code, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        with _reported(ctx.params):
            return super().invoke(ctx)


class Group(core.TyperGroup):
    """The same for a command that has subcommands."""

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        with _reported(ctx.params):
            return super().invoke(ctx)


def add_command(app: typer.Typer, function: Callable[..., None], name: str | None = None) -> None:
    """Make `function` a command of `app`."""
    app.command(name, cls=Command, help=help_text(function))(function)


def help_text(function: Callable[..., None]) -> str:
    """The function's docstring as help: prose is wrapped anew, examples keep their lines."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(
        KEEP_LINES + inspect.cleandoc(part) if part.startswith((" ", "pagelight ")) else " ".join(part.splitlines())
        for part in paragraphs
    )

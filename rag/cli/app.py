"""The command `pagelight` with its subcommands."""

import io
import logging
import sys
from collections.abc import Callable
from importlib import metadata
from typing import Annotated

import typer

from rag import lazy_imports
from rag.cli import api
from rag.cli.admin import backup, doctor, keys, models, reembed, server
from rag.cli.command import Command, add_command, add_group, help_text
from rag.cli.library import documents, ingest, inspect, parse, sync, tables
from rag.cli.questions import ask, evaluate, search, validate

logger = logging.getLogger("rag.cli")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pagelight {metadata.version('pagelight')}")
        raise typer.Exit


def pagelight(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens to stderr.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Chat with your PDFs; every answer shows its lines on the page.

        pagelight run                                   open the app
        pagelight ingest report.pdf                     add a file
        pagelight ask "What were net sales in 2023?"    ask here

    Settings are read from the environment and from .env, such as RAG_DATA_DIR and RAG_DATABASE_URL.
    """
    logging.basicConfig(
        level=logging.INFO if verbose else logging.ERROR, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )


app = typer.Typer(
    name="pagelight",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback(help=help_text(pagelight))(pagelight)

COMMANDS: dict[str, Command] = {
    "run": server.run,
    "serve": server.serve,
    "worker": server.worker,
    "ingest": ingest.ingest,
    "sync": sync.sync,
    "ask": ask.ask,
    "search": search.search,
    "why": search.why,
    "api": api.api,
    "mcp": server.mcp,
    "inspect": inspect.inspect,
    "tables": tables.tables,
    "parse": parse.parse,
    "eval": evaluate.evaluate,
    "validate": validate.validate,
    "reembed": reembed.reembed,
    "export": backup.export,
    "backup": backup.backup,
    "restore": backup.restore,
    "doctor": doctor.doctor,
}
GROUPS: dict[Command, dict[str, Command]] = {
    documents.documents: {
        "list": documents.list_documents,
        "delete": documents.delete,
        "restore": documents.restore,
        "purge": documents.purge,
    },
    keys.keys: {"create": keys.create, "list": keys.list_keys, "revoke": keys.revoke},
    models.models: {
        "write": models.write,
        "embed": models.embed,
        "download": models.download,
        "test": models.try_models,
        "key": models.key,
        "address": models.address,
    },
}
"""Commands with subcommands: what runs without one, and the subcommands."""

for name, command in COMMANDS.items():
    add_command(app, command, name)
for own_command, subcommands in GROUPS.items():
    add_group(app, own_command, subcommands)


def main(run: Callable[[], None] = app) -> None:
    """Run the command line. Exit codes: 0, 2 for wrong usage, those of `rag.errors`, 1 for anything unexpected."""
    lazy_imports.collect_rarely()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        run()
    except Exception as error:
        logger.exception("unexpected error")
        sys.stderr.write(
            f"Error: something unexpected happened ({type(error).__name__}). It is a bug: please report it with the "
            "lines above, after checking that they hold nothing private.\n"
        )
        sys.exit(1)

"""The command `pagelight`: its subcommands and what holds for all of them."""

import io
import logging
import sys
from collections.abc import Callable
from importlib import metadata
from typing import Annotated

import typer

from rag import lazy_imports
from rag.cli.admin import audit, backup, cache, doctor, jobs, keys, mcp, models, reembed, server, share, status, users
from rag.cli.command import Group, add_command, help_text
from rag.cli.library import diff, documents, export, filters, ingest, inspect, parse, reindex, sync
from rag.cli.questions import ask, chats, evaluate, glossary, matrix, search, validate, why

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
        pagelight ingest report.pdf                     take a file in
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
for command in (
    server.run,
    server.serve,
    server.worker,
    ingest.ingest,
    sync.sync,
    reindex.reindex,
    ask.ask,
    search.search,
    why.why,
    diff.diff,
):
    add_command(app, command)

library = typer.Typer(cls=Group, invoke_without_command=True)
library.callback(help=help_text(documents.documents))(documents.documents)
add_command(library, documents.list_documents, "list")
for subcommand in (
    documents.edit,
    documents.tags,
    documents.versions,
    documents.delete,
    documents.restore,
    documents.purge,
    documents.cancel,
    documents.retry,
):
    add_command(library, subcommand)
app.add_typer(library, name="documents")

access = typer.Typer(cls=Group, no_args_is_help=True)
access.callback(help=help_text(keys.keys))(keys.keys)
add_command(access, keys.create)
add_command(access, keys.list_keys, "list")
add_command(access, keys.revoke)
app.add_typer(access, name="keys")

people = typer.Typer(cls=Group, no_args_is_help=True)
people.callback(help=help_text(users.users))(users.users)
add_command(people, users.list_users, "list")
for change in (users.role, users.groups, users.quota, users.logout):
    add_command(people, change)
app.add_typer(people, name="users")

words = typer.Typer(cls=Group, invoke_without_command=True)
words.callback(help=help_text(glossary.glossary))(glossary.glossary)
add_command(words, glossary.set_glossary, "set")
add_command(words, glossary.clear)
add_command(words, glossary.example)
add_command(words, glossary.try_question, "try")
app.add_typer(words, name="glossary")

kept = typer.Typer(cls=Group, invoke_without_command=True)
kept.callback(help=help_text(filters.filters))(filters.filters)
add_command(kept, filters.save)
add_command(kept, filters.delete)
app.add_typer(kept, name="filters")

writers = typer.Typer(cls=Group, invoke_without_command=True)
writers.callback(help=help_text(models.models))(models.models)
add_command(writers, models.write)
add_command(writers, models.embed)
add_command(writers, models.try_models, "test")
add_command(writers, models.key)
app.add_typer(writers, name="models")

team = typer.Typer(cls=Group, invoke_without_command=True)
team.callback(help=help_text(share.share))(share.share)
add_command(team, share.give)
add_command(team, share.withdraw)
app.add_typer(team, name="share")
add_command(app, audit.audit)

talks = typer.Typer(cls=Group, invoke_without_command=True)
talks.callback(help=help_text(chats.chats))(chats.chats)
add_command(talks, chats.export_chat, "export")
add_command(talks, chats.marked)
add_command(talks, chats.again)
add_command(talks, chats.show_chat, "show")
add_command(talks, chats.withdraw)
add_command(talks, chats.links)
app.add_typer(talks, name="chats")

grid = typer.Typer(cls=Group, invoke_without_command=True)
grid.callback(help=help_text(matrix.matrix))(matrix.matrix)
for of_matrices in (
    matrix.templates,
    matrix.make,
    matrix.show,
    matrix.edit,
    matrix.fill,
    matrix.cancel,
    matrix.delete,
    matrix.export,
):
    add_command(grid, of_matrices)
app.add_typer(grid, name="matrix")

work = typer.Typer(cls=Group, no_args_is_help=True)
work.callback(help=help_text(jobs.jobs))(jobs.jobs)
add_command(work, jobs.list_jobs, "list")
add_command(work, jobs.show)
add_command(work, jobs.cancel)
app.add_typer(work, name="jobs")
add_command(app, mcp.mcp)

add_command(app, inspect.inspect)
add_command(app, parse.parse)
add_command(app, evaluate.evaluate, "eval")
add_command(app, validate.validate)
add_command(app, reembed.reembed)
add_command(app, export.export)
add_command(app, backup.backup)
add_command(app, backup.restore)
add_command(app, cache.cache)
add_command(app, doctor.doctor)
add_command(app, status.status)


def main(run: Callable[[], None] = app) -> None:
    """The command line. Exit codes: 0, 2 for wrong usage, those of `rag.errors`, 1 for anything unexpected."""
    lazy_imports.collect_rarely()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        run()
    except Exception as error:
        logger.exception("unexpected error")
        _print_last_line(error)
        sys.exit(1)


def _print_last_line(error: Exception) -> None:
    sys.stderr.write(
        f"Error: something unexpected happened ({type(error).__name__}). It is a bug: please report it with the lines "
        "above, after checking that they hold nothing private.\n"
    )

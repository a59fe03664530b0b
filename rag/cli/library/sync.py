"""`pagelight sync`: an index follows a folder."""

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Annotated, get_args

import typer

from rag import errors
from rag.cli import output, progress
from rag.cli.command import open_engine, validated
from rag.cli.options import AsJson, IndexName
from rag.contract import SyncBody
from rag.types import DEFAULT_INDEX, FileReport, FileState, IndexRequest, SyncReport

MANY_FILES = 1_000_000
MANY_CHUNKS = 100_000_000
"""Nothing is left out unless asked for: who types this knows the folder."""

MARKS: dict[FileState, tuple[str, str]] = {
    "added": ("✓", "green"),
    "changed": ("✓", "green"),
    "removed": ("–", "yellow"),
    "unchanged": ("·", "dim"),
    "failed": ("✗", "red"),
    "left_out": ("–", "yellow"),
}


def sync(
    folder: Annotated[
        str,
        typer.Argument(metavar="FOLDER", help="A folder, or a URL of one (s3://…, gdrive://…).", show_default=False),
    ],
    *,
    subfolders: Annotated[bool, typer.Option(help="Look into folders below it, too.")] = True,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Not this file, by its path in the folder; may be repeated.", show_default=False
        ),
    ] = None,
    max_files: Annotated[int, typer.Option(min=1, max=MANY_FILES, help="Leave out files beyond.")] = MANY_FILES,
    max_chunks: Annotated[int, typer.Option(min=1, max=MANY_CHUNKS, help="Leave out what has more.")] = MANY_CHUNKS,
    index_name: IndexName = DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Make an index follow a folder: read what is new or changed, put in the trash what is gone.

    Files are known by their paths and compared by their content. A changed file that cannot be read is found as it
    was. Documents that came in another way stay. The exit code is 5 if any file failed.

        pagelight sync reports/
        pagelight sync s3://bucket/filings --index filings --exclude drafts/old.pdf
    """
    request = validated(
        IndexRequest,
        source={"folder_id": folder, "include_subfolders": subfolders, "exclude_file_ids": exclude or ()},
        index={"index_name": index_name},
        options={"max_files": max_files, "max_chunks": max_chunks},
    )
    with open_engine() as engine, shown_files() as show:
        report = engine.sync_index(request, show)
    if as_json:
        output.print_json(SyncBody.of(report))
    else:
        _print_report(report)
    if report.failures:
        raise typer.Exit(errors.SourceError.exit_code)


@contextlib.contextmanager
def shown_files() -> Iterator[Callable[[FileReport], None]]:
    """Tells what became of each file while the block runs."""
    numbers = itertools.count(1)
    with progress.shown() as shown:

        def show(file: FileReport) -> None:
            shown("Files", next(numbers), 0)
            shown.line(MARKS[file.state], file.source, _explain(file))

        yield show


def _explain(file: FileReport) -> str:
    if file.reason:
        return file.reason
    return f"{file.state}, {output.plural(file.chunks, 'chunk')}" if file.chunks else file.state.replace("_", " ")


def _print_report(report: SyncReport) -> None:
    rows = [
        (
            state.replace("_", " "),
            report.count(state),
            f"{sum(file.chunks for file in report.files if file.state == state):,}",
        )
        for state in get_args(FileState)
    ]
    output.print_table(["", "files", "new chunks"], rows, right=["files", "new chunks"])

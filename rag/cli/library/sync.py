"""`pagelight sync`: keep an index in sync with a folder."""

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Annotated, get_args

import typer

from rag import errors, types
from rag.cli import output
from rag.cli.command import open_engine, validated
from rag.cli.options import AsJson, IndexName
from rag.contract import SyncBody

MAX_FILES = 1_000_000
MAX_CHUNKS = 100_000_000
"""By default nothing is left out: people who type this know the folder."""

MARKS: dict[types.FileState, tuple[str, str]] = {
    "added": ("✓", "green"),
    "changed": ("✓", "green"),
    "removed": ("–", "yellow"),
    "unchanged": ("·", "dim"),
    "failed": ("✗", "red"),
    "left_out": ("–", "yellow"),
}


def sync(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A folder, or a URL of one (s3://…, gdrive://…).")],
    *,
    subfolders: Annotated[bool, typer.Option(help="Include subfolders.")] = True,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Leave out this file, by its path in the folder; may be repeated."),
    ] = None,
    max_files: Annotated[
        int, typer.Option(min=1, max=MAX_FILES, help="Leave out files beyond this number.")
    ] = MAX_FILES,
    max_chunks: Annotated[
        int, typer.Option(min=1, max=MAX_CHUNKS, help="Leave out files beyond this number of chunks.")
    ] = MAX_CHUNKS,
    index_name: IndexName = types.DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Keep an index in sync with a folder: add new and changed files, put documents of deleted files in the trash.

    Files are identified by their paths and compared by their content. If a changed file cannot be read, its old version
    stays searchable. Documents added in another way are left alone. The exit code is 5 if any file failed.

        pagelight sync reports/
        pagelight sync s3://bucket/filings --index filings --exclude drafts/old.pdf
    """
    request = validated(
        types.IndexRequest,
        source={"folder_id": folder, "include_subfolders": subfolders, "exclude_file_ids": exclude or ()},
        index={"index_name": index_name},
        options={"max_files": max_files, "max_chunks": max_chunks},
    )
    with open_engine() as engine, show_files() as on_file:
        report = engine.sync_index(request, on_file)
    if as_json:
        output.print_json(SyncBody.of(report))
    else:
        files = [(state, [file for file in report.files if file.state == state]) for state in get_args(types.FileState)]
        rows = [(state.replace("_", " "), len(of), f"{sum(file.chunks for file in of):,}") for state, of in files]
        output.print_table(["", "files", "new chunks"], rows, right=["files", "new chunks"])
    if report.failures:
        raise typer.Exit(errors.SourceError.exit_code)


@contextlib.contextmanager
def show_files() -> Iterator[Callable[[types.FileReport], None]]:
    """Print the result of each file while the block runs."""
    numbers = itertools.count(1)
    with output.show_progress() as bar:

        def on_file(file: types.FileReport) -> None:
            bar("Files", next(numbers), 0)
            chunks = f", {output.plural(file.chunks, 'chunk')}" if file.chunks else ""
            bar.print_line(MARKS[file.state], file.source, file.reason or file.state.replace("_", " ") + chunks)

        yield on_file

"""`pagelight ingest`: files and folders in."""

from pathlib import Path
from typing import Annotated

import typer

from rag import errors
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.library import file_ingestion
from rag.cli.options import AsJson, IndexName, Password, SameName
from rag.types import DEFAULT_INDEX


def ingest(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files, and folders to search.", show_default=False)
    ],
    index_name: IndexName = DEFAULT_INDEX,
    password: Password = None,
    same_name: SameName = "keep",
    as_json: AsJson = False,
) -> None:
    """Take files in and make them searchable.

    Folders are searched for PDF, DOCX, PPTX, EPUB, XLSX, XLS, ODS, CSV, HTML, Markdown and text files, mails (EML, MSG)
    and ZIP archives. What is in mails and archives becomes documents of their own. What is in the index already is
    skipped; what an interrupted run left unread is read. The exit code is 5 if any file failed.

        pagelight ingest report.pdf contracts/
        pagelight ingest --password secret board-minutes.pdf
        pagelight ingest --same-name version report.pdf
    """
    found = file_ingestion.find_files(paths)
    if not found:
        raise errors.SourceError(f"There are no files to take in in {', '.join(map(str, paths))}. Check the path.")
    with open_engine(index_name) as engine:
        outcomes = file_ingestion.ingest_files(engine, found, index_name, password=password, same_name=same_name)
    if as_json:
        output.print_json(file_ingestion.summary(outcomes))
    else:
        file_ingestion.print_summary(outcomes)
    if any(outcome.state == "failed" for outcome in outcomes):
        raise typer.Exit(errors.SourceError.exit_code)

"""`pagelight ingest`: add files to an index."""

from pathlib import Path
from typing import Annotated

import typer

from rag import errors, types
from rag.cli.command import open_engine
from rag.cli.library import file_ingestion
from rag.cli.options import AsJson, IndexName, Password, SameName


def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, and folders to search.")],
    index_name: IndexName = types.DEFAULT_INDEX,
    password: Password = None,
    same_name: SameName = "keep",
    as_json: AsJson = False,
) -> None:
    """Add files and make them searchable.

    Folders are searched for PDF, DOCX, PPTX, EPUB, XLSX, XLS, ODS, CSV, HTML, Markdown and text files, mails (EML, MSG)
    and ZIP archives. Files in mails, archives and PDFs become documents of their own. Files that are already in the
    index are skipped; files that an interrupted run left unread are read. The exit code is 5 if any file failed.

        pagelight ingest report.pdf contracts/
        pagelight ingest --password secret board-minutes.pdf
        pagelight ingest --same-name version report.pdf
    """
    files = file_ingestion.find_files(paths)
    if not files:
        raise errors.SourceError(f"There are no files to add in {', '.join(map(str, paths))}. Check the path.")
    with open_engine(index_name) as engine:
        outcomes = file_ingestion.ingest_files(engine, files, index_name, password=password, same_name=same_name)
    file_ingestion.report(outcomes, as_json=as_json)

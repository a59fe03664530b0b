"""`pagelight ingest` and `pagelight reindex`: add files to an index, and read its documents again."""

from pathlib import Path
from typing import Annotated

import typer

from rag import errors, types
from rag.access.name_lookup import require_index
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.library import file_ingestion
from rag.cli.library.sync import show_files
from rag.cli.options import AsJson, IndexName, Password, SameName
from rag.contract import SyncBody


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


def reindex(index_name: IndexName = types.DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """Read all documents of an index again, after an update or with other parsing settings.

    The folders that the index follows since a `sync` are synced first. Searches keep working; a document that cannot be
    read any more stays searchable as it was. Documents that wait for a password are left alone. The exit code is 5 if
    any document failed.

        pagelight reindex
        pagelight reindex --index filings
    """
    with open_engine() as engine:
        require_index(engine, index_name)
        documents = engine.jobs.documents_to_reindex(index_name)
        with show_files() as on_file:
            reports, unreadable = engine.jobs.refresh_folders(index_name, on_file)

        def read(document: types.Document, on_progress: types.OnProgress) -> list[file_ingestion.Outcome]:
            path = Path(document.name)
            try:
                document = engine.documents.process(document.id, on_progress, again=True)
            except errors.NotFoundError as error:
                return [file_ingestion.Outcome(path, "skipped", None, error.code, "It was deleted meanwhile.")]
            return file_ingestion.outcomes_of(engine, document, path, on_progress)

        outcomes = file_ingestion.each(documents, read)
    for error in unreadable:
        output.print_error(error, as_json=False)
    file_ingestion.report(outcomes, as_json=as_json, folders=list(map(SyncBody.of, reports)))
    if unreadable or any(report.failures for report in reports):
        raise typer.Exit(errors.SourceError.exit_code)

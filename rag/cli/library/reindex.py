"""`pagelight reindex`: every document of an index read anew."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rag import errors
from rag.cli import name_lookup, output
from rag.cli.command import open_engine
from rag.cli.library import file_ingestion
from rag.cli.library.sync import shown_files
from rag.cli.options import AsJson, IndexName
from rag.contract import SyncBody
from rag.types import DEFAULT_INDEX, Document, OnProgress

if TYPE_CHECKING:
    from rag.engine import RAGEngine


def reindex(index_name: IndexName = DEFAULT_INDEX, as_json: AsJson = False) -> None:
    """Read every document of an index anew, here and now: after another version, or other settings of reading.

    Before that the index catches up with the folders that it follows since a `sync`: what is new there is read, too.
    Searches go on meanwhile; a document that cannot be read any more is found as it was. What waits for its password
    is left alone. The exit code is 5 if any document failed.

        pagelight reindex
        pagelight reindex --index filings
    """
    with open_engine() as engine:
        name_lookup.require_index(engine, index_name)
        documents = engine.jobs.documents_to_reindex(index_name)
        with shown_files() as show:
            reports, unreadable = engine.jobs.refresh_folders(index_name, show)
        outcomes = file_ingestion.each(documents, functools.partial(_read_anew, engine))
    if as_json:
        output.print_json({**file_ingestion.summary(outcomes), "folders": list(map(SyncBody.of, reports))})
    else:
        file_ingestion.print_summary(outcomes)
    for error in unreadable:
        output.print_error(error, as_json=False)
    if unreadable or any(report.failures for report in reports) or any(found.state == "failed" for found in outcomes):
        raise typer.Exit(errors.SourceError.exit_code)


def _read_anew(engine: "RAGEngine", document: Document, on_progress: OnProgress) -> list[file_ingestion.Outcome]:
    path = Path(document.name)
    try:
        read = engine.documents.process(document.id, on_progress, again=True)
    except errors.NotFoundError as error:
        return [file_ingestion.Outcome(path, "skipped", None, error.code, "It was deleted meanwhile.")]
    return file_ingestion.outcomes_of(engine, read, path, on_progress)

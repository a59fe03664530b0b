"""What Tab offers for names: those of indexes and documents, as long as there is a database to ask."""

import typer

from rag import config, errors
from rag.cli.command import open_engine
from rag.types import DEFAULT_INDEX


def index_names(incomplete: str) -> list[str]:
    """Indexes whose names begin so."""
    if not _is_there():
        return []
    try:
        with open_engine() as engine:
            return [index.name for index in engine.indexes.list() if index.name.startswith(incomplete)]
    except errors.Error:
        return []


def document_names(context: typer.Context, incomplete: str) -> list[str]:
    """Documents of the named index whose names begin so."""
    if not _is_there():
        return []
    index_name = context.params.get("index_name") or DEFAULT_INDEX
    in_trash = context.command.name in {"restore", "purge"}
    try:
        with open_engine() as engine:
            if index_name not in {index.name for index in engine.indexes.list()}:
                return []
            found = engine.documents.list(index_name, in_trash=in_trash)
            return sorted({document.name for document in found if document.name.startswith(incomplete)})
    except errors.Error:
        return []


def _is_there() -> bool:
    """Whether there is a database: none is made because somebody pressed Tab."""
    try:
        settings = config.load_config()
    except errors.ConfigError:
        return False
    return settings.rag_database_url is not None or settings.database_dir.exists()

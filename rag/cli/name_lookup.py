"""Find the documents that people name on the command line, and complete names."""

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from rag import config, errors, types
from rag.access import name_lookup
from rag.cli.command import open_engine

if TYPE_CHECKING:
    from rag.engine import RAGEngine


def short_id(whole: uuid.UUID) -> str:
    """Return the digits of an id that tables show."""
    return whole.hex[: name_lookup.SHORT_ID]


def find_documents(
    engine: "RAGEngine", index_name: str, names: Sequence[str], *, in_trash: bool = False
) -> list[types.Document]:
    """Return the documents that `names` mean.

    Raises:
        errors.NotFoundError: a name matches no document; the message suggests similar names.
    """
    advice = f"List them: pagelight documents list{' --trash' if in_trash else ''}."
    return name_lookup.find_documents(engine, index_name, names, in_trash=in_trash, advice=advice)


def find_single_documents(
    engine: "RAGEngine", index_name: str, names: Sequence[str], *, in_trash: bool = False
) -> list[types.Document]:
    """Return the documents that `names` mean, each of which means one.

    Raises:
        errors.NotFoundError: a name matches no document.
        errors.ValidationError: several documents have the name; the message gives their ids.
    """
    documents = find_documents(engine, index_name, names, in_trash=in_trash)
    for document in documents:
        twins = [other for other in documents if other.name == document.name]
        if len(twins) > 1:
            ids = ", ".join(short_id(twin.id) for twin in twins)
            raise errors.ValidationError(f"Several documents are called “{document.name}”. Name one by its id: {ids}.")
    return documents


def restrict(
    engine: "RAGEngine", index_name: str, names: Sequence[str] | None, options: types.RetrievalOptions
) -> types.RetrievalOptions:
    """Restrict `options` to the documents that `names` mean; no names mean all. Raises as `find_documents`."""
    name_lookup.require_index(engine, index_name)
    documents = find_documents(engine, index_name, names or ())
    filters = options.filters.model_copy(update={"document_ids": tuple(document.id for document in documents)})
    return options.model_copy(update={"filters": filters})


def complete_index_name(incomplete: str) -> list[str]:
    """Return the names of indexes that begin with `incomplete`."""
    try:
        if not _has_database():
            return []
        with open_engine() as engine:
            return [index.name for index in engine.indexes.list() if index.name.startswith(incomplete)]
    except errors.Error:
        return []


def complete_document_name(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of documents of the chosen index that begin with `incomplete`."""
    index_name = context.params.get("index_name") or types.DEFAULT_INDEX
    in_trash = context.command.name in {"restore", "purge"}
    try:
        if not _has_database():
            return []
        with open_engine() as engine:
            index_name = name_lookup.require_index(engine, index_name)
            documents = engine.documents.list(index_name, in_trash=in_trash)
            return sorted({document.name for document in documents if document.name.startswith(incomplete)})
    except errors.Error:
        return []


def _has_database() -> bool:
    """Return whether there is a database: pressing Tab must not create one."""
    settings = config.load_config()
    return settings.rag_database_url is not None or settings.database_dir.exists()

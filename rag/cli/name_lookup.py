"""Find indexes, documents and other things by the names or ids that people type, and complete these names."""

import difflib
import unicodedata
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import typer

from rag import config, errors, types
from rag.cli.command import open_engine

if TYPE_CHECKING:
    from rag.engine import RAGEngine

SHORT_ID = 8
"""Hexadecimal digits of an id that are printed, and that suffice to name something."""


class Identified(Protocol):
    """Anything with an id."""

    @property
    def id(self) -> uuid.UUID:
        """Its id."""


Item = TypeVar("Item", bound=Identified)


def short_id(whole: uuid.UUID) -> str:
    """Return the digits of an id that tables show."""
    return whole.hex[:SHORT_ID]


def with_id(items: Sequence[Item], text: str) -> list[Item]:
    """Return the items whose ids begin with `text`, which needs at least `SHORT_ID` digits."""
    digits = text.replace("-", "").lower()
    return [item for item in items if len(digits) >= SHORT_ID and item.id.hex.startswith(digits)]


def require_index(engine: "RAGEngine", name: str) -> None:
    """Refuse the name of an index that does not exist: reading commands would create it. The default always exists.

    Raises:
        errors.NotFoundError: the message lists the indexes.
    """
    if engine.access.is_shared:  # then it is the shared collection that was named
        return
    names = [types.DEFAULT_INDEX, *(index.name for index in engine.indexes.list() if index.name != types.DEFAULT_INDEX)]
    if name not in names:
        raise errors.NotFoundError(f"There is no index “{name}”. Existing indexes: {', '.join(names)}.")


def find_documents(
    engine: "RAGEngine", index_name: str, names: Sequence[str], *, in_trash: bool = False
) -> list[types.Document]:
    """Return the documents that `names` mean: listed names (all documents of that name), ids, or beginnings of ids.

    Raises:
        errors.NotFoundError: a name matches no document; the message suggests similar names.
    """
    require_index(engine, index_name)
    documents = engine.documents.list(index_name, in_trash=in_trash)
    matches = {document.id: document for name in names for document in _matching(documents, name, in_trash=in_trash)}
    return list(matches.values())


def find_document(engine: "RAGEngine", index_name: str, name: str) -> types.Document:
    """Return the one document that `name` means.

    Raises:
        errors.NotFoundError: there is none.
        errors.ValidationError: several documents have the name; the message gives their ids.
    """
    documents = find_documents(engine, index_name, [name])
    require_unambiguous(documents)
    return documents[0]


def require_unambiguous(documents: Sequence[types.Document]) -> None:
    """Raise ValidationError if several of these documents have the same name; the message gives their ids."""
    for document in documents:
        twins = [other for other in documents if other.name == document.name]
        if len(twins) > 1:
            ids = ", ".join(short_id(twin.id) for twin in twins)
            raise errors.ValidationError(f"Several documents are called “{document.name}”. Name one by its id: {ids}.")


def restrict(
    engine: "RAGEngine", index_name: str, names: Sequence[str] | None, options: types.RetrievalOptions
) -> types.RetrievalOptions:
    """Restrict `options` to the documents that `names` mean; no names mean all. Raises as `find_documents`."""
    documents = find_documents(engine, index_name, names or ())
    filters = options.filters.model_copy(update={"document_ids": tuple(document.id for document in documents)})
    return options.model_copy(update={"filters": filters})


def _matching(documents: Sequence[types.Document], name: str, *, in_trash: bool) -> list[types.Document]:
    name = unicodedata.normalize("NFC", name)
    if named := [document for document in documents if document.name == name]:
        # A new version that is not ready yet can be named by its id.
        return [document for document in named if document.superseded_by is None] or named
    if named := with_id(documents, name):
        return named
    similar = difflib.get_close_matches(name, [document.name for document in documents], n=3, cutoff=0.5)
    suggestions = " or ".join(f"“{other}”" for other in similar)
    place, option = ("in the trash", " --trash") if in_trash else ("in this index", "")
    advice = f"Did you mean {suggestions}?" if similar else f"List them: pagelight documents list{option}."
    raise errors.NotFoundError(f"There is no document “{name}” {place}. {advice}")


def complete_index_name(incomplete: str) -> list[str]:
    """Return the names of indexes that begin with `incomplete`."""
    if not _has_database():
        return []
    try:
        with open_engine() as engine:
            return [index.name for index in engine.indexes.list() if index.name.startswith(incomplete)]
    except errors.Error:
        return []


def complete_document_name(context: typer.Context, incomplete: str) -> list[str]:
    """Return the names of documents of the chosen index that begin with `incomplete`."""
    if not _has_database():
        return []
    index_name = context.params.get("index_name") or types.DEFAULT_INDEX
    in_trash = context.command.name in {"restore", "purge"}
    try:
        with open_engine() as engine:
            if index_name not in {index.name for index in engine.indexes.list()}:
                return []
            documents = engine.documents.list(index_name, in_trash=in_trash)
            return sorted({document.name for document in documents if document.name.startswith(incomplete)})
    except errors.Error:
        return []


def _has_database() -> bool:
    """Return whether there is a database: pressing Tab must not create one."""
    try:
        settings = config.load_config()
    except errors.ConfigError:
        return False
    return settings.rag_database_url is not None or settings.database_dir.exists()

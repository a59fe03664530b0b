"""Finding what people name: indexes, and documents by name or id."""

import difflib
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag import errors
from rag.types import DEFAULT_INDEX, Document, RetrievalOptions

if TYPE_CHECKING:
    from rag.engine import RAGEngine

SHORT_ID = 8
"""So many hexadecimal digits of an id are shown, and are enough to name a document."""


def require_index(engine: "RAGEngine", name: str) -> None:
    """Refuse a name that no index has; reading commands would otherwise create it. The default one always exists.

    Raises:
        errors.NotFoundError: the message lists what exists.
    """
    if engine.access.is_shared:  # which is the one that was named
        return
    names = [DEFAULT_INDEX, *(index.name for index in engine.indexes.list() if index.name != DEFAULT_INDEX)]
    if name not in names:
        raise errors.NotFoundError(f"There is no index “{name}”. There are: {', '.join(names)}.")


def find_documents(
    engine: "RAGEngine", index_name: str, names: Sequence[str], *, in_trash: bool = False
) -> list[Document]:
    """The documents that `names` mean: names as listed (all that bear it), ids, or the beginning of an id.

    Raises:
        errors.NotFoundError: one of them means nothing; the message suggests similar names.
    """
    require_index(engine, index_name)
    documents = engine.documents.list(index_name, in_trash=in_trash)
    found = {document.id: document for name in names for document in _called(documents, name, in_trash=in_trash)}
    return list(found.values())


def find_document(engine: "RAGEngine", index_name: str, name: str) -> Document:
    """The one document that `name` means.

    Raises:
        errors.NotFoundError: there is none.
        errors.ValidationError: several bear the name; the message gives their ids.
    """
    found = find_documents(engine, index_name, [name])
    require_unambiguous(found)
    return found[0]


def require_unambiguous(documents: Sequence[Document]) -> None:
    """Refuse to touch several documents of one name.

    Raises:
        errors.ValidationError: the message gives their ids.
    """
    for document in documents:
        twins = [other for other in documents if other.name == document.name]
        if len(twins) > 1:
            ids = ", ".join(short_id(twin.id) for twin in twins)
            raise errors.ValidationError(f"Several documents are called “{document.name}”. Name one by its id: {ids}.")


def within(
    engine: "RAGEngine", index_name: str, names: Sequence[str] | None, options: RetrievalOptions
) -> RetrievalOptions:
    """`options` for the documents that `names` mean; none means all. Raises as `find_documents`."""
    found = find_documents(engine, index_name, names or ())
    filters = options.filters.model_copy(update={"document_ids": tuple(document.id for document in found)})
    return options.model_copy(update={"filters": filters})


def short_id(document_id: uuid.UUID) -> str:
    """The id as it is shown in tables."""
    return document_id.hex[:SHORT_ID]


def _called(documents: Sequence[Document], name: str, *, in_trash: bool) -> list[Document]:
    named = [document for document in documents if document.name == name]
    if named:  # a new version that is not ready yet has an id to be named by
        return [one for one in named if one.superseded_by is None] or named
    digits = name.replace("-", "").lower()
    if len(digits) >= SHORT_ID:
        named = [document for document in documents if document.id.hex.startswith(digits)]
    if not named:
        raise _unknown(documents, name, in_trash=in_trash)
    return named


def _unknown(documents: Sequence[Document], name: str, *, in_trash: bool) -> errors.NotFoundError:
    place = "in the trash" if in_trash else "in this index"
    command = "pagelight documents list --trash" if in_trash else "pagelight documents list"
    similar = difflib.get_close_matches(name, [document.name for document in documents], n=3, cutoff=0.5)
    advice = f"Did you mean {' or '.join(f'“{other}”' for other in similar)}?" if similar else f"List them: {command}."
    return errors.NotFoundError(f"There is no document “{name}” {place}. {advice}")

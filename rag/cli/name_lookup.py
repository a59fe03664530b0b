"""Find the documents that people name on the command line."""

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag import errors, types
from rag.access import name_lookup

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

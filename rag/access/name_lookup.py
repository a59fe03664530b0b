"""Find the indexes and documents that callers name, by name or id."""

import difflib
import unicodedata
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from rag import errors, types
from rag.messages import N_

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


def with_id(items: Sequence[Item], text: str) -> list[Item]:
    """Return the items whose ids begin with `text`, which needs at least `SHORT_ID` digits."""
    digits = text.replace("-", "").lower()
    return [item for item in items if len(digits) >= SHORT_ID and item.id.hex.startswith(digits)]


def require_index(engine: "RAGEngine", name: str) -> str:
    """Return the name of an index that exists: reading one that does not would create it.

    A shared collection is the default index of its engine. Raises NotFoundError.
    """
    if engine.is_shared:
        return types.DEFAULT_INDEX
    indexes = engine.indexes.list()
    if name != types.DEFAULT_INDEX and not any(name in {index.name, str(index.id)} for index in indexes):
        names = sorted({types.DEFAULT_INDEX, *(index.name for index in indexes)})
        message = N_("There is no index “{name}”. Existing indexes: {names}.")
        raise errors.NotFoundError(message, name=name, names=", ".join(names))
    return name


def find_documents(
    engine: "RAGEngine", index_name: str, names: Sequence[str], *, in_trash: bool = False, advice: str
) -> list[types.Document]:
    """Return the documents that `names` mean: listed names (all documents of that name), ids, or beginnings of ids.

    Raises:
        errors.NotFoundError: a name matches no document; the message suggests similar names, or gives the `advice`.
    """
    documents = engine.documents.list(require_index(engine, index_name), in_trash=in_trash) if names else []
    matches: dict[uuid.UUID, types.Document] = {}
    for text in names:
        name = unicodedata.normalize("NFC", text)
        named = [document for document in documents if document.name == name]
        # A new version that is not ready yet can be named by its id.
        current = [document for document in named if document.superseded_by is None]
        if not (found := current or named or with_id(documents, name)):
            similar = difflib.get_close_matches(name, [document.name for document in documents], n=3, cutoff=0.5)
            hint = f"Did you mean {' or '.join(f'“{other}”' for other in similar)}?" if similar else advice
            message = N_("There is no document “{name}” in this index. {hint}")
            if in_trash:
                message = N_("There is no document “{name}” in the trash. {hint}")
            raise errors.NotFoundError(message, name=name, hint=hint)
        matches |= {document.id: document for document in found}
    return list(matches.values())

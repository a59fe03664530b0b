"""Find the documents, pages and quotes that an assistant names."""

import re
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rag import errors, types
from rag.access.name_lookup import find_documents

if TYPE_CHECKING:
    from rag.engine import RAGEngine


def document_ids(engine: "RAGEngine", index_name: str, names: Sequence[str] | None) -> tuple[uuid.UUID, ...]:
    """Return the ids of the documents with these ids or names; none given means all: ().

    Raises:
        errors.NotFoundError: a name matches no document; the message suggests similar names.
    """
    documents = find_documents(engine, index_name, names or (), advice="Call list_documents.")
    return tuple(document.id for document in documents)


class OpenPassage(NamedTuple):
    """Pages of a document, with the numbers of the marked lines and the marked boxes."""

    document: types.Document
    pages: list[int]
    text: types.Passage
    marked_lines: frozenset[int]
    marked: tuple[types.Region, ...]
    quote_found: bool | None


def open_passage(
    engine: "RAGEngine",
    document_id: uuid.UUID,
    *,
    passage_id: uuid.UUID | None = None,
    page: int | None = None,
    quote: str | None = None,
) -> OpenPassage:
    """Open the pages of a passage, or one page, and mark the quote, or else the passage.

    Raises:
        errors.ValidationError: neither a passage nor a page is named.
        errors.NotFoundError: there is no such document, passage or page.
    """
    document = engine.documents.get(document_id)
    if document.deleted_at is not None:
        raise errors.NotFoundError(f"There is no document {document_id}. Call list_documents and check the id.")
    chunk = engine.store.chunks.find(passage_id) if passage_id else None
    if chunk and chunk.document_id != document_id:
        raise errors.NotFoundError(f"{document.name} has no passage {passage_id}. Check both ids.")
    pages = sorted({*(chunk.pages if chunk else ()), *([page] if page else ())})
    if not pages:
        raise errors.ValidationError("Give passage_id, or a page.")
    if pages[-1] > document.page_count:
        raise errors.NotFoundError(f"There is no page {pages[-1]}: {document.name} has {document.page_count} pages.")
    text = engine.pages.text(document_id, pages)
    span = _find_quote(text, quote) if quote else None
    lines = text.lines_of(*span) if span else chunk.lines if chunk else ()
    return OpenPassage(
        document=document,
        pages=pages,
        text=text,
        marked_lines=frozenset(line.number for line in lines),
        # the very words of the quote if they can be located, or else its lines
        marked=(engine.pages.locate(document_id, text, *span) if span else ())
        or types.Passage(document_id=document_id, lines=lines).regions,
        quote_found=span is not None if quote else None,
    )


def _find_quote(passage: types.Passage, quote: str) -> types.Span | None:
    """Find a quote in a passage, ignoring differences of white space."""
    words = quote.split()
    match = re.search(r"\s+".join(map(re.escape, words)), passage.text) if words else None
    return types.Span(*match.span()) if match else None

"""From what an assistant names to what is shown: documents, pages, and the words of a quote on them."""

import difflib
import re
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rag import errors
from rag.types import DEFAULT_INDEX, Chunk, Citation, Document, Hit, Line, Passage, Region, Span

if TYPE_CHECKING:
    from rag.engine import RAGEngine


def require_index(engine: "RAGEngine", name: str) -> str:
    """Refuse an index that does not exist: listing its documents would make it. The default one always exists.

    To the engine of a shared collection that is the default one.

    Raises:
        errors.NotFoundError: the message lists what exists.
    """
    if engine.access.is_shared:
        return DEFAULT_INDEX
    indexes = engine.indexes.list()
    if name != DEFAULT_INDEX and not any(name in {index.name, str(index.id)} for index in indexes):
        names = sorted({DEFAULT_INDEX, *(index.name for index in indexes)})
        raise errors.NotFoundError(f"There is no index “{name}”. There are: {', '.join(names)}.")
    return name


def document_ids(engine: "RAGEngine", index_name: str, names: Sequence[str] | None) -> tuple[uuid.UUID, ...]:
    """The documents that `names` mean: ids, or names as listed (all that bear it). None means all: ().

    Raises:
        errors.NotFoundError: one of them means nothing; the message suggests similar names.
    """
    if not names:
        return ()
    documents = engine.documents.list(index_name)
    return tuple(dict.fromkeys(document.id for name in names for document in _called(documents, name)))


def _called(documents: Sequence[Document], name: str) -> list[Document]:
    found = [document for document in documents if name in {document.name, str(document.id)}]
    if not found:
        similar = difflib.get_close_matches(name, [document.name for document in documents], n=3, cutoff=0.5)
        hint = f" Did you mean {' or '.join(f'“{other}”' for other in similar)}?" if similar else ""
        raise errors.NotFoundError(f"There is no document “{name}” in this index.{hint} Call list_documents.")
    return found


class OpenPassage(NamedTuple):
    """Some pages of a document, and what of them was asked for: its lines by number, and its boxes."""

    document: Document
    pages: list[int]
    text: Passage
    marked_lines: frozenset[int]
    marked: tuple[Region, ...]
    quote_found: bool | None


def open_passage(
    engine: "RAGEngine",
    document_id: uuid.UUID,
    *,
    passage_id: uuid.UUID | None = None,
    page: int | None = None,
    quote: str | None = None,
) -> OpenPassage:
    """The pages of a passage, or one page; marked is the quote, or if it is not there or not given, the passage.

    Raises:
        errors.ValidationError: neither a passage nor a page is named.
        errors.NotFoundError: there is no such document, passage or page.
    """
    document = _present(engine, document_id)
    chunk = _chunk(engine, document, passage_id) if passage_id else None
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
        marked=_boxes(engine, text, span, lines),
        quote_found=span is not None if quote else None,
    )


def _boxes(engine: "RAGEngine", text: Passage, span: Span | None, lines: tuple[Line, ...]) -> tuple[Region, ...]:
    """Those of exactly the quoted words, where they can be located; else those of the lines."""
    located = engine.pages.locate(text.document_id, text, *span) if span else ()
    return located or Passage(document_id=text.document_id, lines=lines).regions


def _present(engine: "RAGEngine", document_id: uuid.UUID) -> Document:
    """A document that is not in the trash."""
    document = engine.documents.get(document_id)
    if document.deleted_at is not None:
        raise errors.NotFoundError(f"There is no document {document_id}. Call list_documents and check the id.")
    return document


def _chunk(engine: "RAGEngine", document: Document, passage_id: uuid.UUID) -> Chunk:
    chunk = engine.chunks.get(passage_id)
    if chunk.document_id != document.id:
        raise errors.NotFoundError(f"{document.name} has no passage {passage_id}. Check both ids.")
    return chunk


def _find_quote(passage: Passage, quote: str) -> Span | None:
    """Where a quote stands in a passage, however white space is written."""
    words = quote.split()
    match = re.search(r"\s+".join(map(re.escape, words)), passage.text) if words else None
    return Span(*match.span()) if match else None


class QuotePlace(NamedTuple):
    """Where a citation's words stand."""

    passage_id: uuid.UUID
    page: int
    line_start: int
    line_end: int


def place_of(engine: "RAGEngine", citation: Citation, hit: Hit) -> QuotePlace:
    """Where a citation's quote stands, and the chunk that it begins in; without a quote, the chunk that was found.

    A quote comes out of the pages around the chunk that was found, so it may stand in another chunk.
    """
    chunk, lines = hit.chunk, citation.lines_in(hit)
    first = lines[0]
    if not _has(chunk, first):
        on_page = engine.chunks.list(chunk.document_id, first.page_number)
        chunk = next((other for other in on_page if _has(other, first)), chunk)
    return QuotePlace(chunk.id, first.page_number, first.number, lines[-1].end)


def _has(chunk: Chunk, line: Line) -> bool:
    return chunk.line_start <= line.number <= chunk.line_end

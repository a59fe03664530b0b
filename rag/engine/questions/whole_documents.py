"""Read short documents page by page, so that a language model can be given all of them."""

import contextlib
import itertools
from collections.abc import Sequence

from rag import errors, types
from rag.answering.extraction.summary import to_hit
from rag.answering.generation.context import ReadDocuments
from rag.engine.library import saved_filters
from rag.engine.workspace import Workspace

MAX_DOCUMENTS = 8
"""In a scope of more documents, only those with hits are read whole."""

MIN_CHUNK_TOKENS = 60
"""A document of more chunks than the room has this number of tokens is not read; a full chunk has 200 to 300."""


def whole_documents(
    workspace: Workspace, index: types.Index, request: types.RetrievalRequest, *, only_found: bool = False
) -> ReadDocuments:
    """Return the function that reads the documents that `request` asks, or `only_found` those that hits are from.

    It returns the documents that may fit into a number of tokens, those with hits first, as hits page by page; none if
    the request wants passages of another kind: only chunks, or only those with certain words.
    """
    store = workspace.store
    options = saved_filters.resolve_saved_filter(store, request).retrieval

    def read(hits: Sequence[types.Hit], budget_tokens: int) -> list[list[types.Hit]]:
        if options.must_include or options.passage == "chunk":
            return []
        ids = dict.fromkeys(hit.passage.document_id for hit in hits)
        if not only_found:
            scope = types.DocumentQuery(filters=options.filters, disabled=False)
            documents = store.documents.list(index.id, scope, limit=MAX_DOCUMENTS + 1)
            ids |= dict.fromkeys(document.id for document in documents if len(documents) <= MAX_DOCUMENTS)
        read_whole = []
        for document_id in ids:
            with contextlib.suppress(errors.NotFoundError):  # purged meanwhile, or a node of the caller's own
                document = store.documents.get(document_id)
                if document.chunk_count <= budget_tokens // MIN_CHUNK_TOKENS:
                    read_whole.append(page_hits(document, store.chunks.of_document(document_id)))
        return [pages for pages in read_whole if pages]

    return read


def page_hits(document: types.Document, chunks: Sequence[types.Chunk]) -> list[types.Hit]:
    """Return the pages of a document with these `chunks` as hits, in reading order.

    A page has all its lines, and the rest of its chunks that begin or end on another page, so that a sentence across a
    page break is whole in one of both.
    """
    of_page: dict[int, list[types.Chunk]] = {}
    lines: dict[object, types.Line] = {}
    for chunk in chunks:
        of_page.setdefault(chunk.main_page, []).append(chunk)
        for line in chunk.lines:
            lines.setdefault(_key(line), line)
    in_order = sorted(lines.values(), key=lambda line: (line.page_number, line.number))
    on_page = {page: [*group] for page, group in itertools.groupby(in_order, key=lambda line: line.page_number)}
    hits = []
    for page, own in sorted(of_page.items()):
        beyond = {_key(line) for chunk in own for line in chunk.lines if line.page_number != page}
        near = sorted({page, *(number for chunk in own for number in chunk.pages)})
        kept = (line for number in near for line in on_page[number] if number == page or _key(line) in beyond)
        hits.append(to_hit(own[0], document, tuple(kept), score=0.0))
    return hits


def _key(line: types.Line) -> object:
    # the parts of a long line have one number
    return line.page_number, line.number, line.text, line.bbox

"""Format results as text for the model."""

import json
from collections.abc import Iterator

from rag import types
from rag.contract import CitationBody, FoundChunk, Place
from rag.export import reading_text
from rag.mcp_server.results import Answer, Documents, Passages, PassageText, Tables

NO_RESULTS = "Nothing fits. Other words may help, or list_documents, which shows what there is."


def search_results(passages: Passages) -> str:
    """Format passages with their places and ids."""
    return "\n\n".join(map(_found, passages.results)) or NO_RESULTS


def answer(answer: Answer, marked: str) -> str:
    """Format the `marked` answer, the line about its verdicts, its likelihood or what is missing, and citations."""
    parts = [marked]
    if answer.hint:
        parts.append(answer.hint)
    if answer.reading:
        parts.append(reading_text(answer.reading, "ask again with reading “whole”"))
    if answer.likelihood is not None:
        parts.append(f"Likelihood that this is right: {answer.likelihood:.0%} ({answer.confidence}).")
    if cited := [_cited(citation) for claim in answer.claims for citation in claim.evidence]:
        parts.append("Citations:\n" + "\n".join(dict.fromkeys(cited)))
    if answer.summary:
        parts.append(answer.summary + ".")
    unproved = [claim for claim in answer.claims if claim.support and not claim.support.is_proved]
    if unproved:
        lines = (f"- {claim.support}: {claim.text} – {claim.reason}" for claim in unproved)
        parts.append("Not proved, or not wholly:\n" + "\n".join(lines))
    if answer.nearest:
        parts.append("Nearest passages:\n\n" + "\n\n".join(map(_found, answer.nearest)))
    return "\n\n".join(parts)


def passage(passage: PassageText) -> str:
    """Format pages line by line, with > before marked lines."""
    first, last = passage.pages[0], passage.pages[-1]
    pages = f"page {first}" if first == last else f"pages {first}-{last}"
    missing = "; the quote does not stand here" if passage.quote_found is False else ""
    lines = [f"{passage.file_name}, {pages} of {passage.page_count}{missing}"]
    page = None
    for line in passage.lines:
        if line.page != page:
            page = line.page
            lines.append(f"--- page {page} ---")
        labels = f"[{', '.join(line.set_apart)}] " if line.set_apart else ""
        lines.append(f"{'>' if line.is_marked else ' '}{line.number:>6} | {labels}{line.text}")
    if not passage.lines:
        lines.append("No text on this page. Its image may show what it holds.")
    return "\n".join(lines)


def overview(overview: types.DocumentOverview) -> str:
    """Format what a document is, its facts with their places, and the questions that it answers."""
    pages = f"{overview.page_count} page{'' if overview.page_count == 1 else 's'}"
    about = [overview.title or "", overview.kind or "", *overview.names, overview.period or ""]
    parts = [f"{overview.name}, {pages}, document_id {overview.document_id}", _quoted("\n".join(filter(None, about)))]
    for fact in overview.facts:
        place = f"Page {fact.page_number}, {_lines(fact.line_start, fact.line_end)}:"
        said = fact.text if fact.quote in fact.text else f"{fact.text}\nin its words: {fact.quote}"
        parts.append(f"{place}\n{_quoted(said)}")
    if overview.questions:
        parts.append("Questions that it answers:\n" + _quoted("\n".join(overview.questions)))
    return "\n\n".join(filter(None, parts))


def extraction(extraction: types.Extraction) -> str:
    """Format the fields of each document: state, confidence, value, and the words that state it with their pages."""
    return "\n\n".join(
        f"{row.name}, document_id {row.document_id}\n"
        + "\n".join(_field(name, found) for name, found in row.fields.items())
        for row in extraction.rows
    )


def _field(name: str, found: types.FoundField) -> str:
    sure = "" if found.confidence is None else f", confidence {found.confidence:.0%}"
    lines = [f"- {name}: {found.state}{sure}{f', {found.reason}' if found.reason else ''}"]
    for stated in [found, *found.alternatives] if found.state in ("found", "conflict") else []:
        value = json.dumps(stated.value, ensure_ascii=False, default=list)
        lines.append(_quoted(" ".join(filter(None, (value, stated.unit)))))
        lines += [
            _quoted(f"page {one.page_label or one.page_number}: “{' '.join(one.quote.split())}”")
            for one in stated.citations
        ]
    return "\n".join(lines)


def table_list(listed: Tables) -> str:
    """Format the tables of a document with their columns."""
    return "\n\n".join(map(_table, listed.tables)) or "This document has no tables that can be queried."


def _table(table: types.DataTable) -> str:
    place = table.cells or f"page {table.page_start}-{table.page_end}"
    rows = [f"Table {table.number}, {place}, {table.row_count} rows"]
    for column in table.columns:
        facts = ", ".join(filter(None, (column.kind, column.unit, column.scale)))
        rows.append(_quoted(f"{column.name} ({facts}) “{column.head}”: {'; '.join(column.samples)}"))
    return "\n".join([*rows, *map(_quoted, table.notes)])


def table_result(result: types.TableResult) -> str:
    """Format the result of a query as rows of cells, with the rows of the table that it used."""
    rows = [" | ".join(result.columns)]
    rows += [" | ".join("" if cell is None else str(cell) for cell in row) for row in result.rows]
    more = [f"… {result.row_count} rows"] if result.is_truncated else []
    used = "all rows" if result.used_count is None else f"{result.used_count} rows"
    parts = [_quoted("\n".join(rows)), *more, f"Query: {result.sql}", f"From {used} of {result.document_name}:"]
    for row in result.citations:
        place = row.region.cells or f"page {row.region.page_number}, row {row.number}"
        parts.append(_quoted(f"{place}: {row.text}"))
    return "\n".join([*parts, *map(_quoted, result.notes)])


def document_list(listed: Documents) -> str:
    """Format documents, one per line."""
    if not listed.documents:
        return "No documents." if not listed.total else f"There are only {listed.total} documents."
    rows = [f"- {', '.join(_attributes(document))}, document_id {document.id}" for document in listed.documents]
    last = listed.offset + len(rows)
    more = [f"{listed.total - last} more: ask again with offset {last}."] if last < listed.total else []
    return "\n".join([*rows, *more])


def _attributes(document: types.Document) -> Iterator[str]:
    """Yield the name, pages, status, author, date and tags of a document."""
    yield f"{document.name} (“{document.title}”)" if document.title not in (None, "", document.name) else document.name
    yield f"{document.page_count} page{'' if document.page_count == 1 else 's'}"
    yield "disabled" if document.disabled else document.status.value
    if document.author:
        yield f"by {document.author}"
    if document.dated:
        yield f"of {document.dated}"
    if document.tags:
        yield f"tags {'; '.join(document.tags)}"


def _found(chunk: FoundChunk) -> str:
    section = f" ({chunk.section})" if chunk.section else ""
    return f"{_where(chunk)}{section}, score {chunk.score:.2f}\n{_ids(chunk)}\n{_quoted(chunk.text)}"


def _cited(citation: CitationBody) -> str:
    quote = f": “{' '.join(citation.quote.split())}”" if citation.quote else ""
    missing = f"; not in the source: {', '.join(citation.unsupported_numbers)}" if citation.unsupported_numbers else ""
    cells = f"cells {citation.cells}, " if citation.cells else ""
    verdict = f"{citation.verdict.value}{missing}{quote}"
    return f"[{citation.citation_id}] {cells}{_where(citation)}, {verdict}\n     {_ids(citation)}"


def _where(place: Place) -> str:
    first, last = place.line_start, place.line_end
    return ", ".join([place.file_name, place.page_name, _lines(first, last), *place.set_apart])


def _lines(first: int, last: int) -> str:
    return f"lines {first}-{last}" if last > first else f"line {first}"


def _ids(place: Place) -> str:
    return f"document_id {place.file_id}, passage_id {place.chunk_id}, page {place.page or place.slide}"


def _quoted(text: str) -> str:
    """Prefix each line of document text with a bar, so that it cannot be mistaken for our own text."""
    return "\n".join(f"| {line}" for line in text.splitlines())

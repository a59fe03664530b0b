"""Format results as text for the model."""

from collections.abc import Iterator

from rag.mcp_server.results import (
    Answer,
    Cited,
    DocumentList,
    Found,
    ListedDocument,
    MatrixAnswers,
    MatrixCell,
    PassageText,
    Place,
    SearchResults,
)

NO_RESULTS = "Nothing fits. Other words may help, or list_documents, which shows what there is."


def search_results(results: SearchResults) -> str:
    """Format passages with their places and ids."""
    return "\n\n".join(map(_found, results.results)) or NO_RESULTS


def answer(given: Answer, marked: str) -> str:
    """Format the `marked` answer, the line about its verdicts, its likelihood or what is missing, and citations."""
    parts = [marked]
    if given.hint:
        parts.append(given.hint)
    if given.likelihood is not None:
        parts.append(f"Likelihood that this is right: {given.likelihood:.0%} ({given.confidence}).")
    cited = [_cited(citation) for sentence in given.sentences for citation in sentence.citations]
    if cited:
        parts.append("Citations:\n" + "\n".join(dict.fromkeys(cited)))
    if given.summary:
        parts.append(given.summary + ".")
    unproved = [sentence for sentence in given.sentences if sentence.support and not sentence.support.is_proved]
    if unproved:
        parts.append(
            "Not proved, or not wholly:\n"
            + "\n".join(f"- {sentence.support}: {sentence.text} – {sentence.reason}" for sentence in unproved)
        )
    if given.nearest:
        parts.append("Nearest passages:\n\n" + "\n\n".join(map(_found, given.nearest)))
    return "\n\n".join(parts)


def matrix(answers: MatrixAnswers) -> str:
    """Format the answers of each document by question, with verdict, quote and page."""
    parts = []
    for number, question in enumerate(answers.questions, 1):
        cells = [_cell(cell) for cell in answers.cells if cell.question == number]
        parts.append("\n".join([f"{number}. {' '.join(question.split())}", *cells]))
    if answers.not_read:
        parts.append(f"Not read yet: {', '.join(answers.not_read)}")
    return "\n\n".join(parts)


def passage(text: PassageText) -> str:
    """Format pages line by line, with > before marked lines."""
    first, last = text.pages[0], text.pages[-1]
    pages = f"page {first}" if first == last else f"pages {first}-{last}"
    head = f"{text.document}, {pages} of {text.page_count}"
    if text.quote_found is False:
        head += "; the quote does not stand here"
    return "\n".join([head, *_lines(text)])


def document_list(listed: DocumentList) -> str:
    """Format documents, one per line."""
    if not listed.documents:
        return "No documents." if not listed.total else f"There are only {listed.total} documents."
    rows = [
        f"- {document.name}"
        + (f" (“{document.title}”)" if document.title and document.title != document.name else "")
        + f", {_count(document.pages, 'page')}, {', '.join(_attributes(document))}, document_id {document.document_id}"
        for document in listed.documents
    ]
    last = listed.offset + len(rows)
    more = [f"{listed.total - last} more: ask again with offset {last}."] if last < listed.total else []
    return "\n".join([*rows, *more])


def _attributes(document: ListedDocument) -> Iterator[str]:
    """Yield the status, author, date and tags of a document."""
    yield "disabled" if document.disabled else document.status.value
    if document.author:
        yield f"by {document.author}"
    if document.dated:
        yield f"of {document.dated}"
    if document.tags:
        yield f"tags {'; '.join(document.tags)}"


def _found(found: Found) -> str:
    section = f" ({found.section})" if found.section else ""
    return f"{_where(found)}{section}, score {found.score:.2f}\n{_ids(found)}\n{_quoted(found.text)}"


def _cited(citation: Cited) -> str:
    quote = f": “{citation.quote}”" if citation.quote else ""
    missing = f"; not in the source: {', '.join(citation.unsupported_numbers)}" if citation.unsupported_numbers else ""
    cells = f"cells {citation.cells}, " if citation.cells else ""
    return f"[{citation.id}] {cells}{_where(citation)}, {citation.verdict.value}{missing}{quote}\n     {_ids(citation)}"


def _cell(cell: MatrixCell) -> str:
    told = [
        cell.document,
        *([f"page {cell.page_label or cell.page}"] if cell.page else []),
        cell.verdict or ("likely" if cell.likelihood is not None else cell.status),
    ]
    lines = [f"- {', '.join(told)}, document_id {cell.document_id}"]
    if cell.conflict:
        lines.append(f"  contradicts: {cell.conflict}")
    if cell.reason:
        lines.append(f"  {cell.reason}")
    if cell.answer:
        lines.append(_quoted(cell.answer))
    if cell.quote and cell.quote != cell.answer:
        lines.append(_quoted(f"“{cell.quote}”"))
    return "\n".join(lines)


def _where(place: Place) -> str:
    lines = f"line {place.line_start}"
    if place.line_end > place.line_start:
        lines = f"lines {place.line_start}-{place.line_end}"
    return ", ".join([place.document, place.page_name, lines, *place.set_apart])


def _ids(place: Place) -> str:
    return f"document_id {place.document_id}, passage_id {place.passage_id}"


def _quoted(text: str) -> str:
    """Prefix each line of document text with a bar, so that it cannot be mistaken for our own text."""
    return "\n".join(f"| {line}" for line in text.splitlines())


def _lines(text: PassageText) -> Iterator[str]:
    page = None
    for line in text.lines:
        if line.page != page:
            page = line.page
            yield f"--- page {page} ---"
        labels = f"[{', '.join(line.set_apart)}] " if line.set_apart else ""
        yield f"{'>' if line.is_marked else ' '}{line.number:>6} | {labels}{line.text}"
    if not text.lines:
        yield "No text on this page. Its image may show what it holds."


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

"""Print an answer with the marks of its sentences, the line about its verdicts, and its citations."""

from rich.text import Text

from rag import types
from rag.cli import output
from rag.cli.questions import search
from rag.export import append, mark_of, plain_words, reading_text, reason_of, summary_of, written_mark

STYLES = {
    types.Support.QUOTED: "green",
    types.Support.SUPPORTED: "green",
    types.Support.PARTLY: "yellow",
    types.Support.NOT_STATED: "red",
    types.Support.CONTRADICTED: "red",
}
"""Styles of marks."""


def print_answer(response: types.AnswerResponse) -> None:
    """Print an answer, or what was found instead."""
    if response.question:
        output.print_text(f"Understood as: {response.question}", style="dim")
    _print_text(response)
    if response.hint:
        output.print_text(response.hint, style="bold")
    if response.reading:
        output.print_text(reading_text(response.reading, "add --reading whole"), style="dim")
    if summary := summary_of(response):
        output.print_text(f"\n{summary}", style="bold")
    for number, sentence in enumerate(response.sentences):
        if sentence.support and not sentence.is_proved:
            mark = (mark_of(response, number), STYLES.get(sentence.support, "default"))
            output.console().print(Text.assemble("  ", mark, f" {plain_words(sentence)}"), soft_wrap=True)
            output.print_text(f"     {reason_of(sentence)}", style="dim")
    if response.citations:
        output.print_text()
    _print_citations(response)
    if response.likelihood is not None:
        output.print_text(
            f"\nLikelihood that this is right: {response.likelihood:.0%} ({response.confidence})", style="dim"
        )
    if response.status == "insufficient_context":
        # Where several documents could be meant, the follow-ups are the question for each.
        if response.nearest:
            output.print_text("\nNearest passages:")
            search.print_hits(response.nearest)
        if response.follow_ups:
            output.print_text("\nAsk one of these:")
        for question in response.follow_ups:
            output.print_text(f"  {question}")


def _print_text(response: types.AnswerResponse) -> None:
    """Print the answer, each sentence with its mark; rows of tables are printed as tables, with their marks below."""
    end, text = 0, Text()
    for number, sentence in enumerate(response.sentences):
        text.append(response.answer[end : sentence.start])
        own, mark, end = response.answer[sentence.start : sentence.end], written_mark(response, number), sentence.end
        cited = response.rows.get(number)
        row = response.citations[cited].row if cited is not None else None
        if row is None or cited is None:
            text.append(append(own, mark) if mark else own, style="strike" if number in response.struck else "")
            continue
        _print_lines(text)
        if row.caption:
            output.print_text(row.caption, style="dim")
        cells = [f"▸ {cell}" if column == row.asked else cell for column, cell in enumerate(row.cells)]
        output.print_table(["", *row.columns], [[row.label, *cells]])
        text = Text(append(f"[{response.citations[cited].citation_id}]", mark).rstrip())
    text.append(response.answer[end:])
    _print_lines(text)


def _print_lines(text: Text) -> None:
    """Print text without empty lines around it."""
    if lines := text.plain.strip("\n"):
        start = text.plain.index(lines)
        output.print_text(text[start : start + len(lines)])


def _print_citations(response: types.AnswerResponse) -> None:
    """Print each cited page with its quotes; equal ones are printed once."""
    quotes: dict[str, list[str]] = {}
    for citation, hit in response.cited:
        same_place = quotes.setdefault(f"[{citation.citation_id}] {hit.document_name}, {_place(citation, hit)}", [])
        if citation.shown_quote and not citation.row:
            same_place.append(citation.shown_quote)
    for place, said in quotes.items():
        head = Text(place)
        head.stylize("bold", 0, place.index("]") + 1)
        output.console().print(head, soft_wrap=True)
        for quote in dict.fromkeys(said):
            output.print_text(f"     “{quote}”", style="dim")


def _place(citation: types.Citation, hit: types.Hit) -> str:
    pages = [*dict.fromkeys(line.page_number for line in citation.lines_in(hit))]
    place = hit.page_name(pages[0]) if len(pages) == 1 else f"{hit.page_name(pages[0])} to {hit.page_name(pages[-1])}"
    place = f"{citation.cells}, {place}" if citation.cells else place
    return ", ".join([place, *types.set_apart_labels(citation.lines_in(hit))])

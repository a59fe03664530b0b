"""`pagelight ask`: print an answer with its citations."""

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.live import Live
from rich.text import Text

from rag import errors
from rag.cli import name_lookup, output
from rag.cli.command import open_engine, validated
from rag.cli.options import AsJson, DocumentNames, IndexName, takes_retrieval
from rag.cli.questions import search
from rag.contract import AnswerBody
from rag.types import (
    DEFAULT_INDEX,
    AnswerEvent,
    AnswerRequest,
    AnswerResponse,
    AnswerStage,
    AnswerToken,
    Citation,
    GenerationOptions,
    Hit,
    QuotedRow,
    RetrievalOptions,
    Sentence,
    Support,
    Verdict,
    any_recognized,
)

MARKS = {
    Support.SUPPORTED: ("✓ ", "green"),
    Support.PARTLY: ("≈ ", "yellow"),
    Support.NOT_STATED: ("✗ ", "yellow"),
    Support.NOT_VERIFIED: ("? ", "default"),
    Support.CONTRADICTED: ("✗ ", "red"),
}
"""Marks of citations: only those that prove their sentence have a tick."""

ModelName = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="PROVIDER[:MODEL]", help="The model that writes; “extractive” quotes.", show_default=False
    ),
]


@takes_retrieval()
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", show_default=False)],
    *,
    index_name: IndexName = DEFAULT_INDEX,
    documents: DocumentNames = None,
    retrieval: RetrievalOptions,
    model: ModelName = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with a source for each claim.

    Without a vendor's key the answer consists of sentences of the documents.

        pagelight ask "What were net sales in 2023?"
        pagelight ask "Who may terminate?" --document contract.pdf --json
    """
    with open_engine(index_name) as engine:
        options = name_lookup.restrict(engine, index_name, documents, retrieval)
        request = validated(
            AnswerRequest,
            index_name=index_name,
            question=question,
            retrieval=options,
            generation=generation(model),
        )
        response = _last_event(engine.questions.stream(request), quiet=as_json)
    if as_json:
        output.print_json(AnswerBody.of(response))
    else:
        _print_answer(response)


def generation(model: str | None) -> GenerationOptions:
    """Parse `--model`: `provider` or `provider:model`."""
    provider, _, name = (model or "").partition(":")
    return GenerationOptions(provider=provider or None, model=name or None)


def _last_event(events: Iterable[AnswerEvent], *, quiet: bool) -> AnswerResponse:
    """Return the answer at the end of the stream; a terminal shows the provisional text until then."""
    console = output.console(stderr=True)
    if quiet or not console.is_terminal:
        *_, last = events
    else:
        text = Text()
        with Live(text, console=console, transient=True, vertical_overflow="visible") as live:
            for last in events:
                if isinstance(last, AnswerToken):
                    live.update(text.append(last.text))
                elif isinstance(last, AnswerStage) and last.seconds:
                    live.update(Text(f"Reading … about {last.seconds:.0f} s on this machine", style="dim"))
    if not isinstance(last, AnswerResponse):
        raise errors.GroundingError("The answer broke off before it was checked. Ask again.")
    return last


def _print_answer(response: AnswerResponse) -> None:
    if response.question:
        output.print_text(f"Understood as: {response.question}", style="dim")
    _print_text(response)
    if response.hint:
        output.print_text(response.hint, style="bold")
    for number, sentence in enumerate(response.sentences):
        if sentence.support and not sentence.support.is_proved:
            _print_verdict(sentence, is_struck=number in response.struck)
    if response.citations:
        output.print_text()
    for citation, hit in response.cited:
        _print_citation(response.sentences[citation.sentence], citation, hit)
    if response.likelihood is not None:
        output.print_text(
            f"\nLikelihood that this is right: {response.likelihood:.0%} ({response.confidence})", style="dim"
        )
    if response.status == "insufficient_context":
        _print_nearest(response)


def _print_nearest(response: AnswerResponse) -> None:
    """Print the passages found and, where several documents could be meant, the question for each."""
    if response.nearest:
        output.print_text("\nNearest passages:")
        search.print_hits(response.nearest)
    if response.follow_ups:
        output.print_text("\nAsk one of these:")
    for question in response.follow_ups:
        output.print_text(f"  {question}")


def _print_text(response: AnswerResponse) -> None:
    """Print the answer; rows of tables are printed as tables, with their marks below."""
    end = 0
    for number, cited in sorted(response.rows.items()):
        sentence, citation = response.sentences[number], response.citations[cited]
        before = response.answer[end : sentence.start].strip("\n")
        if before.strip():
            output.print_text(before.rstrip())
        if citation.row:
            _print_row(citation.row)
        output.print_text(f"[{citation.citation_id}]")
        end = sentence.end
    if rest := response.answer[end:].strip("\n"):
        output.print_text(rest)


def _print_row(row: QuotedRow) -> None:
    """Print a row below the names of its columns, with a mark at the cell that answers the question."""
    cells = [f"▸ {cell}" if number == row.asked else cell for number, cell in enumerate(row.cells)]
    if row.caption:
        output.print_text(row.caption, style="dim")
    output.print_table(["", *row.columns], [[row.label, *cells]])


def _print_verdict(sentence: Sentence, *, is_struck: bool) -> None:
    """Print a sentence that its quotes do not prove, or not completely."""
    _, style = MARKS.get(sentence.support, ("", "default")) if sentence.support else ("", "default")
    basis = f" ({sentence.basis})" if sentence.basis else ""
    named = f"; not in the quoted words: {', '.join(sentence.missing)}" if sentence.missing else ""
    head = Text.assemble(
        (f"{sentence.support}".replace("_", " ") + basis, style),
        " ",
        (sentence.text, "strike" if is_struck else ""),
        (named, style),
    )
    output.console().print(head, soft_wrap=True)


def _print_citation(sentence: Sentence, citation: Citation, hit: Hit) -> None:
    mark, style = MARKS.get(sentence.support, ("", "")) if sentence.support and citation.quote else ("", "")
    support = ", ".join(filter(None, [sentence.support, sentence.basis]))
    verdict = f"{mark}{support}, quote {citation.verdict}" if mark else f"quote {citation.verdict}"
    if sentence.support is Support.QUOTED and citation.verdict is Verdict.VERIFIED:
        verdict = "quoted word for word"
    pages = [*dict.fromkeys(line.page_number for line in citation.lines_in(hit))]
    place = hit.page_name(pages[0]) if len(pages) == 1 else f"{hit.page_name(pages[0])} to {hit.page_name(pages[-1])}"
    place = f"{citation.cells}, {place}" if citation.cells else place
    place += ", recognised in a picture" if any_recognized(citation.lines_in(hit)) else ""
    name = hit.document_name
    console = output.console()
    head = Text.assemble((f"[{citation.citation_id}]", "bold"), f" {name}, {place}  ", (verdict, style))
    console.print(head, soft_wrap=True)
    if citation.quote and not citation.row:
        output.print_text(f"     “{citation.shown_quote}”", style="dim")
    if citation.unsupported_numbers:
        output.print_text(f"     not in the source: {', '.join(citation.unsupported_numbers)}", style="red")

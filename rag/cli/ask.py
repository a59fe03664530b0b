"""`pagelight ask`: an answer, and where each of its sentences stands."""

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.live import Live
from rich.text import Text

from rag import errors
from rag.cli import lookup, output, search
from rag.cli.door import open_engine, validated
from rag.cli.options import AsJson, DocumentNames, IndexName, takes_retrieval
from rag.contract import AnswerBody
from rag.types import (
    DEFAULT_INDEX,
    AnswerEvent,
    AnswerRequest,
    AnswerResponse,
    AnswerToken,
    Citation,
    GenerationOptions,
    Hit,
    RetrievalOptions,
    Verdict,
)

MARKS = {
    Verdict.VERIFIED: ("✓", "green"),
    Verdict.CORRECTED: ("≈", "yellow"),
    Verdict.UNVERIFIED: ("?", "red"),
}

ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="PROVIDER[:MODEL]", help="Who writes; “extractive” quotes.", show_default=False),
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
    """Answer a question from the documents, every claim with its source.

    Without a vendor's key the answer is put together from the documents' own sentences.

        pagelight ask "What were net sales in 2023?"
        pagelight ask "Who may terminate?" --document contract.pdf --json
    """
    with open_engine() as engine:
        options = lookup.within(engine, index_name, documents, retrieval)
        request = validated(
            AnswerRequest,
            index_name=index_name,
            question=question,
            retrieval=options,
            generation=_generation(model),
        )
        response = _follow(engine.questions.stream(request), quietly=as_json)
    if as_json:
        output.print_json(AnswerBody.of(response))
    else:
        _print_answer(response)


def _generation(model: str | None) -> GenerationOptions:
    provider, _, name = (model or "").partition(":")
    return GenerationOptions(provider=provider or None, model=name or None)


def _follow(events: Iterable[AnswerEvent], *, quietly: bool) -> AnswerResponse:
    """The answer that ends the stream; until then its provisional text is shown on a terminal, and cleared again."""
    console = output.console(stderr=True)
    if quietly or not console.is_terminal:
        *_, last = events
    else:
        text = Text()
        with Live(text, console=console, transient=True, vertical_overflow="visible") as live:
            for last in events:
                if isinstance(last, AnswerToken):
                    live.update(text.append(last.text))
    if not isinstance(last, AnswerResponse):
        raise errors.GroundingError("The answer broke off before it was checked. Ask again.")
    return last


def _print_answer(response: AnswerResponse) -> None:
    output.print_text(response.answer)
    if response.citations:
        output.print_text()
    for citation, hit in response.cited:
        _print_citation(citation, hit)
    if response.status == "insufficient_context" and response.nearest:
        output.print_text("\nNearest passages:")
        search.print_hits(response.nearest)


def _print_citation(citation: Citation, hit: Hit) -> None:
    mark, style = MARKS[citation.verdict]
    pages = [*dict.fromkeys(line.page_number for line in citation.lines_in(hit))]
    place = f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]}–{pages[-1]}"
    name = hit.document_name
    console = output.console()
    head = Text.assemble(
        (f"[{citation.citation_id}]", "bold"), f" {name}, {place}  ", (f"{mark} {citation.verdict}", style)
    )
    console.print(head, soft_wrap=True)
    if citation.quote:
        output.print_text(f"     “{' '.join(citation.quote.split())}”", style="dim")
    if citation.unsupported_numbers:
        output.print_text(f"     not in the source: {', '.join(citation.unsupported_numbers)}", style="red")

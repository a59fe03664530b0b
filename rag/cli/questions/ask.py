"""`pagelight ask`: print an answer with its citations."""

from collections.abc import Iterable
from typing import Annotated, Literal

import typer
from rich.live import Live
from rich.text import Text

from rag import errors, types
from rag.cli import name_lookup, output
from rag.cli.command import open_engine, validated
from rag.cli.options import AsJson, DocumentNames, IndexName, takes_retrieval
from rag.contract import AnswerBody

ModelName = Annotated[
    str | None, typer.Option("--model", metavar="PROVIDER[:MODEL]", help="The model that writes; “extractive” quotes.")
]
Reading = Annotated[
    Literal["auto", "passages", "whole"],
    typer.Option(
        help="Read all pages part by part (whole), only the best passages, or all pages where a question about a whole "
        "document needs it and that takes little more than usual (auto)."
    ),
]


@takes_retrieval()
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    *,
    index_name: IndexName = types.DEFAULT_INDEX,
    documents: DocumentNames = None,
    retrieval: types.RetrievalOptions,
    model: ModelName = None,
    reading: Reading = "auto",
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with a source for each claim.

    Without a vendor's key the answer consists of sentences of the documents.

        pagelight ask "What were net sales in 2023?"
        pagelight ask "Who may terminate?" --document contract.pdf --json
        pagelight ask "List all obligations of the tenant" --document lease.pdf --reading whole
    """
    with open_engine(index_name) as engine:
        options = name_lookup.restrict(engine, index_name, documents, retrieval)
        request = validated(
            types.AnswerRequest,
            index_name=index_name,
            question=question,
            retrieval=options,
            generation=generation(model),
            options=types.AnswerOptions(reading=reading),
        )
        response = _last_event(engine.questions.stream(request), quiet=as_json)
    if as_json:
        output.print_json(AnswerBody.of(response))
    else:
        from rag.cli.questions.printed_answer import print_answer

        print_answer(response)


def generation(model: str | None) -> types.GenerationOptions:
    """Parse `--model`: `provider` or `provider:model`."""
    provider, _, name = (model or "").partition(":")
    return types.GenerationOptions(provider=provider or None, model=name or None)


def _last_event(events: Iterable[types.AnswerEvent], *, quiet: bool) -> types.AnswerResponse:
    """Return the answer at the end of the stream; a terminal shows the provisional text until then."""
    console = output.console(stderr=True)
    if quiet or not console.is_terminal:
        *_, last = events
    else:
        text = Text()
        with Live(text, console=console, transient=True, vertical_overflow="visible") as live:
            for last in events:
                if isinstance(last, types.AnswerToken):
                    live.update(text.append(last.text))
                elif isinstance(last, types.AnswerStage) and last.parts:
                    live.update(Text(f"Reading … {last.parts_read} of {last.parts} parts", style="dim"))
                elif isinstance(last, types.AnswerStage) and last.seconds:
                    live.update(Text(f"Reading … about {last.seconds:.0f} s on this machine", style="dim"))
    if not isinstance(last, types.AnswerResponse):
        raise errors.GroundingError("The answer broke off before it was checked. Ask again.")
    return last

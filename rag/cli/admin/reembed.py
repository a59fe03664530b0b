"""`pagelight reembed`: change the embedding model of an index that has documents."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from rag import errors, types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson, IndexName

if TYPE_CHECKING:
    from rag.engine import RAGEngine

STATES = {
    types.GenerationState.ACTIVE: "in use",
    types.GenerationState.READY: "ready to be switched to",
    types.GenerationState.BUILDING: "incomplete",
    types.GenerationState.RETIRED: "to roll back to",
}


class Outcome(NamedTuple):
    """The results of a run besides the new vectors."""

    switched: bool = False
    dropped: tuple[types.EmbeddingGeneration, ...] = ()


def reembed(
    model: Annotated[
        str | None, typer.Option(metavar="PROVIDER:MODEL", help="The embedding model to change to.")
    ] = None,
    *,
    switch: Annotated[
        bool,
        typer.Option("--switch/--no-switch", help="Search with the new vectors once they are complete, or not yet."),
    ] = True,
    rollback: Annotated[bool, typer.Option("--rollback", help="Undo the last switch.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Remove the vectors that are not in use.")] = False,
    index_name: IndexName = types.DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Change the embedding model of an index: build new vectors beside the old ones, then switch.

    Searches use the old vectors until the switch, which is atomic; documents are not parsed or chunked again. After an
    interruption, run the same command again: it continues. Without options it lists the existing vectors.

        pagelight reembed --model openai:text-embedding-3-small
        pagelight reembed --index filings --model gemini:gemini-embedding-2 --no-switch
        pagelight reembed --rollback
        pagelight reembed --drop
    """
    if [model is not None, rollback, drop].count(True) > 1:
        raise errors.ValidationError("Give one of --model, --rollback and --drop.")
    with open_engine() as engine:
        outcome = Outcome()
        if model is not None:
            outcome = _change(engine, index_name, model, switch=switch)
        elif rollback:
            engine.indexes.generations(index_name).rollback()
            outcome = Outcome(switched=True)
        elif drop:
            outcome = Outcome(dropped=tuple(engine.indexes.generations(index_name).drop()))
        generations = engine.indexes.generations(index_name).list()
        if outcome.switched:
            try:
                engine.indexes.ensure(index_name)
            except errors.IndexError as error:
                output.print_note(
                    f"RAG_EMBED_MODEL names another model than the index now has. {error}", style="yellow"
                )
    if as_json:
        output.print_json({"index": index_name, "generations": generations, **outcome._asdict()})
    else:
        _print(generations, outcome)


def _change(engine: "RAGEngine", index_name: str, model: str, *, switch: bool) -> Outcome:
    generations = engine.indexes.generations(index_name)
    try:
        with output.show_progress(chunks=f"Chunks embedded with {model}") as on_progress:
            built = generations.build(model, on_progress)
    except KeyboardInterrupt:
        output.print_note("Stopped. Searches work as before. Run the same command to continue, or give --drop.")
        raise
    if built.state is types.GenerationState.ACTIVE:
        output.print_note(f"The index “{index_name}” already uses {built.space.name}.")
        return Outcome()
    if switch:
        generations.switch(built.generation)
    return Outcome(switch)


def _print(generations: list[types.EmbeddingGeneration], outcome: Outcome) -> None:
    for dropped in outcome.dropped:
        output.print_text(f"dropped  {dropped.space.name}")
    rows = [
        (
            generation.generation,
            generation.space.name,
            generation.space.dimensions,
            f"{generation.progress.done:,}/{generation.progress.total:,}",
            STATES[generation.state],
        )
        for generation in generations
    ]
    output.print_table(["#", "model", "dimensions", "chunks", ""], rows, right=["#", "dimensions", "chunks"])
    if outcome.switched:
        output.print_text("\nSwitched. Undo it: --rollback. Remove the vectors that are not in use: --drop.")

"""`pagelight reembed`: change the embedding model of an index that has documents."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from rag import errors, types
from rag.cli import output, progress
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

    comparison: types.GenerationComparison | None = None
    switched: bool = False
    dropped: tuple[types.EmbeddingGeneration, ...] = ()


def reembed(
    model: Annotated[
        str | None, typer.Option(metavar="PROVIDER:MODEL", help="The embedding model to change to.")
    ] = None,
    *,
    questions_file: Annotated[
        Path | None, typer.Option("--eval", metavar="QA.jsonl", help="Compare both models on these questions.")
    ] = None,
    switch: Annotated[
        bool | None,
        typer.Option(
            "--switch/--no-switch",
            help="Search with the new vectors once they are complete, or not yet. Default: yes, but with --eval "
            "only if they are no worse.",
        ),
    ] = None,
    rollback: Annotated[bool, typer.Option("--rollback", help="Undo the last switch.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Remove the vectors that are not in use.")] = False,
    index_name: IndexName = types.DEFAULT_INDEX,
    as_json: AsJson = False,
) -> None:
    """Change the embedding model of an index: build new vectors beside the old ones, compare, switch.

    Searches use the old vectors until the switch, which is atomic; documents are not parsed or chunked again. After an
    interruption, run the same command again: it continues. Without options it lists the existing vectors.

        pagelight reembed --model openai:text-embedding-3-small
        pagelight reembed --index filings --model gemini:gemini-embedding-2 --eval questions.jsonl
        pagelight reembed --rollback
        pagelight reembed --drop
    """
    if [model is not None, rollback, drop].count(True) > 1:
        raise errors.ValidationError("Give one of --model, --rollback and --drop.")
    if model is None and (questions_file, switch) != (None, None):
        raise errors.ValidationError("--eval and --switch need --model. Name the model.")
    with open_engine() as engine:
        outcome = Outcome()
        if model is not None:
            outcome = _change(engine, index_name, model, questions_file, switch)
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


def _change(
    engine: "RAGEngine", index_name: str, model: str, questions_file: Path | None, switch: bool | None
) -> Outcome:
    generations = engine.indexes.generations(index_name)
    try:
        with progress.show(chunks=f"Chunks embedded with {model}") as on_progress:
            built = generations.build(model, on_progress)
    except KeyboardInterrupt:
        output.print_note("Stopped. Searches work as before. Run the same command to continue, or give --drop.")
        raise
    if built.state is types.GenerationState.ACTIVE:
        output.print_note(f"The index “{index_name}” already uses {built.space.name}.")
        return Outcome()
    comparison = None
    if questions_file is not None:
        comparison = generations.compare(questions_file, built.generation)
    if switch is None:
        switch = comparison is None or comparison.is_no_worse
        if not switch:
            output.print_note(
                f"Not switched: {built.space.name} does worse on your questions. Switch anyway with --switch, or "
                "remove its vectors with --drop.",
                style="yellow",
            )
    if switch:
        generations.switch(built.generation)
    return Outcome(comparison, switch)


def _print(generations: list[types.EmbeddingGeneration], outcome: Outcome) -> None:
    if comparison := outcome.comparison:
        scores = [
            (score.generation.space.name, output.score(score.recall_at_5), output.score(score.mrr))
            for score in (comparison.active, comparison.candidate)
        ]
        output.print_table(["model", "page recall@5", "MRR"], scores, right=["page recall@5", "MRR"])
        output.print_text(f"Over {output.plural(comparison.questions, 'question')}.\n")
        if comparison.missing:
            output.print_note(f"Not in the index: {', '.join(comparison.missing)}.", style="yellow")
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

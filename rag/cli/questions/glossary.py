"""`pagelight glossary`: show, set and clear your glossary, a TOML file."""

from pathlib import Path
from typing import Annotated

import typer

from rag import errors, types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson

File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The glossary.", show_default=False)]
Question = Annotated[str, typer.Argument(metavar="QUESTION", show_default=False)]


def glossary(as_json: AsJson = False) -> None:
    """Show, set or clear your glossary: your organisation's terms, which expand questions.

    pagelight glossary example > glossary.toml
    pagelight glossary set glossary.toml
    pagelight glossary try "What is our berth productivity?"
    pagelight glossary > glossary.toml
    """
    with open_engine() as engine:
        toml = engine.glossary.get()
    if as_json:
        output.print_json({"toml": toml or None})
    elif toml:
        typer.echo(toml, nl=not toml.endswith("\n"))
    else:
        output.print_note("You have no glossary. Start with the example: pagelight glossary example > glossary.toml")


def set_glossary(file: File, as_json: AsJson = False) -> None:
    """Set your glossary to a file, replacing the current one.

    Its terms apply from the next question on, its places in documents that are read from now on.

        pagelight glossary set glossary.toml
    """
    with open_engine() as engine:
        summary = engine.glossary.set(_read(file))
    if as_json:
        output.print_json(summary)
        return
    output.print_text(f"“{summary.title}”: {_counts(summary)}.")
    if summary.places:
        output.print_note("Existing documents get its places once they are read again: pagelight reindex")


def clear(as_json: AsJson = False) -> None:
    """Remove your glossary; the packaged vocabularies stay.

    pagelight glossary clear
    """
    with open_engine() as engine:
        engine.glossary.clear()
    output.print_result({"toml": None}, "You have no glossary now.", as_json=as_json)


def example() -> None:
    """Print an example glossary with explanations.

    pagelight glossary example > glossary.toml
    """
    from rag import vocabulary

    typer.echo(vocabulary.example(), nl=False)


def try_question(question: Question, as_json: AsJson = False) -> None:
    """Show how your glossary and the packaged vocabularies expand a question.

    pagelight glossary try "What is the quick ratio?"
    """
    with open_engine() as engine:
        rewritings = engine.glossary.explain(question)
    output.print_list(
        rewritings,
        ["kind", "found", "added", "from"],
        lambda one: (one.kind, one.found, ", ".join(one.added), one.trade or "–"),
        as_json=as_json,
        empty="Nothing is added: no vocabulary has a term of it.",
    )


def _read(file: Path) -> str:
    """Return the file's text. Raises SourceError."""
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise errors.SourceError(
            f"{file} cannot be read: {error.strerror or type(error).__name__}. Check the path and permissions.",
            details={"path": str(file)},
        ) from error
    except UnicodeDecodeError:
        raise errors.SourceError(
            f"{file} is not UTF-8 text. Save it as UTF-8 and try again.", details={"path": str(file)}
        ) from None


def _counts(summary: types.GlossarySummary) -> str:
    """Format the counts that are not 0, such as “synonyms 2, places 1”."""
    counts = summary.model_dump(exclude={"title"})
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count) or "nothing in it yet"

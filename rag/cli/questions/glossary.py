"""`pagelight glossary`: the words of your house, in a file."""

from pathlib import Path
from typing import Annotated

import typer

from rag import errors
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson
from rag.types import GlossarySummary

File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The glossary.", show_default=False)]
Question = Annotated[str, typer.Argument(metavar="QUESTION", show_default=False)]

NONE = "You have no glossary. Begin with the example: pagelight glossary example > glossary.toml"


def glossary(context: typer.Context, as_json: AsJson = False) -> None:
    """Show, set or clear your glossary: words of your house that questions are widened with.

    pagelight glossary example > glossary.toml
    pagelight glossary set glossary.toml
    pagelight glossary try "What is our berth productivity?"
    pagelight glossary > glossary.toml
    """
    if context.invoked_subcommand is None:
        _show(as_json=as_json)
    elif as_json:
        raise errors.ValidationError(f"Put the options behind “{context.invoked_subcommand}”.")


def _show(*, as_json: bool) -> None:
    with open_engine() as engine:
        toml = engine.glossary.get()
    if as_json:
        output.print_json({"toml": toml or None})
    elif toml:
        typer.echo(toml, nl=not toml.endswith("\n"))
    else:
        output.print_note(NONE)


def set_glossary(file: File, as_json: AsJson = False) -> None:
    """Take a file as your glossary, in the place of the one there was.

    Its words hold from the next question on, and its places in documents that are read from now on.

        pagelight glossary set glossary.toml
    """
    with open_engine() as engine:
        summary = engine.glossary.set(_read(file))
    if as_json:
        output.print_json(summary)
        return
    output.print_text(f"“{summary.title}”: {_counts(summary)}.")
    if summary.places:
        output.print_note("Documents that are there already have its places once they are read anew: pagelight reindex")


def clear(as_json: AsJson = False) -> None:
    """Have no glossary: the packaged vocabularies alone are left.

    pagelight glossary clear
    """
    with open_engine() as engine:
        engine.glossary.clear()
    if as_json:
        output.print_json({"toml": None})
    else:
        output.print_text("You have no glossary now.")


def example() -> None:
    """Print a glossary to begin with, that explains itself.

    pagelight glossary example > glossary.toml
    """
    from rag import vocabulary

    typer.echo(vocabulary.example(), nl=False)


def try_question(question: Question, as_json: AsJson = False) -> None:
    """Tell what a question is widened with, by your glossary and by the packaged vocabularies.

    pagelight glossary try "What is the quick ratio?"
    """
    with open_engine() as engine:
        rewritings = engine.glossary.explain(question)
    if as_json:
        output.print_json(rewritings)
    elif rewritings:
        rows = [(one.kind, one.found, ", ".join(one.added), one.trade or "–") for one in rewritings]
        output.print_table(["kind", "found", "added", "from"], rows)
    else:
        output.print_text("Nothing is added: no vocabulary knows a word of it.")


def _read(file: Path) -> str:
    """The file's text.

    Raises:
        errors.SourceError: it cannot be read, or is no text.
    """
    try:
        return file.read_bytes().decode("utf-8")
    except OSError as error:
        raise errors.SourceError(
            f"{file} cannot be read: {error.strerror or type(error).__name__}. Check the path and the rights.",
            details={"path": str(file)},
        ) from error
    except UnicodeDecodeError:
        raise errors.SourceError(
            f"{file} is no text in UTF-8. Save it as UTF-8 and try again.", details={"path": str(file)}
        ) from None


def _counts(summary: GlossarySummary) -> str:
    """Such as “synonyms 2, places 1”, without what there is none of."""
    counts = summary.model_dump(exclude={"title"})
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count) or "nothing in it yet"

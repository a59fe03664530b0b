"""What is printed: results to stdout, progress and errors to stderr, JSON in the form of the REST API."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pydantic_core
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rag import errors
from rag.types import Completeness, Rewriting, Variant

WIDTH_WITHOUT_TERMINAL = 160
"""Columns of a table that goes into a file or a pipe."""


def console(*, stderr: bool = False) -> Console:
    """Where to print; what is printed is never read as markup, for documents may hold anything."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else WIDTH_WITHOUT_TERMINAL
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def print_text(text: str = "", *, style: str | None = None) -> None:
    """Prose to stdout, wrapped only where a terminal ends."""
    console().print(Text(text, style=style or ""), soft_wrap=not sys.stdout.isatty())


def print_note(text: str, *, style: str = "dim") -> None:
    """Something beside the result, to stderr."""
    console(stderr=True).print(Text(text, style=style), soft_wrap=True)


def print_lookups(variants: Iterable[Variant]) -> None:
    """What was looked up for a question, step by step on one line, to stderr."""
    steps: dict[int, list[str]] = {}
    for variant in variants:
        if variant.kind == "lookup":
            steps.setdefault(variant.step, []).append(variant.text)
    if steps:
        print_note(f"Looked up: {'; then '.join(', '.join(texts) for texts in steps.values())}")


def print_rewritings(rewritings: Sequence[Rewriting]) -> None:
    """What a question was widened with on one line, to stderr; nothing if it was searched as it was asked."""
    parts = [
        f"{rewriting.found} → {_first(rewriting.added)}" for rewriting in rewritings if rewriting.kind != "landmark"
    ]
    places = [name for rewriting in rewritings if rewriting.kind == "landmark" for name in rewriting.added]
    parts += [f"preferred: {', '.join(places)}"] if places else []
    if parts:
        print_note(f"Widened: {'; '.join(parts)}")


def _first(phrases: Sequence[str], count: int = 3) -> str:
    """The first of many phrases."""
    return ", ".join(phrases[:count]) + (f" (+{len(phrases) - count})" if len(phrases) > count else "")


def print_json(value: object, *, indent: int | None = 2) -> None:
    """A value, models and ids in it included, as JSON with camelCase names to stdout."""
    plain = pydantic_core.to_jsonable_python(value, by_alias=True)
    sys.stdout.write(json.dumps(plain, ensure_ascii=False, indent=indent) + "\n")


def write_new(file: Path, content: bytes) -> None:
    """Write a file that is not there yet, and say so. Raises SourceError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("xb") as target:
            target.write(content)
    except OSError as error:
        raise errors.SourceError(f"{file} cannot be written: {error.strerror or type(error).__name__}.") from error
    print_text(f"Written: {file}")


def print_missing(completeness: Completeness) -> None:
    """The places where a file's text is missing or its words are glued or split; nothing if it is complete."""
    for missing in completeness.missing:
        print_text(f"  missing at {missing.place}: {plural(missing.characters, 'character')}, “{missing.text}”")
    if completeness.has_word_errors:
        print_text(f"words: {completeness.word_summary}")
        for error in completeness.word_errors:
            print_text(f"  at {error.place}: “{error.read}” for “{error.expected}”")


def print_error(error: errors.Error, *, as_json: bool) -> None:
    """An error's message to stderr, and with `as_json` the error as an object to stdout."""
    if as_json:
        details = pydantic_core.to_jsonable_python(dict(error.details), fallback=str)
        print_json({"error": {"code": error.code, "message": error.message, "details": details}})
    console(stderr=True).print(Text(f"Error: {error.message}", style="red"), soft_wrap=True)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Iterable[str] = ()) -> None:
    """A table to stdout; columns named in `right` hold numbers."""
    table = Table(show_header=any(columns), box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    numeric = set(right)
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in numeric else "left",
            no_wrap=column in numeric,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    console().print(table)


def score(value: float | None) -> str:
    """A score in 0..1 to three digits; a dash where its stage did not run."""
    return "–" if value is None else f"{value:.3f}"


def plural(count: int, noun: str) -> str:
    """Such as “1 page” and “1,200 pages”."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size(count: int) -> str:
    """Bytes for people, in powers of 1000."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def excerpt(text: str, length: int = 160) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"

"""Print results to stdout, progress and errors to stderr, and JSON in the form of the REST API."""

import datetime as dt
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pydantic_core
from rich import progress
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rag import errors, types

WIDTH_WITHOUT_TERMINAL = 160
"""Columns of a table that is written to a file or a pipe."""

Item = TypeVar("Item")


def console(*, stderr: bool = False) -> Console:
    """Return a console for stdout or stderr that never reads text as markup: documents may hold anything."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else WIDTH_WITHOUT_TERMINAL
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def print_text(text: str | Text = "", *, style: str | None = None) -> None:
    """Print prose to stdout, wrapped only at the width of a terminal."""
    styled = Text(text, style=style or "") if isinstance(text, str) else text
    console().print(styled, soft_wrap=not sys.stdout.isatty())


def print_note(text: str, *, style: str = "dim") -> None:
    """Print a remark to stderr."""
    console(stderr=True).print(Text(text, style=style), soft_wrap=True)


def print_rewritings(rewritings: Sequence[types.Rewriting]) -> None:
    """Print the expansions of a question on one line of stderr; nothing if there are none."""
    parts = [
        f"{rewriting.found} → {_abbreviated(rewriting.added)}"
        for rewriting in rewritings
        if rewriting.kind != "landmark"
    ]
    places = [name for rewriting in rewritings if rewriting.kind == "landmark" for name in rewriting.added]
    parts += [f"preferred: {', '.join(places)}"] if places else []
    if parts:
        print_note(f"Widened: {'; '.join(parts)}")


def _abbreviated(phrases: Sequence[str], count: int = 3) -> str:
    return ", ".join(phrases[:count]) + (f" (+{len(phrases) - count})" if len(phrases) > count else "")


def print_json(value: object, *, indent: int | None = 2) -> None:
    """Print a value, with the models and ids in it, as JSON with camelCase names."""
    plain = pydantic_core.to_jsonable_python(value, by_alias=True)
    sys.stdout.write(json.dumps(plain, ensure_ascii=False, indent=indent) + "\n")


def print_result(value: object, text: str, *, as_json: bool) -> None:
    """Print a value as JSON, or `text` for people."""
    if as_json:
        print_json(value)
    else:
        print_text(text)


def print_list(
    items: Sequence[Item],
    columns: Sequence[str],
    row: Callable[[Item], Sequence[object]],
    *,
    as_json: bool,
    right: Iterable[str] = (),
    empty: str = "",
) -> None:
    """Print items as JSON or as a table with a row each; `empty` is printed instead of a table without rows."""
    if as_json:
        print_json(items)
    elif items or not empty:
        print_table(columns, map(row, items), right=right)
    else:
        print_text(empty)


def write_new(file: Path, content: bytes) -> None:
    """Write a file that does not exist yet, and print its name. Raises SourceError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("xb") as target:
            target.write(content)
    except OSError as error:
        raise errors.SourceError(f"{file} cannot be written: {error.strerror or type(error).__name__}.") from error
    print_text(f"Written: {file}")


def print_reading(completeness: types.Completeness | None) -> None:
    """Print what was not read as a person sees it, with places; nothing of a file that was read truly."""
    if completeness is None:
        return
    for summary in completeness.summaries:
        print_text(summary)
    for missing in completeness.missing:
        print_text(f"  missing at {missing.place}: {plural(missing.characters, 'character')}, “{missing.text}”")


def print_error(error: errors.Error, *, as_json: bool) -> None:
    """Print an error's message to stderr, and with `as_json` the error as an object to stdout."""
    if as_json:
        details = pydantic_core.to_jsonable_python(dict(error.details), fallback=str)
        print_json({"error": {"code": error.code, "message": error.message, "details": details}})
    console(stderr=True).print(Text(f"Error: {error.message}", style="red"), soft_wrap=True)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Iterable[str] = ()) -> None:
    """Print a table to stdout; the columns named in `right` hold numbers."""
    table = Table(show_header=any(columns), box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    numeric = set(right)
    for column in columns:
        table.add_column(
            column, justify="right" if column in numeric else "left", no_wrap=column in numeric, overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    console().print(table)


def score(value: float | None) -> str:
    """Format a score in 0..1 with three digits; None, where its stage did not run, is a dash."""
    return "–" if value is None else f"{value:.3f}"


def plural(count: int, noun: str) -> str:
    """Format a count with its noun, such as “1 page” and “1,200 pages”."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def minute(moment: dt.datetime | None, never: str = "") -> str:
    """Format a moment to the minute in local time; None is `never`."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else never


def excerpt(text: str, length: int = 160) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


class ProgressBar:
    """A `rag.types.OnProgress` that shows one bar: that of the latest stage."""

    def __init__(self, bars: progress.Progress, stages: dict[str, str]) -> None:
        self.bars = bars
        self._stages = stages
        self._stage: str | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report `done` of `total`; a total of 0 is unknown."""
        if stage != self._stage:
            for ended in self.bars.task_ids:
                self.bars.remove_task(ended)
            self.bars.add_task(self._stages.get(stage, stage), total=None)
            self._stage = stage
        (task,) = self.bars.task_ids
        self.bars.update(task, completed=done, total=total or None)

    def print_line(self, mark: tuple[str, str], name: object, explanation: str) -> None:
        """Print a finished item after its mark, which comes with a style."""
        self.bars.console.print(Text.assemble(mark, f" {name}  ", (explanation, "dim")), soft_wrap=True)


@contextmanager
def show_progress(**stages: str) -> Iterator[ProgressBar]:
    """Show progress while the block runs: a bar on a terminal, and everywhere a line for each finished item.

    `stages` gives stages readable names.
    """
    bars = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TaskProgressColumn("{task.percentage:>3.0f}%", "{task.completed:,.0f}", markup=False),
        progress.TimeElapsedColumn(),
        console=console(stderr=True),
        transient=True,
    )
    with bars:
        yield ProgressBar(bars, stages)

"""Show the progress of long work: a bar on a terminal, and everywhere a line for each finished item."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich import progress
from rich.text import Text

from rag.cli import output


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
def show(**stages: str) -> Iterator[ProgressBar]:
    """Show progress while the block runs; `stages` gives stages readable names."""
    bars = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TaskProgressColumn("{task.percentage:>3.0f}%", "{task.completed:,.0f}", markup=False),
        progress.TimeElapsedColumn(),
        console=output.console(stderr=True),
        transient=True,
    )
    with bars:
        yield ProgressBar(bars, stages)

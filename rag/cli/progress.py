"""What is seen of long work: on a terminal a bar of what is being done, and everywhere a line for what is."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich import progress
from rich.text import Text

from rag.cli import output


class Shown:
    """A `rag.types.OnProgress`: the bar is that of the stage told of last."""

    def __init__(self, bars: progress.Progress, stages: dict[str, str]) -> None:
        self.bars = bars
        self._stages = stages
        self._stage: str | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """So many of so many are done; 0 of which nobody knows how many."""
        if stage != self._stage:
            for ended in self.bars.task_ids:
                self.bars.remove_task(ended)
            self.bars.add_task(self._stages.get(stage, stage), total=None)
            self._stage = stage
        (task,) = self.bars.task_ids
        self.bars.update(task, completed=done, total=total or None)

    def line(self, mark: tuple[str, str], name: object, explained: str) -> None:
        """Something that is done, after its mark and the mark's style."""
        self.bars.console.print(Text.assemble(mark, f" {name}  ", (explained, "dim")), soft_wrap=True)


@contextmanager
def shown(**stages: str) -> Iterator[Shown]:
    """Progress while the block runs; `stages` are their names for people."""
    bars = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TaskProgressColumn("{task.percentage:>3.0f}%", "{task.completed:,.0f}", markup=False),
        progress.TimeElapsedColumn(),
        console=output.console(stderr=True),
        transient=True,
    )
    with bars:
        yield Shown(bars, stages)

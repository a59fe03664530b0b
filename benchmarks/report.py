"""Figures, their tables and their JSON."""

import os
import platform
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table

RESAMPLES = 1000


@dataclass(frozen=True)
class Goal:
    """A minimum or maximum for a figure."""

    limit: float
    at_least: bool

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}"

    def is_met(self, value: float) -> bool:
        """Return whether `value` meets the goal."""
        return value >= self.limit if self.at_least else value <= self.limit


def at_least(limit: float) -> Goal:
    """Return a minimum goal."""
    return Goal(limit, at_least=True)


def at_most(limit: float) -> Goal:
    """Return a maximum goal."""
    return Goal(limit, at_least=False)


@dataclass(frozen=True)
class Figure:
    """A measurement; the unit "×" is a ratio of two figures of the same run."""

    name: str
    value: float
    unit: str
    goal: Goal | None = None

    @property
    def is_met(self) -> bool | None:
        """Return whether the figure meets its goal; None without a goal."""
        return None if self.goal is None else self.goal.is_met(self.value)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON row."""
        goal = str(self.goal) if self.goal else None
        return {"name": self.name, "value": self.value, "unit": self.unit, "goal": goal, "met": self.is_met}


def interval(cases: Iterable[tuple[str, bool]]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the share of true cases, resampling their documents, which come first."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for document, is_true in cases:
        groups[document].append(is_true)
    sums = [(sum(group), len(group)) for group in groups.values()]
    chance = random.Random(3)
    shares = []
    for _ in range(RESAMPLES if sums else 0):
        drawn = chance.choices(sums, k=len(sums))
        shares.append(sum(good for good, _ in drawn) / sum(size for _, size in drawn))
    shares.sort()
    return (shares[int(0.025 * RESAMPLES)], shares[int(0.975 * RESAMPLES)]) if shares else (0.0, 0.0)


@dataclass
class Section:
    """The figures of one part; `about` describes sizes and counts.

    `notes` are lines below the table; a `result` is written as JSON in place of the figures. A part that `failed`
    causes exit code 1; a missed goal does not.
    """

    part: str
    about: str = ""
    figures: list[Figure] = field(default_factory=list)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    failed: bool = False
    result: dict[str, Any] | None = None

    def add(self, name: str, value: float, unit: str, goal: Goal | None = None) -> None:
        """Add a figure."""
        self.figures.append(Figure(name, value, unit, goal))

    def to_json(self) -> dict[str, Any]:
        """Return a JSON entry."""
        return {
            "part": self.part,
            "about": self.about,
            "seconds": round(self.seconds, 1),
            "figures": [figure.to_json() for figure in self.figures],
            "notes": self.notes,
        }

    def table(self) -> Table:
        """Return a printable table."""
        table = Table(title=f"{self.part} · {self.about}", title_justify="left", title_style="bold")
        table.add_column("")
        for name in ("value", "unit", "goal"):
            table.add_column(name, justify="left" if name == "unit" else "right")
        table.add_column("")
        for figure in self.figures:
            mark = {None: "", True: "[green]met[/]", False: "[red]missed[/]"}[figure.is_met]
            table.add_row(figure.name, readable(figure.value), figure.unit, str(figure.goal or ""), mark)
        return table


def readable(value: float) -> str:
    """Format with three significant digits, or all before the decimal point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def to_json(sections: Sequence[Section], *, quick: bool) -> dict[str, Any]:
    """Return the whole report with a description of the machine."""
    machine = {
        "system": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }
    return {"machine": machine, "quick": quick, "parts": [section.to_json() for section in sections]}

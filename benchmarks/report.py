"""Figures, the table that shows them and the JSON that keeps them."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table


@dataclass(frozen=True)
class Goal:
    """A limit that a figure should keep: at least or at most so much."""

    limit: float
    at_least: bool

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}"

    def is_met(self, value: float) -> bool:
        """Whether `value` keeps it."""
        return value >= self.limit if self.at_least else value <= self.limit


def at_least(limit: float) -> Goal:
    """The more the better."""
    return Goal(limit, at_least=True)


def at_most(limit: float) -> Goal:
    """The less the better."""
    return Goal(limit, at_least=False)


@dataclass(frozen=True)
class Figure:
    """One measured number; `unit` "×" is a ratio of two figures of the same run."""

    name: str
    value: float
    unit: str
    goal: Goal | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether it keeps its goal; None when it has none."""
        return None if self.goal is None else self.goal.is_met(self.value)

    def to_json(self) -> dict[str, Any]:
        """As a row of the report."""
        goal = str(self.goal) if self.goal else None
        return {"name": self.name, "value": self.value, "unit": self.unit, "goal": goal, "met": self.is_met}


@dataclass
class Section:
    """The figures of one part; `about` says what was measured, as sizes and counts.

    `notes` are lines below the table. A part that `failed` gives the command exit code 1; a missed goal alone does not.
    """

    part: str
    about: str = ""
    figures: list[Figure] = field(default_factory=list)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    failed: bool = False

    def add(self, name: str, value: float, unit: str, goal: Goal | None = None) -> None:
        """Take down a figure."""
        self.figures.append(Figure(name, value, unit, goal))

    def to_json(self) -> dict[str, Any]:
        """As an entry of the report."""
        return {
            "part": self.part,
            "about": self.about,
            "seconds": round(self.seconds, 1),
            "figures": [figure.to_json() for figure in self.figures],
            "notes": self.notes,
        }

    def table(self) -> Table:
        """For people."""
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
    """Three significant digits or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def to_json(sections: Sequence[Section], *, quick: bool) -> dict[str, Any]:
    """The whole report with the machine it was made on."""
    machine = {
        "system": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }
    return {"machine": machine, "quick": quick, "parts": [section.to_json() for section in sections]}

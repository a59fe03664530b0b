"""Check the lines of Python of each package against `budget.toml` (part of `make lint`).

A package may grow only by as many lines as others are below their budgets. `make budget` sets the budgets to the
lines of today, if these are no more in sum; raising one is an edit of `budget.toml`, in a commit that says why.
"""

import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUDGET = ROOT / "budget.toml"
COUNTED = ("app.py", "server.py", "pages", "rag", "tests", "benchmarks")
HEADER = "# The most lines of Python per package; see tests/line_budget.py.\n"


def package_lines() -> dict[str, int]:
    """Count the lines of each package of `rag`, of the modules beside them (`rag`), and of the other folders."""
    lines: Counter[str] = Counter()
    for name in COUNTED:
        place = ROOT / name
        for path in place.rglob("*.py") if place.is_dir() else [place]:
            inside = path.relative_to(ROOT).parts[:-1]
            lines["/".join(inside[:2] if name == "rag" else inside[:1]) or "app"] += path.read_text("utf-8").count("\n")
    return dict(sorted(lines.items()))


def excess(lines: dict[str, int], budget: dict[str, int]) -> list[str]:
    """Return a sentence for each package above its budget, empty if the others have room for it."""
    if sum(lines.values()) <= sum(budget.values()) and lines.keys() <= budget.keys():
        return []
    return [
        f"{package} has {count} lines; its budget is {budget.get(package, 0)}."
        for package, count in lines.items()
        if count > budget.get(package, 0)
    ]


def main() -> None:
    """Report packages above their budgets; with `--lower` set the budgets to the lines of today."""
    lines = package_lines()
    budget: dict[str, int] = tomllib.loads(BUDGET.read_text("utf-8"))
    if problems := excess(lines, budget):
        sys.exit("\n".join([*problems, "Remove as many lines elsewhere, or raise the budget and say why."]))
    if "--lower" in sys.argv:
        BUDGET.write_text(HEADER + "".join(f'"{package}" = {count}\n' for package, count in lines.items()), "utf-8")


if __name__ == "__main__":
    main()

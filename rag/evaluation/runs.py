"""What came out for each question: kept while a run goes on, and in run files, for other programs to score."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol, TypeVar

import pydantic

Row = TypeVar("Row", bound=pydantic.BaseModel)


class Remember(Protocol):
    """Gives the rows of question `number`, of the type `row`: those that were made before, or what `make` makes now."""

    def __call__(self, number: int, row: type[Row], make: Callable[[], list[Row]], /) -> list[Row]:
        """Questions are numbered from 1."""


def remember_nothing(_number: int, _row: type[Row], make: Callable[[], list[Row]]) -> list[Row]:
    """Every question is asked."""
    return make()


def write_rows(path: Path, rows: Iterable[pydantic.BaseModel]) -> None:
    """Write a run file, one JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row.model_dump(mode="json"), ensure_ascii=False) + "\n")

"""Evaluation runs: their rows, checkpoints and run files, and the comparison of two runs."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import pydantic

from rag import errors
from rag.messages import N_

Row = TypeVar("Row", bound=pydantic.BaseModel)


class Checkpoint(Protocol):
    """A checkpoint: returns the saved rows of question `number`, or makes and saves them."""

    def __call__(self, number: int, row: type[Row], make: Callable[[], list[Row]], /) -> list[Row]:
        """Return the rows, of type `row`; questions are numbered from 1."""


def no_checkpoint(_number: int, _row: type[Row], make: Callable[[], list[Row]]) -> list[Row]:
    """Make the rows without a checkpoint."""
    return make()


def write_rows(path: Path, rows: Iterable[pydantic.BaseModel]) -> None:
    """Write a run file, one JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row.model_dump(mode="json"), ensure_ascii=False) + "\n")


Change = Literal["better", "worse", "same", "unknown"]
"""`unknown`: the question is missing in a run, or cannot be scored."""


class ComparedQuestion(NamedTuple):
    """A question with its outcomes in two runs; None if it was not asked."""

    id: str
    question: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    change: Change


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[ComparedQuestion]:
    """Compare two results question by question, in the order of the later one.

    A smaller rank is better, as is an answer without a mistake.

    Raises:
        errors.ValidationError: one result is of answers, the other of searches.
    """
    if before["subject"] != after["subject"]:
        raise errors.ValidationError(N_("Answers and searches cannot be compared. Choose two runs of the same kind."))
    earlier, later = ({question["id"]: question for question in result["questions"]} for result in (before, after))
    compared = []
    for key in dict.fromkeys([*later, *earlier]):
        old, new = earlier.get(key), later.get(key)
        question = (new or old or {})["question"]
        compared.append(ComparedQuestion(key, question, old, new, _change(_quality(old), _quality(new))))
    return compared


def _change(before: float | None, after: float | None) -> Change:
    if before is None or after is None:
        return "unknown"
    if before == after:
        return "same"
    return "better" if after > before else "worse"


def _quality(outcome: Mapping[str, Any] | None) -> float | None:
    """Return the quality of an outcome, in 0..1; None if it cannot be scored."""
    if outcome is None:
        return None
    if "mistake" in outcome:
        return None if outcome["status"] is None else float(outcome["mistake"] is None)
    if not outcome["goldPages"]:
        return None
    return 1 / outcome["rank"] if outcome["rank"] else 0.0

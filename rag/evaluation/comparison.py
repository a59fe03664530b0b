"""Two evaluations beside each other, question by question."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from rag import errors

Change = Literal["better", "worse", "same", "unknown"]
"""`unknown`: the question was not asked in one of them, or cannot be judged."""


class ComparedQuestion(NamedTuple):
    """A question with what came out of it `before` and `after`, as `questions` of a result have it; None: not asked."""

    id: str
    question: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    change: Change


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[ComparedQuestion]:
    """All questions of two results of the same subject in the order of the later one, then those of the other alone.

    Of searches a smaller rank is better, of answers one without a mistake.

    Raises:
        errors.ValidationError: one is of answers, the other of searches.
    """
    if before["subject"] != after["subject"]:
        raise errors.ValidationError("Answers and searches cannot be compared. Choose two runs of the same kind.")
    earlier, later = ({question["id"]: question for question in result["questions"]} for result in (before, after))
    return [_compared(key, earlier.get(key), later.get(key)) for key in dict.fromkeys([*later, *earlier])]


def _compared(key: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> ComparedQuestion:
    told = after or before or {}
    return ComparedQuestion(key, told["question"], before, after, _change(_worth(before), _worth(after)))


def _change(before: float | None, after: float | None) -> Change:
    if before is None or after is None:
        return "unknown"
    if before == after:
        return "same"
    return "better" if after > before else "worse"


def _worth(outcome: Mapping[str, Any] | None) -> float | None:
    """How good an outcome is, in 0..1; None of what cannot be judged."""
    if outcome is None:
        return None
    if "mistake" in outcome:
        return None if outcome["status"] is None else float(outcome["mistake"] is None)
    if not outcome["goldPages"]:
        return None
    return 1 / outcome["rank"] if outcome["rank"] else 0.0

"""Two evaluations beside each other: which questions came out better, which worse."""

from typing import Any

import pytest

from rag import errors, evaluation


def result(subject: str, *questions: dict[str, Any]) -> dict[str, Any]:
    return {"subject": subject, "questions": [{"question": f"Question {one['id']}?", **one} for one in questions]}


def found(number: int, rank: int | None, gold: tuple[int, ...] = (1,)) -> dict[str, Any]:
    return {"id": str(number), "rank": rank, "goldPages": gold}


def answered(number: int, mistake: str | None, status: str | None = "ok") -> dict[str, Any]:
    return {"id": str(number), "mistake": mistake, "status": status, "goldPages": (1,)}


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [(3, 1, "better"), (None, 9, "better"), (1, 2, "worse"), (5, None, "worse"), (4, 4, "same"), (None, None, "same")],
)
def test_a_smaller_rank_is_better(before: int | None, after: int | None, change: str) -> None:
    (compared,) = evaluation.compare(result("retrieval", found(1, before)), result("retrieval", found(1, after)))
    assert compared.change == change
    assert (compared.before, compared.after) == tuple(
        {"question": "Question 1?", **found(1, rank)} for rank in (before, after)
    )


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("refused", None, "better"),
        (None, "other page", "worse"),
        ("refused", "other page", "same"),
        (None, None, "same"),
    ],
)
def test_an_answer_without_a_mistake_is_better(before: str | None, after: str | None, change: str) -> None:
    (compared,) = evaluation.compare(result("answers", answered(1, before)), result("answers", answered(1, after)))
    assert compared.change == change


def test_what_cannot_be_judged_in_both_is_told_and_not_counted() -> None:
    earlier = result("retrieval", found(1, 1), found(2, 1, gold=()), found(3, 2))
    later = result("retrieval", found(2, 2, gold=()), found(3, 1), found(4, 1))
    compared = {one.id: one.change for one in evaluation.compare(earlier, later)}
    assert compared == {"2": "unknown", "3": "better", "4": "unknown", "1": "unknown"}
    assert [*compared] == ["2", "3", "4", "1"]
    (unasked,) = evaluation.compare(
        result("answers", answered(1, None, status=None)), result("answers", answered(1, None))
    )
    assert unasked.change == "unknown"


def test_answers_and_searches_are_not_compared() -> None:
    with pytest.raises(errors.ValidationError, match="same kind"):
        evaluation.compare(result("answers"), result("retrieval"))

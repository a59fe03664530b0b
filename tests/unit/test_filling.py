"""What a cell of a matrix makes of several statements."""

import pytest

from rag.engine import filling

QUESTION = "How much was spent on research and development?"
WHOLE = "Research and development expense, net – December 31, 2022: (2,852); 2021: (2,249) (Dollars in millions)"
SEGMENT = "Research and development – December 31, 2022: $1,510; 2021: $1,140 (Dollars in millions)"


@pytest.mark.parametrize(
    ("statements", "contested"),
    [
        ([WHOLE], False),
        ([WHOLE, WHOLE], False),
        ([SEGMENT, WHOLE], True),
        ([WHOLE, "Research and development expense was $2,852 million in 2022."], False),
    ],
)
def test_statements_that_give_different_figures_are_contested(statements: list[str], contested: bool) -> None:
    assert filling._is_contested(QUESTION, statements) is contested

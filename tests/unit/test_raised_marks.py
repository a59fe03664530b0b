"""Raised marks say nothing about the words and figures that they stand at; powers and units do."""

import pytest

from rag.answering.text.analyzed_text import Text
from rag.answering.text.normalized_text import normalize, undecorated
from rag.store.search.search_terms import normalize as search_terms
from rag.types import without_raised_marks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,240⁴ employees", "1,240  employees"),
        ("employees¹,² of", "employees ,  of"),
        ("Assetsᵃ", "Assets "),
        ("10⁶ m² and 5 s⁻¹", "10⁶ m² and 5 s⁻¹"),
        ("2,210⁶ items²", "2,210  items "),
    ],
)
def test_only_marks_of_notes_are_left_out(text: str, expected: str) -> None:
    assert without_raised_marks(text) == expected


def test_words_with_marks_are_found_and_compared_without_them() -> None:
    assert search_terms("Revenue¹ was 812⁸ on 10 m²").split() == ["revenue", "was", "812", "on", "10", "m2"]
    assert Text("employees⁴").content_keys == Text("employees").content_keys


def test_a_quote_may_leave_a_mark_out_and_not_turn_it_into_a_digit() -> None:
    assert normalize("812⁸ million").text != normalize("8128 million").text
    assert undecorated("was 812⁸ million").normalized.text == undecorated("was 812 million").normalized.text

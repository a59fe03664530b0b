import math

import pytest

from rag.answering.text.term_weights import bm25, content_words, idf, is_unspaced, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ships' cranes LIFT", ["ships", "cranes", "lift"]),
        ("harbour harbours", ["harbou", "harbou"]),
        ("rose 3.5% to 1,234 in Q3", ["rose", "3.5", "to", "1,234", "in", "q", "3"]),
        ("1234567", ["1234567"]),
        ("eﬃcient Straße", ["effici", "strass"]),
        ("收入增长", ["收入", "入增", "增长"]),
        ("収 a", ["収", "a"]),
        ("", []),
    ],
)
def test_words_are_compared_by_their_beginnings(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_words_without_meaning_count_only_among_themselves() -> None:
    assert content_words("What is the revenue of the year?") == ["revenu", "year"]
    assert content_words("Who is who?") == ["who", "is", "who"]


def test_what_stands_in_few_texts_weighs_more() -> None:
    assert idf([["a", "b", "a"], ["a"], ["c"]]) == pytest.approx(
        {"a": math.log(1 + 1.5 / 2.5), "b": math.log(1 + 2.5 / 1.5), "c": math.log(1 + 2.5 / 1.5)}
    )


def test_bm25_by_hand() -> None:
    texts = [["a", "b"], ["a", "a", "b", "c"], ["c", "d", "e"]]  # three words on average
    a, e = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    short, long = 1.2 * (0.25 + 0.75 * 2 / 3), 1.2 * (0.25 + 0.75 * 4 / 3)
    assert bm25(["a", "e", "a"], texts) == pytest.approx(
        [a * 2.2 / (1 + short), a * 2 * 2.2 / (2 + long), e * 2.2 / (1 + 1.2)]
    )
    assert bm25(["a"], []) == []
    assert bm25(["a"], [[]]) == [0.0]


def test_some_scripts_put_no_spaces_between_words() -> None:
    assert [is_unspaced(character) for character in "収あ한aш1 "] == [True, True, True, False, False, False, False]

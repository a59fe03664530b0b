"""What becomes of text before PostgreSQL cuts it into terms."""

import pytest

from rag.store.search import search_terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234.5 million", "1234.5 million"),
        ("(1,234,567)", "(1234567)"),
        ("1,2 and 3", "1,2 and 3"),  # a list, not thousands
        ("12,34,567", "12,34,567"),
        ("-5%", " 5%"),
        ("2019-2020", "2019 2020"),
        ("2019–2020", "2019 2020"),
        ("Form 10-K and 8-K/A", "form 10k and 8k a"),
        ("COVID-19", "covid 19"),
        ("co-operate", "co-operate"),
        ("profit/loss", "profit loss"),
        ("if a <b and c> d", "if a  b and c  d"),
        ("ﬁnance", "finance"),
        ("co\u00adoperate", "cooperate"),
        ("ÉCOLE", "école"),
        ("ＡＢＣ１２３", "abc123"),
        ("a\x00b", "a b"),
        ("", ""),
    ],
)
def test_words_are_normalised_for_search(text: str, expected: str) -> None:
    assert search_terms.normalize(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("数据库系统", ["数据", "据库", "库系", "系统"]),
        ("中", ["中"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("서울은 수도", ["서울", "울은", "수도"]),
        ("使用PostgreSQL数据库", ["使用", "postgresql", "数据", "据库"]),
        ("价格是1,234元。", ["价格", "格是", "1234", "元", "。"]),
    ],
)
def test_scripts_without_spaces_become_bigrams(text: str, expected: list[str]) -> None:
    assert search_terms.normalize(text).split() == expected


def test_a_question_finds_the_same_bigrams_as_the_text() -> None:
    text, question = search_terms.normalize("关系数据库系统的基础").split(), search_terms.normalize("数据库").split()
    assert set(question) < set(text)

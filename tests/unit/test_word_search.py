"""Word search in the text of pages."""

import pytest

from rag.engine.library.pages import find_words


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        ("net sales", "NET SALES rose, net  sales fell", ["NET SALES", "net  sales"]),
        ("net sales", "of net\nsales\tin 2022", ["net\nsales"]),
        ("international", "the inter-\nnational market", ["inter-\nnational"]),
        ("company's", "the company’s and the company's", ["company’s", "company's"]),
        ("4,506 (3.1", "4,506 (3.1) 4x506 (3.1", ["4,506 (3.1"]),
        ("10-K", "Form 10‑K and 10–K", ["10‑K", "10–K"]),
        ("", "anything", []),
        ("  ", "any thing", []),
        ("absent", "nothing of the kind", []),
    ],
)
def test_words_are_found_as_a_reader_types_them(words: str, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in find_words(words, text)] == found

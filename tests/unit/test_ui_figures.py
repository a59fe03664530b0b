"""Figures of tables on the pages: in the language of the page, and still numbers."""

from rag.ui.index.search import _with_numbers
from rag.ui.language import _, use_language


def test_figures_are_written_in_the_language_of_the_page_and_stay_numbers() -> None:
    with use_language("de"):
        meaning, words = _("meaning"), _("words")
        rows: list[dict[str, float | None]] = [
            {meaning: 0.5, words: 0.25, "page": 1789, "rank": 2022},
            {meaning: 1234.5678, words: None, "page": 2, "rank": None},
        ]
        german = _with_numbers(rows)
        shown = german.to_html()
    assert [
        text for text in (">0,500<", ">1.234,568<", ">0,250<", ">–<", ">1789<", ">2022<") if text not in shown
    ] == []
    assert list(german.data[meaning]) == [0.5, 1234.5678]

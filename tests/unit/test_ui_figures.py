"""Figures of tables on the pages: in the language of the page, and still numbers."""

from rag.ui.language import use_language
from rag.ui.numeric_tables import format_numbers, format_score


def test_figures_are_written_in_the_language_of_the_page_and_stay_numbers() -> None:
    rows: list[dict[str, float | None]] = [
        {"mean": 0.5, "change": 0.25, "page": 1789, "rank": 2022},
        {"mean": 1234.5678, "change": None, "page": 2, "rank": None},
    ]
    writers = {"mean": format_score, "change": format_score, "not there": format_score}
    with use_language("de"):
        german = format_numbers(rows, writers)
        shown = german.to_html()
    assert [
        text for text in (">0,500<", ">1.234,568<", ">0,250<", ">–<", ">1789<", ">2022<") if text not in shown
    ] == []
    assert list(german.data["mean"]) == [0.5, 1234.5678]
    assert ">0.500<" in format_numbers(rows, writers).to_html()

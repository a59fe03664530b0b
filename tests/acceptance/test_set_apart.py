"""Documents with words that nobody sees, or that are struck out: what is answered, and what is said of these words."""

from pathlib import Path

import pytest

from rag.parsing.pdf.mupdf import pymupdf
from tests import pdfs
from tests.acceptance.command_line import pagelight, parsed


@pytest.fixture(scope="module")
def library(shared_settings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agreement with white words, words below a black bar, and a line through the old term; and a list of items."""
    document = pymupdf.open()
    page = document.new_page(width=pdfs.WIDTH, height=pdfs.HEIGHT)
    pdfs.write(page, 72, 80, "Award notice", size=18, bold=True)
    pdfs.write(page, 72, 120, "The period of performance of the award is 24 months.")
    pdfs.write(page, 72, 140, "The rent of the pier is 900 euro a month.")
    page.insert_text((72, 160), "The period of performance of the award is 99 months.", color=(1, 1, 1), fontsize=11)
    pdfs.write(page, 72, 180, "The rent of the pier is 1 euro a month.")
    page.draw_rect((60, 168, 400, 184), color=None, fill=(0, 0, 0))
    page.insert_text((72, 220), "Each invoice is due within 30 days 60 days of receipt.")
    box = page.search_for("30 days")[0]
    page.draw_line((box.x0, (box.y0 + box.y1) / 2), (box.x1, (box.y0 + box.y1) / 2), width=0.8)
    folder = tmp_path_factory.mktemp("library")
    (folder / "award.pdf").write_bytes(pdfs.finish(document))
    (folder / "items.pdf").write_bytes(pdfs.plain(["Item 4 costs 500 euro.", "Item 5 costs 600 euro."]))
    assert parsed("ingest", folder)["ingested"] == 2
    return folder


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("question", "answer", "never"),
    [
        ("What is the period of performance of the award?", "24 months", "99 months"),
        ("How much is the rent of the pier?", "900 euro", "1 euro"),
        ("When is each invoice due?", "60 days", "30 days"),
    ],
)
def test_the_answer_is_what_the_page_shows(question: str, answer: str, never: str) -> None:
    response = parsed("ask", question, "--document", "award.pdf")
    assert response["status"] == "ok"
    assert answer in response["answer"]
    assert never not in response["answer"]
    assert not any("setApart" in citation for citation in response["citations"])


@pytest.mark.usefixtures("library")
def test_a_search_finds_hidden_words_last_and_says_what_they_are() -> None:
    results = parsed("search", "99 months", "--document", "award.pdf", "--passage", "chunk", "--min-score", 0)[
        "results"
    ]
    kinds = [result.get("setApart") for result in results]
    assert kinds[0] is None
    assert sorted(map(str, kinds[1:])) == ["['not visible on the page']", "['struck out']"]
    assert "99 months" in next(
        result["text"] for result in results if result.get("setApart") == ["not visible on the page"]
    )
    shown = pagelight("search", "99 months", "--document", "award.pdf", "--passage", "chunk", "--min-score", 0).stdout
    assert "(not visible on the page)" in " ".join(shown.split())


@pytest.mark.usefixtures("library")
def test_the_lines_of_each_kind_are_counted() -> None:
    shown = pagelight("inspect", "--document", "award.pdf").stdout
    assert "lines: 3 text, 1 heading, 1 struck, 2 hidden" in shown
    assert "(struck out) 30 days" in " ".join(shown.split())


@pytest.mark.usefixtures("library")
def test_another_item_of_a_list_is_no_answer() -> None:
    assert "600 euro" in parsed("ask", "What is item 5?", "--document", "items.pdf")["answer"]
    refused = parsed("ask", "What is item 7?", "--document", "items.pdf")
    assert refused["status"] == "insufficient_context"
    assert refused["hint"].startswith("“item 7” does not occur")

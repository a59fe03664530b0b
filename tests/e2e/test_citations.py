"""Upload, ask, click a citation: the light lies on the very words."""

import functools
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rag.parsing.pdf.mupdf import pymupdf
from rag.types import Rect
from tests.e2e import steps
from tests.e2e.conftest import visit
from tests.e2e.papers import Paper, all_papers, long, plain

NEAR_PT = 2.0
LINE_SLACK_PT = 6.0
"""How far a line's box reaches above and below its ink: room for the tallest and deepest letters."""
PIXELS = """(canvas, places) => places.map(([x, y]) => {
    const pen = canvas.getContext("2d");
    return [...pen.getImageData(Math.round(x * canvas.width), Math.round(y * canvas.height), 1, 1).data].slice(0, 3);
})"""
"""The colours of a canvas at places that are given as parts of its width and height."""


@pytest.fixture(scope="module")
def papers(browser: Browser, base_url: str) -> dict[str, Paper]:
    """All papers, brought in, by their names."""
    papers = all_papers()
    with visit(browser, base_url) as page:
        steps.upload(page, *papers)
    return {paper.name: paper for paper in papers}


def near(one: Rect, other: Rect) -> bool:
    """Whether all four sides are within the tolerance."""
    return all(abs(a - b) <= NEAR_PT for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("name", ["plain.pdf", "two_columns.pdf", "rotated.pdf", "cropped.pdf", "long.pdf"])
def test_clicked_citation_lights_the_words(page: Page, papers: dict[str, Paper], name: str) -> None:
    paper = papers[name]
    answer = steps.ask(page, paper.question)
    expected = paper.boxes()
    number = expected[0][0]
    expect(page.get_by_label("Page", exact=True)).to_have_value(str(number))  # the answer's first source is shown
    steps.open_page(page, 1)
    steps.cite(answer, paper)
    marks = steps.lit(page, number)
    assert len(marks) == len(expected)
    assert all(near(mark, box) for mark, (_, box) in zip(marks, expected, strict=True)), (marks, expected)
    light, words = functools.reduce(Rect.union, marks), steps.ink(page, number)
    assert abs(light.x0 - words.x0) <= NEAR_PT
    assert abs(light.x1 - words.x1) <= NEAR_PT
    assert -NEAR_PT <= words.y0 - light.y0 <= LINE_SLACK_PT
    assert -NEAR_PT <= light.y1 - words.y1 <= LINE_SLACK_PT
    page.locator(f'.page[data-page="{number}"]').locator(".mark.quote").first.scroll_into_view_if_needed()
    assert page.get_by_label("Page", exact=True).input_value() == str(number)


@pytest.mark.parametrize("name", ["rotated.pdf", "cropped.pdf"])
def test_marked_copy_is_drawn_with_its_highlights_and_downloaded(
    page: Page, papers: dict[str, Paper], name: str, tmp_path: Path
) -> None:
    paper = papers[name]
    steps.ask(page, paper.question)
    page.get_by_role("button", name="Marked copy").click()
    dialog = page.get_by_role("dialog")
    canvas = dialog.frame_locator("iframe").locator("#canvas_page_1")
    canvas.wait_for()
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == f"{Path(name).stem} – marked.pdf"
    download.value.save_as(tmp_path / name)
    with pymupdf.open(tmp_path / name) as copy:
        sheet = copy[0]
        size = sheet.rect
        assert any(paper.sentence in annotation.info["content"] for annotation in sheet.annots())
    ((_, box),) = paper.boxes()
    middle = (box.y0 + box.y1) / 2
    inside = [(box.x0 + NEAR_PT, box.y0 + NEAR_PT), (box.x1 - NEAR_PT, box.y1 - NEAR_PT)]
    outside = [(box.x0 - 2 * NEAR_PT, middle), (box.x1 + 2 * NEAR_PT, middle)]
    colours = canvas.evaluate(PIXELS, [(x / size.width, y / size.height) for x, y in inside + outside])
    assert [blue < 128 < red for red, _, blue in colours] == [True, True, False, False], colours


def test_a_quote_of_an_older_version_is_followed_into_the_current_one(page: Page) -> None:
    sentence = "The toll bridge at Ambleford took ninepence a cart in the summer of 1886."
    paper = Paper("Toll bridge.pdf", sentence, "What did the toll bridge take a cart?", plain(sentence))
    steps.upload(page, paper)
    steps.ask(page, paper.question)
    chat = page.url
    page.goto("/library")
    page.get_by_role("checkbox", name=f"Select {paper.name}").wait_for()
    moved = Paper(paper.name, sentence, paper.question, long(sentence, 3, 3))
    steps.drop(page, steps.pdf_file(moved))
    page.get_by_role("button", name="New version").click()
    page.locator('[class*="st-key-file-ready"]').filter(has_text=paper.name).wait_for(timeout=steps.READING_MS)
    page.goto(chat)
    page.locator(".answer [data-later]").first.click()
    expect(page.get_by_label("Page", exact=True)).to_have_value("3")
    assert len(steps.lit(page, 3)) == len(moved.boxes())

"""Reading in the viewer: pages, zoom, text; and that every page of the app fits into the window."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e import steps
from tests.e2e.conftest import visit
from tests.e2e.papers import Paper, long

SENTENCE = "The windmill grinds mustard on every second Thursday."


@pytest.fixture(scope="module")
def book(browser: Browser, base_url: str) -> Paper:
    """A paper long enough to turn pages in, brought in."""
    paper = Paper("windmill.pdf", SENTENCE, "When does the windmill grind mustard?", long(SENTENCE, 40, 30))
    with visit(browser, base_url) as page:
        steps.upload(page, paper)
    return paper


def wait_until_sharp(page: Page, number: int) -> None:
    """Wait for a picture of the page with a pixel for each pixel of the screen."""
    page.wait_for_function(
        """number => {
            const viewer = [...document.querySelectorAll("*")].map(node => node.shadowRoot).find(
                root => root?.querySelector(".viewer"));
            const image = viewer.querySelector(`.page[data-page="${number}"] img`);
            if (!image) return false;
            const shown = image.getBoundingClientRect().width * window.devicePixelRatio;
            return Math.abs(image.naturalWidth / shown - 1) < 0.02;
        }""",
        arg=number,
    )


def test_pages_are_turned_and_zoomed_sharply(page: Page, book: Paper) -> None:
    steps.ask(page, book.question)
    number = page.get_by_label("Page", exact=True)
    expect(number).to_have_value("30")
    page.get_by_role("button", name="Next page").click()
    expect(number).to_have_value("31")
    page.get_by_role("button", name="Previous page").click()
    page.get_by_role("button", name="Previous page").click()
    expect(number).to_have_value("29")
    steps.open_page(page, 12)
    wait_until_sharp(page, 12)
    for _ in range(4):
        page.get_by_role("button", name="Zoom in").click()
    wait_until_sharp(page, 12)
    page.get_by_role("button", name="Fit page").click()
    expect(number).to_have_value("12")
    wait_until_sharp(page, 12)


def test_text_of_a_page_can_be_selected(page: Page, book: Paper) -> None:
    steps.ask(page, book.question)
    line = page.locator('.page[data-page="30"] .line').filter(has_text="grinds mustard")
    expect(line).to_have_text(book.sentence)
    line.dblclick()
    assert page.evaluate("window.getSelection().toString()").strip() in book.sentence


def test_conversation_survives_a_reload(page: Page, book: Paper) -> None:
    question = "On which Thursdays does the windmill grind mustard?"
    answer = steps.ask(page, question)
    page.reload()
    answer.locator(".source").first.click()
    steps.lit(page, 30)
    expect(page.get_by_text(question).first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_into_the_window(page: Page, book: Paper, scheme: str) -> None:
    steps.ask(page, book.question)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for path, landmark in {
        page.url: ".source",
        "/upload": '[data-testid="stFileUploader"]',
        "/library": '[data-testid="stDataFrame"]',
        "/index": '[data-testid="stMetric"]',
    }.items():
        page.goto(path)
        page.locator(landmark).first.wait_for()
        overflow = page.get_by_test_id("stMain").evaluate("main => main.scrollHeight - main.clientHeight")
        assert overflow <= 0, path

"""Reading in the viewer: pages, zoom, text; and that every page of the app fits into the window."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e import steps
from tests.e2e.conftest import visit
from tests.e2e.papers import Paper, long, of_many_sizes, plain

SHEEP = {"Aurora": 48, "Celeste": 31}
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


STANDS = """() => {
    const { viewer } = [...document.querySelectorAll("*")].map(node => node.shadowRoot).find(
        root => root?.querySelector(".viewer")).querySelector(".viewer");
    const [desk, at] = [viewer.scroller, viewer.scroller.getBoundingClientRect()];
    return viewer.sheets.flatMap((sheet, index) => {
        const own = sheet.getBoundingClientRect();
        return [own.left - at.left + desk.scrollLeft - viewer.left(index + 1),
                own.top - at.top + desk.scrollTop - viewer.top(index + 1)];
    });
}"""
"""How far each page of the viewer stands from where the viewer takes it to stand, in pixels."""


ROOM = """() => {
    const { viewer } = [...document.querySelectorAll("*")].map(node => node.shadowRoot).find(
        root => root?.querySelector(".viewer")).querySelector(".viewer");
    const [own, at] = [viewer.sheets[viewer.page - 1], viewer.scroller].map(node => node.getBoundingClientRect());
    return [own.left - at.left, at.right - own.right];
}"""
"""The pixels left and right of the page that is read."""


def test_pages_of_all_sizes_stand_where_they_are_taken_to_stand(page: Page) -> None:
    steps.upload(page, Paper("sizes.pdf", "", "", of_many_sizes(100)))
    page.goto("/library")
    page.get_by_role("button", name="sizes.pdf").click()
    page.locator('.page[data-page="1"] img').wait_for()
    assert max(map(abs, page.evaluate(STANDS))) < 2
    assert min(page.evaluate(ROOM)) > 0, "it fits, though others are wider"
    for _ in range(5):
        page.get_by_role("button", name="Zoom in").click()  # until they are wider than the window
    steps.open_page(page, 90)
    expect(page.locator('.page[data-page="90"] img')).to_be_in_viewport()
    assert max(map(abs, page.evaluate(STANDS))) < 2


def test_text_of_a_page_can_be_selected(page: Page, book: Paper) -> None:
    steps.ask(page, book.question)
    line = page.locator('.page[data-page="30"] .line').filter(has_text="grinds mustard")
    expect(line).to_have_text(book.sentence)
    line.dblclick()
    assert page.evaluate("window.getSelection().toString()").strip() in book.sentence


def test_a_citation_of_the_open_document_is_lit_by_the_browser_alone(page: Page, book: Paper) -> None:
    answer = steps.ask(page, book.question)
    steps.lit(page, 30)
    steps.open_page(page, 12)
    page.context.set_offline(True)
    steps.cite(answer, book)
    expect(page.get_by_label("Page", exact=True)).to_have_value("30")
    assert steps.lit(page, 30)


def test_arrows_walk_citations_and_a_slash_goes_to_the_question(page: Page) -> None:
    sentences = {name: f"The ferry {name} carries at most {count} sheep." for name, count in SHEEP.items()}
    steps.upload(page, *(Paper(f"{name}.pdf", said, "", plain(said)) for name, said in sentences.items()))
    answer = steps.ask(page, "How many sheep do the ferries Aurora and Celeste carry?")
    chips = answer.locator(".text .chip")
    expect(chips.nth(1)).to_be_visible()
    steps.rest(page)
    answer.locator(".text").click()
    for key, lit in (("ArrowRight", 1), ("ArrowLeft", 0)):
        page.keyboard.press(key)
        expect(chips.nth(lit)).to_have_class(re.compile("active"))
    page.keyboard.press("/")
    expect(page.get_by_placeholder("Ask about your documents")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_placeholder("Ask about your documents")).to_have_value("/")


def test_words_are_found_and_marked_where_they_stand(page: Page, book: Paper) -> None:
    steps.ask(page, book.question)
    steps.lit(page, 30)  # the answer has moved the reader
    steps.open_page(page, 12)
    page.locator(".pages").focus()
    page.keyboard.press("f")
    page.get_by_label("Words to find").fill("GRINDS  mustard")
    expect(page.locator(".tally")).to_have_text("1 of 1")
    expect(page.get_by_label("Page", exact=True)).to_have_value("30")
    ((number, box),) = book.boxes()
    hit = page.locator(f'.page[data-page="{number}"] .mark.hit.now')
    x, y, width, height = (float(hit.evaluate(f"node => node.style.getPropertyValue('--{name}')")) for name in "xywh")
    assert box.x0 < x < x + width < box.x1
    assert box.y0 - 1 <= y < y + height <= box.y1 + 1
    page.keyboard.press("Escape")
    expect(page.locator(".mark.hit")).to_have_count(0)


def test_a_note_is_kept_and_a_link_leads_to_its_words(page: Page, book: Paper) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    steps.ask(page, book.question)
    line = page.locator('.page[data-page="30"] .line').filter(has_text="grinds mustard")
    line.click(click_count=3)
    page.get_by_role("button", name="Note", exact=True).click()
    note = page.get_by_role("textbox", name="Note")
    note.fill("Ask the miller.")
    note.press("Tab")
    expect(page.locator('.page[data-page="30"] .mark.own.noted').first).to_be_visible()
    page.get_by_role("button", name="Copy a link to here").click()
    expect(page.locator(".notice")).to_have_text("Link copied")
    page.goto(page.evaluate("navigator.clipboard.readText()"))
    lit = steps.lit(page, 30)
    ((_, box),) = book.boxes()
    assert lit[0].x0 >= box.x0 - 1
    assert lit[0].x1 <= box.x1 + 1
    expect(page.locator('.page[data-page="30"] .mark.own.noted').first).to_be_visible()
    page.locator(".pages").focus()
    page.keyboard.press("m")
    expect(page.get_by_role("textbox", name="Note")).to_have_value("Ask the miller.")
    page.get_by_role("textbox", name="Note").fill("x" * 4001)
    page.get_by_role("textbox", name="Note").press("Tab")
    expect(page.locator(".notice")).to_contain_text("Text has 4,001 characters, but at most 4,000 are possible")
    expect(page.get_by_role("textbox", name="Note")).to_have_value("x" * 4001)
    page.get_by_role("button", name="Delete").last.click()
    expect(page.locator(".mark.own")).to_have_count(0)


def test_on_a_phone_a_citation_brings_its_page_up(page: Page, book: Paper) -> None:
    answer = steps.ask(page, book.question)
    page.set_viewport_size({"width": 390, "height": 844})
    quote = page.locator('.page[data-page="30"] .mark.quote').first
    expect(quote).not_to_be_visible()
    steps.cite(answer, book)
    expect(quote).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(quote).not_to_be_visible()


def test_the_columns_keep_the_widths_that_they_are_given(page: Page, book: Paper) -> None:
    steps.ask(page, book.question)
    handle = page.get_by_role("separator", name="Width of the document")
    handle.focus()
    for _ in range(3):
        handle.press("ArrowLeft")
    chosen = int(handle.get_attribute("aria-valuenow") or 0)
    page.reload()
    expect(handle).to_have_attribute("aria-valuenow", str(chosen))
    assert chosen < 45


def test_every_page_fits_into_the_window(page: Page, book: Paper) -> None:
    steps.ask(page, book.question)
    for path, landmark in {
        page.url: ".source",
        "/library": ".documents tbody tr",
        "/index": '[data-testid="stMetric"]',
    }.items():
        page.goto(path)
        page.locator(landmark).first.wait_for()
        for dark in (False, True):
            page.emulate_media(color_scheme="dark" if dark else "light")
            overflow = page.get_by_test_id("stMain").evaluate("main => main.scrollHeight - main.clientHeight")
            assert overflow <= 0, (path, dark)

"""Asking in a browser: an answer is stopped, a question is too long, and chats are managed with a finger."""

from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.e2e import steps
from tests.e2e.conftest import visit
from tests.e2e.papers import Paper, plain
from tests.vendor_servers import Endless, VendorServer

PHONE: ViewportSize = {"width": 390, "height": 844}


def test_an_answer_is_stopped_and_what_was_said_stays(browser: Browser, base_url: str, ollama: VendorServer) -> None:
    sentence = "The ferryman sold apples on the quay in the autumn of 1911."
    paper = Paper("Ferryman.pdf", sentence, "What did the ferryman sell on the quay?", plain(sentence))
    with visit(browser, base_url) as page:
        steps.upload(page, paper)
        with steps.written_by_ollama(page):
            _stop(page, paper.question, ollama)


def _stop(page: Page, question: str, ollama: VendorServer) -> None:
    ollama.faults.append(Endless())
    page.goto("/")
    field = page.get_by_placeholder("Ask about your documents")
    field.fill(question)
    field.press("Enter")
    expect(page.locator(".pending")).to_contain_text("Apples")
    page.get_by_role("button", name="Stop").click()
    answer = page.locator(".answer")
    expect(answer.locator("footer")).to_contain_text("Stopped")
    expect(answer.locator(".text")).to_contain_text("Apples Apples")
    assert ollama.left.wait(60)  # nobody goes on paying for it
    expect(field).to_be_enabled()


def test_a_long_name_is_shortened_and_leaves_the_page_to_be_read(page: Page) -> None:
    sentence = "The glassblower sold lanterns at the fair in the spring of 1907."
    name = f"{'Records_of_the_fair_' * 6}.pdf"
    paper = Paper(name, sentence, "What did the glassblower sell at the fair?", plain(sentence))
    steps.upload(page, paper)
    page.set_viewport_size(PHONE)
    where = steps.ask(page, paper.question).locator(".where").first
    name_is_cut, place_is_cut = (
        where.locator(part).evaluate("node => node.scrollWidth > node.clientWidth") for part in ("b", ".page-label")
    )
    assert name_is_cut
    assert not place_is_cut
    expect(where.locator(".page-label")).to_contain_text("p. 1")
    expect(where.locator(".page-label")).to_be_in_viewport(ratio=1)


def test_chats_are_managed_without_a_mouse(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/")
    page.get_by_test_id("stExpandSidebarButton").click()
    menu = page.locator('[class*="st-key-menu-"]').first
    expect(menu).not_to_have_css("opacity", "0")
    menu.get_by_role("button").click()
    page.get_by_text("Pin", exact=True).click()
    expect(page.locator('[class*="st-key-open-"]').first.get_by_test_id("stIconMaterial")).to_have_text("keep")


def test_a_document_that_is_added_elsewhere_leaves_an_open_dialog(browser: Browser, base_url: str, page: Page) -> None:
    def paper(kind: str) -> Paper:
        sentence = f"The {kind} sold ropes at the pier in the summer of 1905."
        return Paper(f"{kind}.pdf", sentence, f"What did the {kind} sell at the pier?", plain(sentence))

    steps.upload(page, paper("Rigger"), paper("Caulker"))
    steps.ask(page, paper("Rigger").question)
    button = page.get_by_role("button", name="Sources: all")
    count = int(button.inner_text().rpartition(" ")[2])
    menu = page.locator('[class*="st-key-menu-"]').first
    menu.hover()
    menu.get_by_role("button").click()
    page.get_by_text("Rename", exact=True).click()
    title = page.get_by_role("dialog").get_by_label("Title")
    title.fill("Ropes")
    with visit(browser, base_url) as other:
        steps.upload(other, paper("Sailmaker"))
    expect(page.locator('[data-testid="stApp"]')).to_contain_text(f"Sources: all {count + 1}")
    expect(title).to_have_value("Ropes")


def test_sources_are_ticked_by_the_keyboard_and_their_panel_stays_closed(page: Page) -> None:
    sentence = "The lamplighter sold candles at the gate in the winter of 1903."
    steps.upload(page, Paper("Lamps.pdf", sentence, "What did the lamplighter sell?", plain(sentence)))
    page.goto("/")
    panel, button = page.locator(".st-key-sources"), page.get_by_role("button", name="Sources:")
    expect(button).to_contain_text("Sources: all")
    button.click()
    panel.get_by_text("All documents").click()
    expect(button).to_contain_text("Sources: 0 of")
    expect(page.get_by_placeholder("Ask about your documents")).to_be_disabled()
    panel.get_by_placeholder("Search sources").fill("lamps")
    page.keyboard.press("Enter")
    steps.rest(page)  # what is found takes the place of the list
    box = panel.get_by_role("checkbox", name="Lamps.pdf")
    box.focus()
    page.keyboard.press("Space")
    expect(button).to_contain_text("Sources: 1 of")
    expect(box).to_be_focused()
    button.click()
    expect(panel).to_be_hidden()
    page.reload()
    expect(button).to_contain_text("Sources: 1 of")
    expect(panel).to_be_hidden()
    page.set_viewport_size(PHONE)
    button.click()
    expect(panel).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(button).to_be_focused()

"""An answer goes on while its page is reloaded."""

import threading

from playwright.sync_api import Browser, Page, expect

from tests.e2e import steps
from tests.e2e.conftest import visit
from tests.e2e.papers import Paper, plain
from tests.vendor_servers import Paused, VendorServer

SENTENCE = "The ferryman sold apples on the quay in the autumn of 1911."
PAPER = Paper("Ferryman at the quay.pdf", SENTENCE, "What did the ferryman sell on the quay?", plain(SENTENCE))


def _ask(page: Page) -> None:
    page.goto("/")
    field = page.get_by_placeholder("Ask about your documents")
    field.fill(PAPER.question)
    field.press("Enter")
    expect(page.locator(".pending")).to_contain_text("Apples")


def test_an_answer_goes_on_through_a_reload_and_in_a_second_tab(
    browser: Browser, base_url: str, ollama: VendorServer
) -> None:
    with visit(browser, base_url) as page:
        steps.upload(page, PAPER)
        with steps.written_by_ollama(page):
            released = threading.Event()
            ollama.faults.append(Paused(1, released))
            before = len(ollama.requests)
            _ask(page)
            page.reload()
            expect(page.locator(".pending")).to_contain_text("Apples")
            second = page.context.new_page()
            second.goto(page.url)
            expect(second.locator(".pending")).to_contain_text("Apples")
            expect(second.get_by_placeholder("Ask about your documents")).to_be_disabled()
            released.set()
            for tab in (page, second):
                expect(tab.locator(".answer .text")).to_contain_text("Apples are red")
                expect(tab.locator(".answer")).to_have_count(1)
                expect(tab.get_by_placeholder("Ask about your documents")).to_be_enabled()
                expect(tab.get_by_text("This question has no answer")).to_have_count(0)
            second.close()
            assert len([body for body in ollama.bodies[before:] if body.get("stream")]) == 1

"""Asking in a browser: an answer is stopped, or judged while it is shown, and chats are managed with a finger."""

import json
import threading

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from benchmarks.processes import free_port
from tests import vendor_servers
from tests.e2e import steps
from tests.e2e.axe import Audit
from tests.e2e.conftest import running, visit
from tests.e2e.papers import Paper, plain
from tests.vendor_servers import Endless, Held, VendorServer

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


@pytest.mark.expected_errors("at most 4,000 are possible")
def test_a_question_that_is_too_long_stays_in_its_field_with_the_reason(page: Page) -> None:
    sentence = "The ropewalk wound hemp for the fleet in the winter of 1898."
    paper = Paper("Ropewalk.pdf", sentence, "What did the ropewalk wind for the fleet?", plain(sentence))
    steps.upload(page, paper)
    page.goto("/")
    field = page.get_by_placeholder("Ask about your documents")
    question = "What was wound? " * 300
    field.fill(question)
    expect(field).to_have_value(question)
    field.press("Enter")
    reason = page.get_by_text("The question has 4,799 characters, but at most 4,000 are possible.")
    for part in (reason, field):
        expect(part).to_be_in_viewport(ratio=1)
    expect(field).to_have_value(question)
    field.fill(paper.question)
    field.press("Enter")
    asked = page.locator('[class*="st-key-question-"]')
    expect(asked).to_have_text(paper.question)
    page.locator(".answer").locator(".source").first.wait_for()
    expect(reason).to_have_count(0)
    asked.hover()
    page.get_by_role("button", name="edit").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill(question)
    dialog.get_by_role("button", name="Ask").click()
    expect(dialog.get_by_text("The question has 4,799 characters")).to_be_visible()
    expect(dialog.get_by_role("textbox")).to_have_value(question)


def judged(*verdicts: str) -> str:
    """The reply of a model that judges claims."""
    replies = [{"claim": i, "words": [], "missing": "", "verdict": each} for i, each in enumerate(verdicts, start=1)]
    return json.dumps({"verdicts": replies})


def test_final_verdicts_take_the_place_of_those_before(browser: Browser, external_database_url: str | None) -> None:
    sentence = "The ferryman sold apples on the quay in the autumn of 1911."
    paper = Paper("Ferryman.pdf", sentence, "What did the ferryman sell on the quay?", plain(sentence))
    judging = threading.Event()
    with vendor_servers.openai_server() as model:
        model.faults += [None, Held(judging)]
        model.replies += [
            "The ferryman sold apples on the quay [S1]. Fruit was for sale by the water [S1].",
            judged("supported", "supported"),
        ]
        settings = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": model.url, "RAG_EMBED_MODEL": "local"}
        with running(free_port(), external_database_url, settings) as url, visit(browser, url) as page:
            steps.upload(page, paper)
            answer = steps.ask(page, paper.question)
            expect(page.get_by_text("A model judges what is said in other words")).to_be_visible()
            expect(answer.locator(".mark")).to_have_text(["✓", "…"])
            line = answer.locator(".verification summary")
            expect(line).to_have_text("Being checked … 1 of 2 sentences verified so far")
            expect(answer.locator(".text .chip.active")).to_have_count(1)
            answer.evaluate("node => { node.dataset.seen = 'before' }")
            judging.set()
            expect(answer.locator(".mark")).to_have_text(["✓", "✓"])
            expect(line).to_have_text("All 2 sentences verified")
            expect(answer).to_have_attribute("data-seen", "before")
            expect(answer.locator(".text .chip.active")).to_have_count(1)
            expect(page.get_by_text("A model judges what is said in other words")).to_have_count(0)
            expect(page.get_by_placeholder("Ask about your documents")).to_be_enabled()


def test_a_mark_opens_its_reason_and_a_card_its_quotes(browser: Browser, external_database_url: str | None) -> None:
    sentence = "The cooper sold barrels on the quay in the autumn of 1913."
    paper = Paper("Cooper.pdf", sentence, "What did the cooper sell on the quay?", plain(sentence))
    with vendor_servers.openai_server() as model:
        model.replies += [
            "The cooper sold barrels on the quay [S1]. In the autumn of 1913 they were sold [S1]. It rained for weeks.",
            judged("supported", "supported", "not_stated"),
        ]
        settings = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": model.url, "RAG_EMBED_MODEL": "local"}
        with running(free_port(), external_database_url, settings) as url, visit(browser, url) as page:
            steps.upload(page, paper)
            answer = steps.ask(page, paper.question)
            reason = answer.locator(".verification .asked .reason")
            expect(reason).to_have_count(0)
            answer.locator("button.mark").last.click()
            expect(reason).to_be_visible()
            (head,) = answer.locator(".source").all()
            expect(answer.locator(".quote").first).to_be_hidden()
            head.click()
            expect(head).to_have_attribute("aria-expanded", "true")
            expect(answer.locator(".quote").first).to_contain_text("The cooper sold barrels")
            audit = Audit(page)
            audit.look("answer, opened", phone=True)
            assert not audit.findings, audit.findings


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

"""Answers of a language model in a browser: sentences are judged while the answer is shown; a mark has a reason."""

import json
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.processes import free_port
from tests import vendor_servers
from tests.e2e import steps
from tests.e2e.axe import Audit
from tests.e2e.conftest import running, visit
from tests.e2e.papers import Paper, plain
from tests.vendor_servers import Held, VendorServer


@pytest.fixture(scope="module")
def model() -> Iterator[VendorServer]:
    with vendor_servers.openai_server() as model:
        yield model


@pytest.fixture(scope="module")
def base_url(external_database_url: str | None, model: VendorServer) -> Iterator[str]:
    settings = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": model.url, "RAG_EMBED_MODEL": "local"}
    with running(free_port(), external_database_url, settings) as url:
        yield url


@pytest.fixture
def page(browser: Browser, base_url: str) -> Iterator[Page]:
    with visit(browser, base_url) as page:
        yield page


def judged(*verdicts: str) -> str:
    """The reply of a model that judges claims."""
    replies = [{"claim": i, "words": [], "missing": "", "verdict": each} for i, each in enumerate(verdicts, start=1)]
    return json.dumps({"verdicts": replies})


def test_final_verdicts_take_the_place_of_those_before(page: Page, model: VendorServer) -> None:
    sentence = "The ferryman sold apples on the quay in the autumn of 1911."
    paper = Paper("Ferryman.pdf", sentence, "What did the ferryman sell on the quay?", plain(sentence))
    judging = threading.Event()
    model.faults += [None, Held(judging)]
    model.replies += [
        "The ferryman sold apples on the quay [S1]. Fruit was for sale by the water [S1].",
        judged("supported", "supported"),
    ]
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


def test_a_mark_opens_its_reason_and_a_card_its_quotes(page: Page, model: VendorServer) -> None:
    sentence = "The cooper sold barrels on the quay in the autumn of 1913."
    paper = Paper("Cooper.pdf", sentence, "What did the cooper sell on the quay?", plain(sentence))
    model.replies += [
        "The cooper sold barrels on the quay [S1]. In the autumn of 1913 they were sold [S1]. It rained for weeks.",
        judged("supported", "supported", "not_stated"),
    ]
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

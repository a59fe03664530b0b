"""The first minutes of a new user: a document is added, the chat opened before anything is prepared."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.processes import free_port
from tests.e2e import steps
from tests.e2e.conftest import running, visit
from tests.e2e.papers import Paper, plain

HALF_A_MINUTE_MS = 30_000
SENTENCE = "The lighthouse keeper counted 214 herons on the mole in the winter of 1923."
PAPER = Paper("Herons.pdf", SENTENCE, "How many herons did the lighthouse keeper count?", plain(SENTENCE))


@pytest.fixture
def page(browser: Browser, external_database_url: str | None) -> Iterator[Page]:
    """A visitor of an app of its own, which has loaded and cached nothing yet."""
    with running(free_port(), external_database_url, {}) as url, visit(browser, url) as visitor:
        yield visitor


@pytest.mark.long
def test_the_empty_chat_shows_no_error_while_its_questions_are_looked_for(page: Page) -> None:
    page.goto("/library")
    steps.drop(page, steps.pdf_file(PAPER))
    page.locator('[class*="st-key-file-"]').filter(has_text=PAPER.name).wait_for()
    page.get_by_role("link", name="Chat").click()
    page.get_by_text("Ask your documents").wait_for()
    page.wait_for_timeout(HALF_A_MINUTE_MS)
    expect(page.get_by_text("Ask your documents")).to_be_visible()
    assert steps.ask(page, PAPER.question).locator(".source").count() > 0

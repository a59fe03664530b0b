"""The map of the index page: a point that is clicked opens its chunk, and nothing for it is fetched elsewhere."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e import steps
from tests.e2e.conftest import visit
from tests.e2e.papers import Paper, long

SENTENCE = "The lighthouse keeper counts cormorants before breakfast."


@pytest.fixture(scope="module")
def atlas(browser: Browser, base_url: str) -> Paper:
    """A paper of several chunks, brought in."""
    paper = Paper("cormorants.pdf", SENTENCE, "What does the keeper count?", long(SENTENCE, 8, 5))
    with visit(browser, base_url) as page:
        steps.upload(page, paper)
    return paper


def test_a_point_of_the_map_opens_its_chunk(page: Page, atlas: Paper) -> None:
    page.goto("/index")
    page.get_by_role("radio", name="Map").click()
    points = page.locator('[data-testid="stVegaLiteChart"] .mark-symbol.role-mark path')
    points.first.wait_for()
    assert points.count() >= 8  # no page shares a chunk with the next
    expect(page.get_by_text("Click a point to see its chunk")).to_be_visible()
    points.last.click()
    page.locator(".mark.passage").first.wait_for()
    expect(page.get_by_text("Click a point to see its chunk")).to_have_count(0)

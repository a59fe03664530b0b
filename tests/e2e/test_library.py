"""Throwing a document away, and getting it back."""

from playwright.sync_api import Page, expect

from tests.e2e import steps
from tests.e2e.papers import Paper, plain

SENTENCE = "The ferry carries at most 48 sheep and one shepherd."
PAPER = Paper("ferry rules.pdf", SENTENCE, "How many sheep does the ferry carry?", plain(SENTENCE))
ROW_HEIGHT_PX = 35


def select_first_row(page: Page) -> None:
    """Tick the table's first row: the table is drawn on a canvas, so by its place."""
    table = page.get_by_test_id("stDataFrame")
    table.wait_for()
    table.click(position={"x": 16, "y": 1.5 * ROW_HEIGHT_PX})


def show(page: Page, view: str) -> None:
    page.get_by_test_id("stButtonGroup").get_by_text(view, exact=True).click()


def test_delete_undo_restore_and_purge(page: Page) -> None:
    steps.upload(page, PAPER)
    page.goto("/library")
    page.get_by_placeholder("Search by name").fill("ferry")
    page.get_by_placeholder("Search by name").press("Enter")

    select_first_row(page)
    page.get_by_role("button", name="Delete").click()
    notice = page.get_by_text("to the trash.")
    expect(notice).to_contain_text(PAPER.name)
    expect(page.get_by_text("No such document")).to_be_visible()

    page.get_by_role("button", name="Undo").click()
    expect(notice).to_be_hidden()
    expect(page.get_by_text("No such document")).to_be_hidden()

    select_first_row(page)
    page.get_by_role("button", name="Delete").click()
    show(page, "Trash")
    select_first_row(page)
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()
    assert steps.ask(page, PAPER.question).get_by_text("48 sheep").first.is_visible()

    page.goto("/library")
    page.get_by_placeholder("Search by name").fill("ferry")
    page.get_by_placeholder("Search by name").press("Enter")
    select_first_row(page)
    page.get_by_role("button", name="Delete").click()
    show(page, "Trash")
    select_first_row(page)
    page.get_by_role("button", name="Delete for good").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete 1 document").click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()


def test_same_content_is_named_as_such(page: Page) -> None:
    steps.upload(page, PAPER)
    files = {"name": "copy.pdf", "mimeType": "application/pdf", "buffer": PAPER.content}
    page.locator("input[type=file]").set_input_files(files)
    expect(page.get_by_text("Same content as")).to_contain_text("in the library already")

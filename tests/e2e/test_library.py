"""Throwing a document away, and getting it back."""

from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.e2e import steps
from tests.e2e.papers import Paper, plain

ROW_HEIGHT_PX = 34


def paper(ferry: str) -> Paper:
    sentence = f"The ferry {ferry} carries at most 48 sheep and one shepherd."
    return Paper(f"{ferry} rules.pdf", sentence, f"How many sheep does the ferry {ferry} carry?", plain(sentence))


def delete(page: Page, name: str) -> Locator:
    """Find a document in the library and delete it; gives the notice."""
    page.goto("/library")
    page.get_by_placeholder("Search by name").fill(name)
    page.get_by_placeholder("Search by name").press("Enter")
    select_only_row(page, name)
    page.get_by_role("button", name="Delete").click()
    notice = page.get_by_text("to the trash.")
    expect(notice).to_contain_text(name)
    expect(page.get_by_text("No such document")).to_be_visible()
    return notice


def select_only_row(page: Page, name: str) -> None:
    """Tick the row of a table of one: it is drawn on a canvas, so by its place."""
    table = page.get_by_test_id("stDataFrame")
    expect(table).to_have_count(1)
    expect(table.get_by_test_id("glide-cell-1-0")).to_have_text(name)
    expect(table.get_by_test_id("glide-cell-1-1")).to_have_count(0)
    table.click(position={"x": 16, "y": 1.5 * ROW_HEIGHT_PX})


def open_trash(page: Page) -> None:
    page.get_by_test_id("stButtonGroup").get_by_text("Trash", exact=True).click()
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
    expect(page.get_by_placeholder("Search by name")).to_be_hidden()


def test_deletion_can_be_undone(page: Page) -> None:
    rules = paper("Aurora")
    steps.upload(page, rules)
    notice = delete(page, rules.name)
    page.get_by_role("button", name="Undo").click()
    expect(notice).to_be_hidden()
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()


def test_trash_gives_back_and_throws_away(page: Page) -> None:
    rules = paper("Borealis")
    steps.upload(page, rules)
    delete(page, rules.name)
    open_trash(page)
    select_only_row(page, rules.name)
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()
    expect(steps.ask(page, rules.question).get_by_text("48 sheep").first).to_be_visible()

    delete(page, rules.name)
    open_trash(page)
    select_only_row(page, rules.name)
    page.get_by_role("button", name="Delete for good").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete 1 document").click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()


def test_same_content_is_named_as_such(page: Page) -> None:
    rules = paper("Celeste")
    steps.upload(page, rules)
    steps.drop(page, FilePayload(name="copy.pdf", mimeType="application/pdf", buffer=rules.content))
    expect(page.get_by_text("Same content as")).to_contain_text("in the library already")

"""The glossary as it is typed into its table in a browser."""

from playwright.sync_api import Locator, Page, Position, expect

from tests.e2e import steps

HEADER, ROW = 34, 33
"""Heights of the table's head and of its rows in pixels: the grid is a picture, in which nothing has a name."""


def cell(table: Locator, column: float, row: int) -> Position:
    """The middle of a cell; `column` as a share of the table's width."""
    box = table.bounding_box()
    assert box
    return Position(x=column * box["width"], y=HEADER + (row + 0.5) * ROW)


def test_words_are_typed_saved_tried_and_removed(page: Page) -> None:
    page.goto("/glossary")
    save = page.get_by_role("button", name="Save")
    expect(save).to_be_disabled()
    table = page.get_by_test_id("stDataFrame")
    table.dblclick(position=cell(table, 0.2, 0))
    editor = page.locator('[id^="gdg-overlay"]')
    field = editor.locator("textarea, input").first
    expect(field).to_be_focused()
    page.keyboard.type("moggy", delay=30)
    expect(field).to_have_value("moggy")
    page.keyboard.press("Tab")
    expect(save).to_be_enabled()
    steps.rest(page)
    page.keyboard.press("Enter")
    for name in ("quayside crane", "gantry, large"):
        expect(field).to_be_focused()
        page.keyboard.type(name, delay=30)
        page.keyboard.press("Enter")
        expect(editor.get_by_text(name, exact=True)).to_be_visible()
    page.get_by_text("Try a question").click()
    steps.rest(page)
    save.click()
    expect(save).to_be_disabled()
    field = page.get_by_placeholder("What is our quick ratio in FY23?")
    field.fill("Where do the moggies stand?")
    field.press("Enter")
    expect(page.get_by_text("quayside crane · gantry, large")).to_be_visible()
    page.get_by_test_id("stButtonGroup").get_by_text("File", exact=True).click()
    expect(page.get_by_text('terms = ["moggy", "quayside crane", "gantry, large"]')).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Remove the glossary").click()
    expect(page.get_by_text("No term matches")).to_be_visible()
    expect(page.get_by_role("button", name="Download")).to_have_count(0)

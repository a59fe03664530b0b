"""A matrix: made of some documents, a value opened on its page and reviewed by keys, taken along, and edited."""

import csv
import io

from openpyxl import load_workbook
from playwright.sync_api import Locator, Page, expect

from tests.e2e import steps
from tests.e2e.papers import Paper, plain

FIELD = "Net income"


def paper(crew: str, millions: int) -> Paper:
    sentence = f"Net income of ${millions} million was earned by Bramblehithe {crew} in 2021."
    return Paper(f"Bramblehithe {crew}.pdf", sentence, FIELD, plain(sentence))


OSPREY, PETREL, PLOVER = paper("Osprey", 341), paper("Petrel", 415), paper("Plover", 527)
SISKIN, SERIN, LINNET = paper("Siskin", 618), paper("Serin", 723), paper("Linnet", 811)


def test_a_matrix_is_made_opened_on_a_page_taken_along_and_edited(page: Page) -> None:
    steps.upload(page, OSPREY, PETREL, PLOVER)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/matrix")
    page.get_by_role("button", name="New matrix").click()
    paste(page, [FIELD])
    page.get_by_label("Name", exact=True).fill("Bramblehithe")
    page.get_by_role("combobox", name="Documents").press("Backspace")  # takes out the newest, which it begins with
    choose(page, OSPREY, PETREL)
    press(page, "Fill")
    expect(page.locator(".st-key-matrix-form")).to_be_hidden()
    filled(page)
    expect(cell(page, OSPREY)).to_contain_text("341")
    expect(cell(page, PETREL)).to_contain_text("415")
    assert [row[0] for row in exported(page)] == ["Document", OSPREY.name, PETREL.name]

    cell(page, OSPREY).get_by_role("button").click()
    (number, box), *others = OSPREY.boxes()
    assert others == []
    mark = steps.lit(page, number)[0]
    assert mark.x0 < box.x1 and box.x0 < mark.x1 and mark.y0 < box.y1 and box.y0 < mark.y1  # noqa: PT018

    usual = page.viewport_size
    assert usual
    page.set_viewport_size({"width": 390, "height": 844})
    shown = page.locator(".st-key-matrix-viewer").get_by_text(PETREL.name)
    expect(page.get_by_role("button", name="Document", exact=True)).to_be_visible()
    cell(page, PETREL).get_by_role("button").click()
    expect(shown).to_be_in_viewport(ratio=1)  # a phone brings it up, where the table would be above it
    page.get_by_role("button", name="Back to the answer").click()
    expect(shown).not_to_be_in_viewport()
    page.get_by_role("button", name="Document", exact=True).click()
    expect(shown).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    page.set_viewport_size(usual)

    page.get_by_role("button", name="Edit").click()
    choose(page, PLOVER)
    press(page, "Save")
    expect(page.locator(".st-key-matrix-form")).to_be_hidden()
    filled(page)
    assert [row[0] for row in exported(page)] == ["Document", OSPREY.name, PETREL.name, PLOVER.name]


def test_values_are_reviewed_by_keys_and_corrected_by_words_on_the_page(page: Page) -> None:
    steps.upload(page, SERIN)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/matrix")
    page.get_by_role("button", name="New matrix").click()
    paste(page, [FIELD, "Auditor", "Seat"])
    press(page, "Fill")
    filled(page)
    cell(page, SERIN).get_by_role("button").click()
    expect(selected(page)).to_contain_text("Net income")
    page.keyboard.press("c")
    field = page.get_by_label("Value", exact=True)
    expect(field).to_be_focused()
    page.locator(".st-key-matrix-correction").get_by_role("button", name="Cancel").focus()
    page.keyboard.press("r")  # which decides nothing while a value is written
    field.fill("a lot")
    page.keyboard.press("Enter")
    expect(cell(page, SERIN)).to_contain_text("a lot")
    cell(page, SERIN, "Auditor").get_by_role("button").click()
    page.keyboard.press("a")
    expect(cell(page, SERIN, "Auditor")).to_contain_text("✓")
    cell(page, SERIN, "Seat").get_by_role("button").click()
    page.keyboard.press("r")
    expect(cell(page, SERIN, "Seat")).to_contain_text("✗")
    expect(page.get_by_text("1 of 1 document reviewed")).to_be_visible()
    page.keyboard.press("u")
    expect(cell(page, SERIN, "Seat")).not_to_contain_text("✗")

    line = page.locator('.page[data-page="1"] .line').filter(has_text="Bramblehithe").first
    line.wait_for()
    line.select_text()
    page.get_by_role("button", name="Take as value").click()
    page.locator(".st-key-matrix-correction").get_by_role("button", name="Save").click()
    expect(cell(page, SERIN, "Seat")).to_contain_text("✎")
    with page.expect_download() as download:
        page.get_by_role("button", name="Excel").click()
    book = load_workbook(io.BytesIO(download.value.path().read_bytes()))
    values = [str(value) for row in book.worksheets[0].iter_rows(values_only=True) for value in row]
    assert any("a lot" in value for value in values)
    assert any(SERIN.sentence in value for value in values)


def test_keys_are_not_lost_that_are_pressed_before_the_next_value_is_shown(page: Page) -> None:
    steps.upload(page, LINNET)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/matrix")
    page.get_by_role("button", name="New matrix").click()
    fields = ["Auditor", "Seat", "Chair"]
    paste(page, fields)
    press(page, "Fill")
    filled(page)
    page.get_by_role("button", name="Edit").wait_for()
    cell(page, LINNET, fields[0]).get_by_role("button").click()
    for _ in fields:
        page.keyboard.press("a")
    for field in fields:
        expect(cell(page, LINNET, field)).to_contain_text("✓")


def test_fields_are_filled_that_were_pasted_a_moment_ago(page: Page) -> None:
    steps.upload(page, SISKIN)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.clock.install()
    page.goto("/matrix")
    page.get_by_role("button", name="New matrix").click()
    press(page, "Fill")
    expect(page.get_by_text("Write at least one field.")).to_be_visible()
    questions = ["What was the net income?", "In which year was it earned?"]
    paste(page, questions, is_paused=True)
    press(page, "Fill")
    page.clock.resume()
    expect(page.locator(".st-key-matrix-form")).to_be_hidden()
    filled(page)
    assert exported(page)[0] == ["Document", *questions, "To be reviewed"]


def paste(page: Page, lines: list[str], *, is_paused: bool = False) -> None:
    """Paste names of fields into the table of the form; with a clock that `is_paused` it does not tell of itself."""
    page.evaluate("text => navigator.clipboard.writeText(text)", "\n".join(lines))
    click_table(page.locator(".st-key-matrix-form"), x=120, y=50)
    if is_paused:
        page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.keyboard.press("Control+v")
    page.wait_for_timeout(500)


def click_table(place: Locator, x: int, y: int) -> None:
    """A table that is drawn takes no click before it has seen the pointer."""
    table = place.get_by_test_id("stDataFrame")
    table.hover(position={"x": x, "y": y})
    steps.rest(place.page)
    table.click(position={"x": x, "y": y})


def place(page: Page, field: str) -> str:
    """The id of a field."""
    headings = page.locator(".st-key-matrix-table thead th").all_inner_texts()
    number = next(number for number, heading in enumerate(headings) if heading.startswith(field))
    found = (
        page.locator(".st-key-matrix-table tbody tr").first.locator("td").nth(number - 1).get_attribute("data-field")
    )
    assert found
    return found


def cell(page: Page, of: Paper, field: str = FIELD) -> Locator:
    """The cell of a paper and field."""
    page.locator(".st-key-matrix-table td").first.wait_for()
    row = page.locator(".st-key-matrix-table tbody tr").filter(has_text=of.name)
    return row.locator(f'td[data-field="{place(page, field)}"]')


def selected(page: Page) -> Locator:
    """What stands beside the page of the selected cell."""
    return page.locator(".st-key-matrix-told")


def choose(page: Page, *papers: Paper) -> None:
    """Have these documents in the form that is open, beside those that it has; the list of others stays open."""
    form = page.locator(".st-key-matrix-form")
    field = form.get_by_role("combobox", name="Documents")
    for one in papers:
        if form.get_by_text(one.name, exact=True).count() == 0:
            field.fill(one.name)
            page.get_by_role("option", name=one.name).click()
            expect(form.get_by_text(one.name, exact=True)).to_be_visible()


def press(page: Page, name: str) -> None:
    """Click a button of the form once, as a user does over whose form a list may still be open.

    The table is loaded after the rest of the form and pushes the button down.
    """
    form = page.locator(".st-key-matrix-form")
    form.get_by_test_id("stDataFrame").wait_for()
    steps.rest(page)
    button = form.get_by_role("button", name=name, include_hidden=True)
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def filled(page: Page) -> None:
    """Wait until each value is there."""
    page.locator(".st-key-matrix-table td").first.wait_for()
    steps.rest(page)
    expect(page.get_by_role("progressbar")).to_be_hidden(timeout=steps.READING_MS)


def exported(page: Page) -> list[list[str]]:
    """The matrix as it is taken along."""
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    return [*csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig")))]

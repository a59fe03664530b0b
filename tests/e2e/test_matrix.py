"""A matrix: made of some documents, an answer of it opened on its page, taken along, and edited."""

import csv
import io

from playwright.sync_api import Locator, Page, expect

from tests.e2e import steps
from tests.e2e.papers import Paper, plain

QUESTION, NUMBER = "What was the net income in the latest fiscal year?", 1
"""Of the first template."""
FIRST_COLUMN_X, COLUMN_PX, FIRST_ROW_Y, ROW_PX = 150 + 60, 230, 35 + 38, 76
"""Pixels from the corner of the table, which is drawn: as wide and high as its columns and rows are made."""


def paper(crew: str, millions: int) -> Paper:
    sentence = f"Net income of ${millions} million was earned by Bramblehithe {crew} in 2021."
    return Paper(f"Bramblehithe {crew}.pdf", sentence, QUESTION, plain(sentence))


OSPREY, PETREL, PLOVER = paper("Osprey", 341), paper("Petrel", 415), paper("Plover", 527)
SISKIN = paper("Siskin", 618)


def test_a_matrix_is_made_opened_on_a_page_taken_along_and_edited(page: Page) -> None:
    steps.upload(page, OSPREY, PETREL, PLOVER)
    page.goto("/matrix")
    page.get_by_role("button", name="New matrix").click()
    choose_template(page)
    page.get_by_label("Name", exact=True).fill("Bramblehithe")
    page.get_by_role("combobox", name="Documents").press("Backspace")  # takes out the newest, which it begins with
    choose(page, OSPREY, PETREL)
    press(page, "Ask")
    expect(page.locator(".st-key-matrix-form")).to_be_hidden()
    rows = exported(page)
    assert [row[0] for row in rows] == ["Document", OSPREY.name, PETREL.name]
    assert rows[0][1 + NUMBER] == QUESTION
    assert rows[1][1 + NUMBER] == f"{OSPREY.sentence} [p. 1]"
    assert "$415 million" in rows[2][1 + NUMBER]

    click_cell(page, 0, NUMBER)
    expect(page.get_by_text("Quoted word for word.")).to_be_visible()
    (number, box), *others = OSPREY.boxes()
    assert others == []
    mark = steps.lit(page, number)[0]
    assert mark.x0 < box.x1 and box.x0 < mark.x1 and mark.y0 < box.y1 and box.y0 < mark.y1  # noqa: PT018

    usual = page.viewport_size
    assert usual
    page.set_viewport_size({"width": 390, "height": 844})
    shown = page.locator(".st-key-matrix-viewer").get_by_text(PETREL.name)
    expect(page.get_by_role("button", name="Document", exact=True)).to_be_visible()
    click_cell(page, 1, 0)
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
    assert [row[0] for row in exported(page)] == ["Document", OSPREY.name, PETREL.name, PLOVER.name]


def test_questions_are_asked_that_were_pasted_a_moment_ago(page: Page) -> None:
    steps.upload(page, SISKIN)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.clock.install()
    page.goto("/matrix")
    page.get_by_role("button", name="New matrix").click()
    press(page, "Ask")
    expect(page.get_by_text("Write at least one question.")).to_be_visible()
    questions = ["What was the net income?", "In which year was it earned?"]
    page.evaluate("text => navigator.clipboard.writeText(text)", "\n".join(questions))
    click_table(page.locator(".st-key-matrix-form"), x=120, y=50)
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))  # no table tells of itself any more
    page.keyboard.press("Control+v")
    page.wait_for_timeout(500)
    press(page, "Ask")
    page.clock.resume()
    expect(page.locator(".st-key-matrix-form")).to_be_hidden()
    assert exported(page)[0] == ["Document", *questions]


def choose_template(page: Page) -> None:
    """Fill the table of questions from the first template."""
    page.locator(".st-key-matrix-form").get_by_test_id("stButtonGroup").get_by_text("10-K basics").click()
    page.locator(".st-key-matrix-questions-10-K-basics").wait_for()


def click_cell(page: Page, row: int, column: int) -> None:
    """Of the matrix that is shown."""
    place = page.locator(".st-key-matrix-table")
    click_table(place, x=FIRST_COLUMN_X + column * COLUMN_PX, y=FIRST_ROW_Y + row * ROW_PX)


def click_table(place: Locator, x: int, y: int) -> None:
    """A table that is drawn takes no click before it has seen the pointer."""
    table = place.get_by_test_id("stDataFrame")
    table.hover(position={"x": x, "y": y})
    steps.rest(place.page)
    table.click(position={"x": x, "y": y})


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
    box = form.get_by_role("button", name=name, include_hidden=True).bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def exported(page: Page) -> list[list[str]]:
    """The matrix as it is taken along once everything is answered."""
    state: Locator = page.get_by_role("progressbar")
    expect(page.get_by_role("button", name="CSV")).to_be_visible()
    steps.rest(page)
    expect(state).to_be_hidden()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    return [*csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig")))]

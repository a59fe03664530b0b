"""A matrix: made of some documents, an answer of it opened on its page, taken along, and edited."""

import csv
import io

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e import steps
from tests.e2e.papers import Paper, plain

QUESTION = "How many lobster pots does the Bramblehithe crew set?"
LATER = "Who mends the Bramblehithe nets?"


def paper(crew: str, pots: int) -> Paper:
    sentence = f"The Bramblehithe crew {crew} sets {pots} lobster pots each morning."
    return Paper(f"Bramblehithe {crew}.pdf", sentence, QUESTION, plain(sentence))


PAPERS = [paper("Osprey", 340), paper("Petrel", 415)]


def choose(page: Page, *papers: Paper) -> Locator:
    """Name the documents of the form that is open; gives the field, whose list stays open as a user leaves it."""
    field = page.get_by_role("combobox", name="Documents")
    for one in papers:
        field.fill(one.name)
        page.get_by_role("option", name=one.name).click()
    return field


def write(page: Page, row: int, question: str) -> None:
    """Write a question into the form's table, which is drawn: into a cell by the place where it is."""
    grid = page.locator(".st-key-matrix-form").get_by_test_id("stDataFrameResizable")
    grid.locator("canvas").first.click(position={"x": 160, "y": 52 + 35 * row})
    page.keyboard.press("Enter")
    page.keyboard.type(question)
    page.keyboard.press("Enter")
    steps.rest(page)


def table(page: Page) -> Locator:
    return page.locator(".st-key-matrix-table")


def exported(page: Page) -> list[list[str]]:
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    return [*csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig")))]


@pytest.fixture
def made(page: Page) -> Page:
    """The page of a matrix of two documents and a question, all answered."""
    steps.upload(page, *PAPERS)
    page.goto("/matrix")
    page.get_by_role("button", name="New matrix").click()
    page.get_by_label("Name").fill("Lobster pots")
    return page

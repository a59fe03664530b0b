"""The pages in German: chosen in the settings, heard in an answer and in what is taken along, and left again."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e import steps
from tests.e2e.conftest import visit
from tests.e2e.papers import Paper, long

SENTENCE = "The windmill of Oberau grinds 640 sacks of buckwheat every autumn."
PAPER = Paper("Oberau.pdf", SENTENCE, "How many sacks of buckwheat does the windmill grind?", long(SENTENCE, 3, 2))


@pytest.fixture(scope="module")
def windmill(browser: Browser, base_url: str) -> Paper:
    """A paper, brought in."""
    with visit(browser, base_url) as page:
        steps.upload(page, PAPER)
    return PAPER


@pytest.fixture
def german(page: Page) -> Iterator[Page]:
    """A visitor who has chosen German; later ones are spoken to in English again."""
    speak(page, "Language", "Deutsch")
    expect(page.get_by_role("link", name="Einstellungen")).to_be_visible()
    yield page
    speak(page, "Sprache der Seiten", "English")
    expect(page.get_by_role("link", name="Settings")).to_be_visible()


def speak(page: Page, label: str, language: str) -> None:
    """Choose a language on the settings page, which is in another."""
    page.goto("/settings")
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=language, exact=True).click()


def test_an_answer_is_given_in_a_german_page_and_taken_along_in_german(windmill: Paper, german: Page) -> None:
    field = german.get_by_placeholder("Fragen Sie Ihre Dokumente")
    german.goto("/")
    field.fill(windmill.question)
    field.press("Enter")
    answer = german.locator(".answer")
    expect(answer.locator(".text")).to_contain_text("640 sacks of buckwheat")
    expect(answer.locator(".source").first).to_contain_text("S. 2")
    german.get_by_role("button", name="Antwort exportieren").click()
    german.get_by_role("menu").get_by_text("Kopieren", exact=True).click()
    copied = german.get_by_role("dialog").locator("code")
    expect(copied).to_contain_text("Oberau.pdf, Version 1, Seite 2: “")
    expect(german.locator("html")).to_have_attribute("lang", "de")

"""The settings page in a browser: a server is chosen, tried and left; a key is taken up and not given back."""

import pytest
from playwright.sync_api import Page, expect

from tests.vendor_servers import VendorServer

KEY = "sk-correct-horse-battery-staple"


@pytest.mark.expected_errors("No provider is known for the model")
def test_a_server_of_models_is_chosen_tried_and_left(page: Page, ollama: VendorServer) -> None:
    page.goto("/settings")
    row = page.locator('[class*="st-key-served-ollama-llama"]')
    row.get_by_role("button", name="Use").click()
    expect(row).to_contain_text("In use")
    writer = page.locator(".st-key-writer")
    writer.get_by_role("button", name="Test").click()
    expect(writer).to_contain_text("“Apples are red [S1].”")
    expect(writer).to_contain_text("8,192 tokens")
    field = writer.get_by_role("combobox", name="Answer model")
    field.fill("nobody:x")
    field.press("Enter")
    expect(writer).to_contain_text("No provider is known for the model")
    field.click()
    page.get_by_role("option", name="Automatic").click()
    expect(writer).to_contain_text("word for word")
    expect(row.get_by_role("button", name="Use")).to_be_visible()


def test_a_key_is_taken_up_and_is_nowhere_in_the_page(page: Page) -> None:
    page.goto("/settings")
    row = page.locator(".st-key-key-gemini")
    row.get_by_role("button", name="Add").click()
    page.get_by_label("Key for Google Gemini").fill(KEY)
    page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("In a file readable only by Pagelight's user")
    assert KEY not in page.content()
    assert (
        page.locator("input[type=password]").evaluate_all("fields => fields.map(field => field.value).join('')") == ""
    )
    row.get_by_role("button", name="Remove").click()
    expect(row).to_contain_text("No key")

"""Throwing a document away, and getting it back."""

import base64

import pytest
from playwright.sync_api import Browser, Dialog, FilePayload, Locator, Page, ViewportSize, expect

from tests import pdfs
from tests.e2e import steps
from tests.e2e.conftest import visit
from tests.e2e.papers import Paper, plain

PHONE: ViewportSize = {"width": 390, "height": 844}


def paper(ferry: str) -> Paper:
    sentence = f"The ferry {ferry} carries at most 48 sheep and one shepherd."
    return Paper(f"{ferry} rules.pdf", sentence, f"How many sheep does the ferry {ferry} carry?", plain(sentence))


def delete(page: Page, name: str) -> Locator:
    """Find a document in the library and delete it; gives the notice."""
    page.goto("/library")
    expect(page.get_by_placeholder("Name, title, author or tag")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    select_only_row(page, name)
    page.get_by_role("button", name="Delete").click()
    notice = page.get_by_text("to the trash.")
    expect(notice).to_contain_text(name)
    expect(page.get_by_text("No matching documents")).to_be_visible()
    return notice


def select_only_row(page: Page, name: str) -> None:
    """Tick the row of a table of one."""
    expect(page.locator(".documents tbody tr")).to_have_count(1)
    page.get_by_role("checkbox", name=f"Select {name}").check()


def open_trash(page: Page) -> None:
    page.get_by_test_id("stButtonGroup").get_by_text("Trash", exact=True).click()
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
    expect(page.get_by_placeholder("Name, title, author or tag")).to_be_hidden()


def test_deletion_is_undone_and_the_trash_gives_back_and_throws_away(page: Page) -> None:
    rules = paper("Aurora")
    steps.upload(page, rules)
    notice = delete(page, rules.name)
    page.get_by_role("button", name="Undo").click()
    expect(notice).to_be_hidden()
    expect(page.get_by_role("checkbox", name=f"Select {rules.name}")).not_to_be_checked()

    delete(page, rules.name)
    open_trash(page)
    select_only_row(page, rules.name)
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()
    expect(steps.ask(page, rules.question).get_by_text("48 sheep").first).to_be_visible()

    delete(page, rules.name)
    open_trash(page)
    select_only_row(page, rules.name)
    page.get_by_role("button", name="Delete permanently").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("checkbox", name=f"Select {rules.name}")).to_be_checked()
    page.get_by_role("button", name="Delete permanently").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete 1 document").click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()


@pytest.mark.parametrize("window", [{"width": 1440, "height": 900}, PHONE])
def test_questions_about_an_upload_are_in_view_until_they_are_answered(
    browser: Browser, base_url: str, window: ViewportSize
) -> None:
    kind = f"{window['width']} wide"
    papers = [paper(f"{ferry} {kind}") for ferry in ("Ada", "Bea", "Cleo", "Dot", "Eve", "Fay")]
    with visit(browser, base_url) as page:
        page.set_viewport_size(window)
        steps.upload(page, *papers)
        page.locator('[class*="st-key-uploads-"]').evaluate("node => node.scrollTo(0, node.scrollHeight)")
        # at once: the row is replaced while its document is being read
        row = page.get_by_role("checkbox", name=f"Select {papers[0].name}")
        row.evaluate("node => node.scrollIntoView({ block: 'nearest' })")
        steps.drop(
            page,
            FilePayload(name=papers[0].name, mimeType="application/pdf", buffer=plain(f"No sheep at all: {kind}.")),
            FilePayload(name=f"sealed {kind}.pdf", mimeType="application/pdf", buffer=pdfs.encrypted(kind)),
        )
        question = page.locator(".st-key-unanswered").get_by_role("button", name="Separate document")
        password = page.locator(".st-key-unanswered").get_by_placeholder("Password of this file")
        expect(question).to_be_in_viewport(ratio=1)
        expect(password).to_be_in_viewport(ratio=1)

        dialogs: list[str] = []

        def stay(dialog: Dialog) -> None:
            dialogs.append(dialog.type)
            dialog.dismiss()

        page.on("dialog", stay)
        page.get_by_role("heading", name="Library").click()
        page.evaluate("window.location.reload()")  # the browser asks, as the file would be lost
        expect(question).to_be_in_viewport(ratio=1)
        assert dialogs == ["beforeunload"]
        question.click()
        expect(page.locator('[class*="st-key-file-ready"]').filter(has_text=papers[0].name)).to_have_count(2)
        page.reload()
        expect(password).to_be_in_viewport(ratio=1)
        assert dialogs == ["beforeunload"]
        password.fill(kind)
        password.press("Enter")
        expect(page.locator(".st-key-unanswered")).to_have_count(0)


def test_a_tick_stays_with_its_document(page: Page) -> None:
    apples, pears = paper("Apple"), paper("Pear")
    steps.upload(page, apples, pears)
    page.goto("/library")
    page.get_by_role("checkbox", name=f"Select {pears.name}").check()
    expect(page.get_by_role("button", name="Delete")).to_be_enabled()
    page.get_by_placeholder("Name, title, author or tag").fill("apple")
    page.get_by_placeholder("Name, title, author or tag").press("Enter")
    expect(page.locator(".documents tbody tr")).to_have_count(1)
    expect(page.get_by_role("checkbox", name=f"Select {apples.name}")).not_to_be_checked()
    expect(page.get_by_role("button", name="Delete")).to_be_disabled()


def test_what_is_dropped_anywhere_or_pasted_comes_in(page: Page) -> None:
    rules = paper("Dropped")
    page.goto("/upload")
    page.wait_for_function(
        """() => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File(["held"], "held.pdf"));
            document.querySelector("h2")?.dispatchEvent(new DragEvent("dragenter", { bubbles: true, dataTransfer }));
            return document.documentElement.classList.contains("dropping"); // the page takes what is held over it
        }"""
    )
    page.evaluate(
        """([name, content]) => {
            const dataTransfer = new DataTransfer();
            const bytes = Uint8Array.from(atob(content), char => char.charCodeAt(0));
            dataTransfer.items.add(new File([bytes], name, { type: "application/pdf" }));
            const events = { bubbles: true, cancelable: true };
            document.querySelector("h2").dispatchEvent(new DragEvent("drop", { ...events, dataTransfer }));
        }""",
        [rules.name, base64.b64encode(rules.content).decode()],
    )
    page.locator('[class*="st-key-file-ready"]').filter(has_text=rules.name).wait_for()
    page.evaluate(
        """text => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            const events = { bubbles: true, cancelable: true };
            document.body.dispatchEvent(new ClipboardEvent("paste", { ...events, clipboardData }));
        }""",
        "The quay was mended in June.",
    )
    pasted = page.locator('[class*="st-key-file-ready"]').filter(has_text="Pasted The quay was mended in June")
    pasted.wait_for()
    zone = page.get_by_test_id("stFileUploaderDropzone")
    left = "node => node.getBoundingClientRect().left"
    assert pasted.evaluate(left) == zone.evaluate(left)

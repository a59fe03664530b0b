"""Every page and state of the app, in one walk: axe-core finds nothing serious, in light, in the dark, on a phone.

And whatever the app does on this walk, it turns to no other machine.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from benchmarks.processes import free_port
from tests import pdfs
from tests.e2e import steps
from tests.e2e.axe import Audit
from tests.e2e.conftest import PATIENCE_SECONDS, running, visit
from tests.e2e.papers import Paper, long, plain
from tests.vendor_servers import Endless, VendorServer

SENTENCE = "The beacon on Gull Rock was lit by hand until the spring of 1954."
PAPER = Paper("Beacon.pdf", SENTENCE, "Until when was the beacon on Gull Rock lit by hand?", long(SENTENCE, 40, 30))
BRIEF = Paper("Iron rings.pdf", "The quay holds 312 iron rings.", "", plain("The quay holds 312 iron rings."))
DIALOG, POPOVER = '[role="dialog"]', '[data-testid="stPopoverBody"]'
UNKNOWN_ORIGIN = "Who conducted the orchestra of Ulan Bator in 1931?"


@pytest.fixture
def page(browser: Browser, external_database_url: str | None, ollama: VendorServer) -> Iterator[Page]:
    """A visitor of an app of its own, for what is broken or locked here is told on pages that others look at."""
    with (
        running(free_port(), external_database_url, {"OLLAMA_BASE_URL": ollama.url}, is_watched=True) as url,
        visit(browser, url) as visitor,
    ):
        yield visitor


def test_nothing_serious_is_found_on_any_page(page: Page, ollama: VendorServer) -> None:
    audit = Audit(page)
    _upload(page, audit)
    _chat(page, audit)
    _viewer(page, audit)
    _streaming(page, audit, ollama)
    _library(page, audit)
    _trash(page, audit)
    _matrix(page, audit)
    _index(page, audit)
    _others(page, audit)
    assert not audit.findings, "\n\n".join(["", *audit.findings])


def _upload(page: Page, audit: Audit) -> None:
    """Files that are ready, failed, locked, there already, and of a name that is there already."""
    steps.upload(page, PAPER, BRIEF)
    again = plain("The quay holds 313 iron rings by now.")
    steps.drop(
        page,
        _file("locked.pdf", pdfs.encrypted("beacon")),
        _file("broken.pdf", b"%PDF-1.7 of Gull Rock"),
        _file("copy.pdf", BRIEF.content),
        _file(BRIEF.name, again),
    )
    for state in ("needs_password", "failed"):
        page.locator(f'[class*="st-key-file-{state}"]').first.wait_for()
    page.get_by_role("button", name="New version").wait_for()
    audit.look("upload", phone=True)
    for way in ("Folder", "Web address"):
        page.get_by_role("button", name=way).click()
        page.get_by_test_id("stPopoverBody").wait_for()
        audit.look(f"upload, {way}", within=POPOVER)
        page.keyboard.press("Escape")


def _file(name: str, content: bytes) -> FilePayload:
    return FilePayload(name=name, mimeType="application/pdf", buffer=content)


def _chat(page: Page, audit: Audit) -> None:
    page.goto("/")
    page.get_by_text("Ask your documents").wait_for()
    audit.look("chat, empty", phone=True)
    field = page.get_by_placeholder("Ask about your documents")
    field.fill(UNKNOWN_ORIGIN)
    field.press("Enter")
    page.locator(".answer.insufficient").wait_for()
    audit.look("chat, refusal", phone=True)
    steps.ask(page, PAPER.question)
    page.locator('.page[data-page="30"] img').wait_for()
    audit.look("chat, answer", phone=True)
    sources = page.get_by_role("button", name="Sources:")
    sources.click()
    page.get_by_text("All documents").wait_for()
    audit.look("chat, sources", within=".st-key-sources")
    sources.click()
    for action in ("Copy", "Save as …", "Ask again"):
        page.get_by_role("button", name="Export", exact=True).click()
        page.get_by_role("menu").get_by_text(action, exact=True).click()
        _dialog(page, audit, f"chat, {action}")
    page.locator('[class*="st-key-bad-"] button').first.click()
    _dialog(page, audit, "chat, what is wrong")
    page.locator('[class*="st-key-edit-"] button').first.click()
    _dialog(page, audit, "chat, edit")
    page.locator('[class*="st-key-menu-"] button').first.click()
    page.get_by_role("menu").get_by_text("Rename", exact=True).click()
    _dialog(page, audit, "chat, rename")
    page.get_by_role("button", name="Marked copy").click()
    page.get_by_role("dialog").frame_locator("iframe").locator("canvas").first.wait_for()
    _dialog(page, audit, "chat, marked copy")


def _dialog(page: Page, audit: Audit, state: str) -> None:
    """Look at the dialog that opens, and close it."""
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    steps.rest(page)
    audit.look(state, within=DIALOG)
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")


def _viewer(page: Page, audit: Audit) -> None:
    page.locator(".pages").focus()
    page.keyboard.press("f")
    page.get_by_label("Words to find").fill("beacon")
    expect(page.locator(".tally")).to_have_text("1 of 1")
    page.get_by_role("button", name="Outline, pages and notes").click()
    page.locator(".panel-body > *").first.wait_for()
    audit.look("viewer, find and outline")
    page.get_by_role("tab", name="Pages").click()
    page.locator(".thumb img").first.wait_for()
    audit.look("viewer, pages")
    page.locator('.page[data-page="30"] .line').filter(has_text="Gull Rock").click(click_count=3)
    page.get_by_role("button", name="Note", exact=True).click()
    note = page.get_by_role("textbox", name="Note")
    note.fill("Ask the keeper.")
    note.press("Tab")
    page.locator(".mark.own").first.wait_for()
    audit.look("viewer, notes")
    page.get_by_role("button", name="Delete").last.click()
    page.get_by_role("button", name="Outline, pages and notes").click()
    page.get_by_role("button", name="Keyboard").click()
    page.locator("dialog.keys").wait_for()
    audit.look("viewer, keyboard")
    page.keyboard.press("Escape")


def _streaming(page: Page, audit: Audit, ollama: VendorServer) -> None:
    with steps.written_by_ollama(page):
        ollama.faults.append(Endless())
        page.goto("/")
        field = page.get_by_placeholder("Ask about your documents")
        field.fill(PAPER.question)
        field.press("Enter")
        expect(page.locator(".pending")).to_contain_text("Apples")
        audit.look("chat, streaming")
        page.get_by_role("button", name="Stop").click()
        page.locator(".answer footer").filter(has_text="Stopped").wait_for()
        assert ollama.left.wait(PATIENCE_SECONDS)
        ollama.left.clear()
        audit.look("chat, stopped")


def _library(page: Page, audit: Audit) -> None:
    page.goto("/library")
    page.get_by_role("checkbox", name=f"Select {PAPER.name}").check()
    page.get_by_role("button", name="Delete", exact=True).and_(page.locator(":enabled")).wait_for()
    audit.look("library", phone=True)
    page.get_by_role("button", name="Filter").click()
    page.get_by_test_id("stPopoverBody").wait_for()
    audit.look("library, filter", within=POPOVER)
    page.keyboard.press("Escape")
    for action in ("Edit", "Move"):
        page.get_by_role("button", name=action, exact=True).click()
        _dialog(page, audit, f"library, {action}")
    page.get_by_role("button", name=PAPER.name).click()
    page.get_by_role("dialog").locator(".page img").first.wait_for()
    _dialog(page, audit, "library, document")


def _trash(page: Page, audit: Audit) -> None:
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Undo").wait_for()
    audit.look("library, deleted")
    page.get_by_role("radio", name="Trash").click()
    page.get_by_role("checkbox", name=f"Select {PAPER.name}").check()
    for_good = page.get_by_role("button", name="Delete permanently")
    for_good.and_(page.locator(":enabled")).wait_for()
    audit.look("trash")
    for_good.click()
    _dialog(page, audit, "trash, delete for good")
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("checkbox", name=f"Select {PAPER.name}").wait_for(state="detached")


def _matrix(page: Page, audit: Audit) -> None:
    page.goto("/matrix")
    page.get_by_role("button", name="New matrix").click()
    _canvas(page)
    audit.look("matrix, a new one")
    page.locator(".st-key-matrix-form").get_by_test_id("stButtonGroup").get_by_text("Invoice").click()
    steps.rest(page)
    page.get_by_role("button", name="Templates").click()
    _dialog(page, audit, "matrix, templates")
    page.get_by_role("button", name="Fill", exact=True).click()
    page.locator(".st-key-matrix-table td").first.wait_for()
    steps.rest(page)
    page.get_by_role("button", name="Cancel").wait_for(state="detached", timeout=steps.READING_MS)
    page.locator(".st-key-matrix-table td button").first.click()
    page.locator(".st-key-matrix-viewer .page img").first.wait_for()
    audit.look("matrix", phone=True)
    page.keyboard.press("c")
    page.locator(".st-key-matrix-correction").wait_for()
    audit.look("matrix, a correction")
    page.keyboard.press("Escape")
    page.locator(".st-key-matrix-correction").wait_for(state="detached")
    page.get_by_role("radio", name="Differences and charts").click()
    steps.rest(page)
    audit.look("matrix, compared")


def _canvas(page: Page) -> Locator:
    """A table of Streamlit's, when it is drawn."""
    table = page.get_by_test_id("stDataFrame").first
    table.locator("canvas").first.wait_for()
    return table


def _index(page: Page, audit: Audit) -> None:
    page.goto("/index")
    page.get_by_test_id("stMetric").first.wait_for()
    audit.look("index, Overview", phone=True)
    for view, landmark in {
        "Chunks": page.locator(".page img").first,
        "Health": page.locator('[class*="st-key-finding-"]').first,
    }.items():
        page.get_by_role("radio", name=view).click()
        landmark.wait_for()
        steps.rest(page)  # what a view still computes is pale
        audit.look(f"index, {view}")
    page.get_by_role("radio", name="Search").click()
    field = page.get_by_placeholder("What to search for")
    field.fill("beacon")
    field.press("Enter")
    page.locator(".page img").first.wait_for()
    audit.look("index, Search")


def _others(page: Page, audit: Audit) -> None:
    page.goto("/settings")
    page.locator(".st-key-key-gemini").get_by_role("button", name="Add").click()
    audit.look("settings", phone=True)
    page.goto("/admin")
    for view in ("Keys", "Users"):
        page.get_by_role("radio", name=view).click()
        audit.look(f"admin, {view}")
    for path in ("audit", "status", "shared"):
        page.goto(f"/{path}")
        page.locator("h2, h3").first.wait_for()
        audit.look(path, phone=True)

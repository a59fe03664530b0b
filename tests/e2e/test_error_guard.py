"""The guard of the browser tests notices error boxes and logged errors, and lets pass what a test expects."""

import traceback
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.e2e.conftest import GUARD, visit
from tests.e2e.error_guard import unexpected

BOX = "document.body.innerHTML = '<div data-testid=\"stAlertContentError\">The lock is rusty.</div>'"


def test_an_error_box_is_noticed_also_after_it_is_gone(browser: Browser, base_url: str) -> None:
    with visit(browser, base_url) as page:
        page.goto("/")
        page.evaluate(BOX)
        page.evaluate("document.body.innerHTML = ''")
        page.evaluate("document.body.innerHTML = '<p>The lock is rusty.</p>'")
    assert GUARD.take() == ["A page shows an error box: The lock is rusty."]


@pytest.mark.parametrize(
    ("line", "is_error"),
    [
        ("2026-01-01 12:00:00,000 ERROR rag.worker A job failed", True),
        ("2026-01-01 12:00:00,000 CRITICAL rag.worker A job failed", True),
        ("2026-01-01 12:00:00,000 WARNING rag.worker A page has ERRORS of its own", False),
        ("2026-01-01 12:00:00,000 INFO rag.worker no Traceback here", False),
    ],
)
def test_errors_in_the_log_are_noticed(tmp_path: Path, line: str, is_error: bool) -> None:
    log = tmp_path / "app.log"
    log.write_text("started\n", encoding="utf-8")
    with GUARD.watch_log(log):
        log.write_text(f"started\n{line}\n", encoding="utf-8")
    assert GUARD.take() == ([f"The server's log has an error: {line}"] if is_error else [])


def test_a_traceback_is_noticed_down_to_its_last_line(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.touch()
    with GUARD.watch_log(log):
        try:
            raise ValueError("The lock is rusty.")
        except ValueError:
            log.write_text(f"WARNING A door failed\n{traceback.format_exc()}INFO Next\n", encoding="utf-8")
    (error,) = GUARD.take()
    assert error.startswith("The server's log has an error: Traceback")
    assert error.endswith("ValueError: The lock is rusty.")


def test_what_a_test_expects_is_no_failure() -> None:
    errors = ["A page shows an error box: The lock is rusty.", "A page shows an error box: The key is lost."]
    assert unexpected(errors, ["rusty"]) == errors[1:]

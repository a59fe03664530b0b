"""Errors that no user may see unless the test expects them: error boxes on pages, and errors in the server's log."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext

ERROR_IN_LOG = re.compile(
    r"^.*Traceback \(most recent call last\).*(?:\n(?![\w.]+: ).*)*(?:\n[\w.]+: .*)?"
    r"|^.*\b(?:ERROR|CRITICAL)\b.*$",
    re.MULTILINE,
)
"""A traceback down to the exception's message, or a line of level ERROR or above."""
COLOUR = re.compile(r"\x1b\[[\d;]*m")
"""Streamlit colours its tracebacks."""
REPORT_ERROR_BOXES = """
const seen = new Set();
const report = () => {
  for (const box of document.querySelectorAll('[data-testid="stAlertContentError"], [data-testid="stException"]')) {
    const text = box.innerText.trim();
    if (text && !seen.has(text)) {
      seen.add(text);
      window.reportErrorBox(text);
    }
  }
};
new MutationObserver(report).observe(document, { subtree: true, childList: true, characterData: true });
"""


class ErrorGuard:
    """Collects the errors of all pages and running apps since it was last asked."""

    def __init__(self) -> None:
        self._boxes: list[str] = []
        self._logged: list[str] = []
        self._bytes_read: dict[Path, int] = {}

    def watch_pages(self, context: BrowserContext) -> None:
        """Collect each error box that a page of this browser context shows, however briefly."""
        context.expose_function("reportErrorBox", self._note_box)
        context.add_init_script(REPORT_ERROR_BOXES)

    def _note_box(self, text: str) -> None:  # Playwright takes no built-in method such as `append`
        self._boxes.append(text)

    @contextmanager
    def watch_log(self, log: Path) -> Iterator[None]:
        """Collect the errors that an app writes to a file."""
        self._bytes_read[log] = 0
        try:
            yield
        finally:
            self._read(log)
            del self._bytes_read[log]

    def take(self) -> list[str]:
        """Return the errors since the last call."""
        for log in self._bytes_read:
            self._read(log)
        errors = [f"A page shows an error box: {text}" for text in self._boxes]
        errors += [f"The server's log has an error: {text}" for text in self._logged]
        self._boxes.clear()
        self._logged.clear()
        return errors

    def _read(self, log: Path) -> None:
        written = log.read_bytes()[self._bytes_read[log] :]
        self._bytes_read[log] += len(written)
        self._logged += ERROR_IN_LOG.findall(COLOUR.sub("", written.decode("utf-8", "replace")))


def unexpected(errors: Iterable[str], expected: Iterable[str]) -> list[str]:
    """Return the errors in which none of the `expected` patterns is found."""
    patterns = [re.compile(pattern) for pattern in expected]
    return [error for error in errors if not any(pattern.search(error) for pattern in patterns)]

"""A simulated user of the app who clicks and types, with counters."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Download, FilePayload, Locator, Page

from benchmarks import apps

REST_MS = 300
PICTURE = "{number:02} {step}.png"


@dataclass
class SimulatedUser:
    """A simulated user on a page of the app; a click that focuses a field counts, too.

    `seconds` is the time within `counting`, without taking the screenshots that `pictures` keeps of each step.
    """

    page: Page
    pictures: Path | None = None
    clicks: int = 0
    seconds: float = 0.0
    paused: float = 0.0
    steps: int = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count clicks and time during the block."""
        self.clicks, self.paused = 0, 0.0
        started = time.perf_counter()
        yield
        self.seconds = time.perf_counter() - started - self.paused

    def click(self, target: Locator, *, with_shift: bool = False) -> None:
        """Click a locator as soon as it is visible and enabled."""
        if with_shift:
            target.click(modifiers=["Shift"])
        else:
            target.click()
        self.clicks += 1

    def type(self, field: Locator, text: str, key: str = "Enter") -> None:
        """Click a field unless it has the cursor, type into it and press a key."""
        if not field.evaluate("field => field === document.activeElement"):
            self.click(field)
        field.fill(text)
        if key:
            field.press(key)

    def go_to(self, page: str) -> None:
        """Open a page by its link in the sidebar."""
        self.click(self.page.locator(".st-key-pages").get_by_role("link", name=page))
        self.page.locator("h2").filter(has_text=re.compile(f"^{page}$")).wait_for()

    def bring(self, field: Locator, files: list[FilePayload]) -> None:
        """Upload files to a file input: one click opens the system's dialog, one confirms it."""
        field.set_input_files(files)
        self.clicks += 2

    def download(self, button: Locator) -> Download:
        """Click a button and return the downloaded file."""
        with self.page.expect_download() as given:
            self.click(button)
        return given.value

    def begin(self, path: str = "/") -> None:
        """Start a task in a new session; not counted."""
        self.page.goto(path)
        apps.rest(self.page, REST_MS)

    def see(self, step: str) -> None:
        """Take a screenshot, outside of the measured time."""
        self.steps += 1
        if self.pictures is None:
            return
        started = time.perf_counter()
        self.pictures.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w -]", "", step)
        self.page.wait_for_timeout(REST_MS)
        self.page.screenshot(path=self.pictures / PICTURE.format(number=self.steps, step=name))
        self.paused += time.perf_counter() - started

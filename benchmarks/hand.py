"""A reader's hand in the app: it clicks and types, and what it does is counted."""

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
class Hand:
    """On a page of the app. A click is one with the mouse, also into a field to type there.

    `seconds` is what passed while `counting`, without the pictures that are kept of each step in `pictures`.
    """

    page: Page
    pictures: Path | None = None
    clicks: int = 0
    seconds: float = 0.0
    paused: float = 0.0
    steps: int = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Begin a task: from here on it counts."""
        self.clicks, self.paused = 0, 0.0
        started = time.perf_counter()
        yield
        self.seconds = time.perf_counter() - started - self.paused

    def click(self, target: Locator, *, with_shift: bool = False) -> None:
        """With the mouse, as soon as it is there and can be."""
        if with_shift:
            target.click(modifiers=["Shift"])
        else:
            target.click()
        self.clicks += 1

    def type(self, field: Locator, text: str, key: str = "Enter") -> None:
        """Into a field, after a click there, and a key at the end."""
        self.click(field)
        field.fill(text)
        if key:
            field.press(key)

    def go_to(self, page: str) -> None:
        """By the link at the side."""
        self.click(self.page.locator(".st-key-pages").get_by_role("link", name=page))
        self.page.locator("h2").filter(has_text=re.compile(f"^{page}$")).wait_for()

    def bring(self, field: Locator, files: list[FilePayload]) -> None:
        """Files into a field for them: one click that opens the system's window, and one there."""
        field.set_input_files(files)
        self.clicks += 2

    def download(self, button: Locator) -> Download:
        """What a button gives."""
        with self.page.expect_download() as given:
            self.click(button)
        return given.value

    def begin(self, path: str = "/") -> None:
        """In a new session, before a task: nothing of it counts."""
        self.page.goto(path)
        apps.rest(self.page, REST_MS)

    def see(self, step: str) -> None:
        """Keep a picture of what is seen now, outside of the time."""
        self.steps += 1
        if self.pictures is None:
            return
        started = time.perf_counter()
        self.pictures.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w -]", "", step)
        self.page.wait_for_timeout(REST_MS)
        self.page.screenshot(path=self.pictures / PICTURE.format(number=self.steps, step=name))
        self.paused += time.perf_counter() - started

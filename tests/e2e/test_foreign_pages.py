"""What pages of other sites in the same browser get of an app without a login."""

import http.server
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.e2e import steps
from tests.e2e.conftest import visit
from tests.e2e.papers import Paper, plain

SENTENCE = "The lighthouse keeper counted nineteen schooners on Monday."
BLOCKED = "chrome-error://chromewebdata/"


class Blank(http.server.BaseHTTPRequestHandler):
    """Another site on this machine."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def other_site() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Blank) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_only_the_app_may_frame_itself(browser: Browser, base_url: str, other_site: str) -> None:
    def frame(path: str) -> str:
        """The address that a frame shows in the end."""
        with page.expect_event("framenavigated", lambda frame: frame.parent_frame is not None):
            page.evaluate(
                """address => document.body.append(Object.assign(document.createElement("iframe"), {src: address}))""",
                base_url + path,
            )
        return page.frames[-1].url

    with visit(browser, other_site, base_url) as page:
        page.goto("/")
        for path in ("/", "/library", "/api/openapi.json"):
            assert frame(path) == BLOCKED
    with visit(browser, base_url) as page:
        page.goto("/api/health")
        assert frame("/") == f"{base_url}/"
        page.frame_locator("iframe").locator('[data-testid="stApp"]').wait_for()


def test_viewer_and_marked_copy_are_shown(browser: Browser, base_url: str) -> None:
    paper = Paper("lighthouse.pdf", SENTENCE, "How many schooners did the keeper count?", plain(SENTENCE))
    with visit(browser, base_url) as page:
        steps.upload(page, paper)
        steps.cite(steps.ask(page, paper.question), paper)
        page.locator('.page[data-page="1"] img').wait_for()
        page.get_by_role("button", name="Marked copy").click()
        page.get_by_role("dialog").frame_locator("iframe").locator("canvas").first.wait_for()

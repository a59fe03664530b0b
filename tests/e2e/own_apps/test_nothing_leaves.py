"""What watches over the browser and the app notices whatever leaves this machine, in which way ever."""

import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.e2e import tracing
from tests.e2e.conftest import PATIENCE_SECONDS, visit

WAYS = """at => {
    window.refused = 0;
    const ways = {
        fetched: url => fetch(url, {mode: "no-cors"}).catch(() => 0),
        picture: url => new Image().src = url,
        frame: url => document.body.append(Object.assign(document.createElement("iframe"), {
            srcdoc: `<img src="${url}">`})),
        worker: url => new Worker(URL.createObjectURL(new Blob([`fetch("${url}", {mode: "no-cors"})`]))),
        socket: url => new WebSocket(url.replace("http", "ws")).onclose = () => window.refused++,
        framed_socket: url => document.body.append(Object.assign(document.createElement("iframe"), {
            srcdoc: `<script>
                new WebSocket("${url.replace("http", "ws")}").onclose = () => parent.refused++</script>`})),
        window: url => open(url),
        beacon: url => navigator.sendBeacon(url, "x"),
    };
    for (const [name, ask] of Object.entries(ways)) ask(at + "/" + name);
    return Object.keys(ways);
}"""
"""Each in its own way, a page asks the server `at` for a path with the way's name."""


@pytest.fixture
def elsewhere() -> Iterator[tuple[str, "queue.Queue[str]"]]:
    """Another server, and the paths that it is asked for."""
    asked: queue.Queue[str] = queue.Queue()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.put(self.path)
            self.send_error(404)

        do_POST = do_GET  # noqa: N815 – so it is called

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def leave(browser: Browser, url: str, asked: "queue.Queue[str]") -> None:
    """A visit whose page asks a server for something in each way."""
    with visit(browser, "http://127.0.0.1:9") as page:
        missing = {f"/{way}" for way in page.evaluate(WAYS, url)}
        while missing:
            missing.discard(asked.get(timeout=PATIENCE_SECONDS))
        page.wait_for_function("window.refused === 2")  # a socket is told of after its server has been asked


def test_a_visit_notices_all_that_is_asked_elsewhere(
    browser: Browser, elsewhere: tuple[str, "queue.Queue[str]"]
) -> None:
    with pytest.raises(AssertionError) as noticed:
        leave(browser, *elsewhere)
    for way in ("fetched", "picture", "frame", "worker", "socket", "framed_socket", "window", "beacon"):
        assert f"/{way}\n" in f"{noticed.value}\n"


CONNECTING = """
import os, socket
child = os.fork()
for family, address in [
    (socket.AF_INET, ("192.0.2.1", 9)),
    (socket.AF_INET6, ("2001:db8::1", 9)),
    (socket.AF_INET, ("127.0.0.1", 53)),
    (socket.AF_INET, ("127.0.0.1", 9)),
]:
    socket.socket(family, socket.SOCK_DGRAM).connect_ex(address)
if child:
    os.waitpid(child, 0)
"""
"""A program and its child; nothing is sent."""


@pytest.mark.needs_strace
def test_connections_of_a_program_and_its_children_are_noticed(tmp_path: Path) -> None:
    if not tracing.is_possible():
        pytest.skip("strace may not be used here")
    log = tmp_path / "connections.log"
    subprocess.run(tracing.traced([sys.executable, "-S", "-c", CONNECTING], log), check=True)
    noticed = tracing.elsewhere(log.read_text(encoding="utf-8").splitlines())
    for address in ("192.0.2.1", "2001:db8::1", "127.0.0.1"):
        assert sum(f'"{address}"' in line for line in noticed) == 2, noticed

"""The documentation: the site builds without broken links and needs no other server; the first steps work."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rag.api import create_app
from rag.config import load_config
from rag.engine import Installation
from tests.acceptance.command_line import pagelight

ROOT = Path(__file__).parents[2]
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TOOLS = ("search", "ask", "get_passage", "extract_fields", "list_documents")
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Elements whose address a browser loads by itself."""


@pytest.mark.usefixtures("settings")
def test_the_first_steps_lead_to_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "start.md").read_text("utf-8")
    steps = SHELL.findall(text.partition("## The same on the command line")[2])[0]
    writing, *rest = steps.splitlines()
    subprocess.run(["/bin/sh", "-c", writing], check=True)
    ingest, ask, documents = [shlex.split(line)[1:] for line in rest]
    pagelight(*ingest)
    assert "The harbour handled 4,812 ships in 2023." in pagelight(*ask).stdout
    assert "harbour.txt" in pagelight(*documents).stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a missing page, file or heading that a link names is an error."""
    if importlib.util.find_spec("material") is None:
        pytest.skip("needs mkdocs-material: make setup")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


class _Loaded(HTMLParser):
    """Collects the addresses that a page loads by itself from other servers."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        address = dict(attributes).get(LOADING.get(tag, "")) or ""
        if address.startswith(("http:", "https:", "//")) and dict(attributes).get("rel") != "canonical":
            self.addresses.append(address)


@pytest.mark.long
def test_the_site_loads_nothing_from_other_servers(site: Path) -> None:
    loaded = _Loaded()
    for page in site.rglob("*.html"):
        loaded.feed(page.read_text("utf-8"))
    styles = [sheet for sheet in site.rglob("*.css") if re.search(r"url\(['\"]?(https?:)?//", sheet.read_text("utf-8"))]
    assert (loaded.addresses, styles) == ([], [])


@pytest.mark.long
def test_the_references_have_every_route_and_every_tool(site: Path) -> None:
    routes = (site / "rest-reference.html").read_text("utf-8")
    for path, methods in create_app(Installation(load_config())).openapi()["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in routes
    tools = (site / "mcp-reference.html").read_text("utf-8")
    for tool in TOOLS:
        assert f"<code>{tool}</code>" in tools

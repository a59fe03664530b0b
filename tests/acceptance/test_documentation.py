"""The documentation: the site builds without broken links and needs no other server; its commands exist and run."""

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import dropwhile, groupby
from pathlib import Path
from typing import Any

import pytest
import typer

from rag.api import create_app
from rag.cli.app import app
from rag.config import load_config
from rag.engine import Installation
from tests.acceptance.command_line import pagelight

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)")
TOOLS = ("search", "ask", "ask_matrix", "get_passage", "list_documents")
MOST_WORDS_OF_THE_README = 850
MOST_BYTES_OF_PICTURES = 600_000
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Elements whose address a browser loads by itself."""


def commands(text: str) -> Iterator[list[str]]:
    """The words of each `pagelight` command in the shell blocks of a page, without settings, pipes and comments."""
    for block in SHELL.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if "pagelight" in line:
                yield from _commands_of(line)


def _commands_of(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    for is_between, words in groupby(lexer, key=lambda word: set(word) <= set(lexer.punctuation_chars)):
        command = list(dropwhile(lambda word: re.match(r"[A-Z_]+=", word), words))
        if not is_between and command[:1] == ["pagelight"]:
            yield command[1:]


def problem_of(words: list[str]) -> str | None:
    """What is wrong with a command: one that does not exist, or an option that it does not have."""
    command: Any = typer.main.get_command(app)
    options = _options(command)
    for word in words:
        if word.startswith("-"):
            if (name := word.partition("=")[0]) not in options:
                return f"no option {name}"
        elif hasattr(command, "commands") and word in command.commands:
            command = command.commands[word]
            options |= _options(command)
        elif hasattr(command, "commands") and command.name == "pagelight":
            return f"no command {word}"
    return None


def _options(command: Any) -> set[str]:
    named = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return named | {"--help", "-h"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_on_a_page_exists_with_its_options(page: Path) -> None:
    found = [(" ".join(words), problem_of(words)) for words in commands(page.read_text("utf-8"))]
    assert [(words, problem) for words, problem in found if problem] == []


def test_the_search_for_wrong_commands_finds_them() -> None:
    assert problem_of(["ask", "--nonsense"]) == "no option --nonsense"
    assert problem_of(["nonsense"]) == "no command nonsense"
    assert list(commands("```sh\nA=1 pagelight ask x --json | jq . # said\n```\n")) == [["ask", "x", "--json"]]


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_configurations_can_be_read(page: Path) -> None:
    text = page.read_text("utf-8")
    for block in re.findall(r"^```json\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        json.loads(block)
    for block in re.findall(r"^```toml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        tomllib.loads(block)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_files_that_a_page_links_exist(page: Path) -> None:
    generated = {"rest-reference.md", "mcp-reference.md"}
    links = [link for link in LINK.findall(page.read_text("utf-8")) if "://" not in link and link not in generated]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_extra_is_described() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    text = (ROOT / "docs" / "install.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == set(extras)


def test_the_readme_and_the_pictures_are_small() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= MOST_WORDS_OF_THE_README
    assert sum(path.stat().st_size for path in (ROOT / "docs" / "pictures").iterdir()) <= MOST_BYTES_OF_PICTURES


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


def test_the_site_loads_nothing_from_other_servers(site: Path) -> None:
    loaded = _Loaded()
    for page in site.rglob("*.html"):
        loaded.feed(page.read_text("utf-8"))
    styles = [sheet for sheet in site.rglob("*.css") if re.search(r"url\(['\"]?(https?:)?//", sheet.read_text("utf-8"))]
    assert (loaded.addresses, styles) == ([], [])


def test_the_references_have_every_route_and_every_tool(site: Path) -> None:
    routes = (site / "rest-reference.html").read_text("utf-8")
    for path, methods in create_app(Installation(load_config())).openapi()["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in routes
    tools = (site / "mcp-reference.html").read_text("utf-8")
    for tool in TOOLS:
        assert f"<code>{tool}</code>" in tools

"""The wheel works in a fresh virtual environment: start, upload, ask, stop. `make wheel-test` builds and tests it."""

import signal
import socket
import subprocess
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser

from benchmarks.processes import free_port, wait_for
from tests.e2e import steps
from tests.e2e.conftest import visit
from tests.e2e.papers import all_papers
from tests.folders import open_folder
from tests.packaging.conftest import ROOT, environment, run

MOST_BYTES = 3_000_000
STOP_SECONDS = 60
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_it_is_small_and_has_every_file_of_the_package_and_of_the_app_and_no_other(wheel: Path) -> None:
    assert wheel.stat().st_size <= MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    share = f"pagelight-{PROJECT['version']}.data/data/share/pagelight/"
    pages = {f"{share}pages/{page.name}" for page in (ROOT / "pages").glob("*.py")}
    app = {f"{share}{name}" for name in ("app.py", "server.py", ".streamlit/config.toml")}
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "rag").rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".pot", ".mo"}
    }
    assert names == package | pages | app


def test_its_metadata_is_the_project_s(wheel: Path) -> None:
    described = next(iter(metadata.Distribution.discover(path=[str(wheel)]))).metadata
    assert described["Version"] == PROJECT["version"]
    assert described.get_all("Provides-Extra") == [*PROJECT["optional-dependencies"]]


def test_its_dependencies_fit_together(installed: Path) -> None:
    assert run(installed / "pip", "check") == "No broken requirements found.\n"
    assert run(installed / "pagelight", "--version") == f"pagelight {PROJECT['version']}\n"


def test_the_app_starts_reads_answers_and_stops(installed: Path, browser: Browser) -> None:
    paper = all_papers()[0]
    port = free_port()
    with open_folder() as folder:
        settings = environment(RAG_DATA_DIR=f"{folder}/data", RAG_APP_PORT=str(port))
        (home := folder / "home").mkdir()
        (home / "types.py").write_text("raise ImportError('not the module of Python')")  # its name is one of Python's
        with (folder / "app.log").open("wb") as log:
            command: list[str | Path] = [installed / "pagelight", "run", "--no-browser"]
            app = subprocess.Popen(
                command, cwd=home, env=settings, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", app)
        with visit(browser, f"http://127.0.0.1:{port}") as page:
            steps.upload(page, paper)
            steps.cite(steps.ask(page, paper.question), paper)
            assert steps.lit(page, 1)
        assert not _listens_to_others(port)
        answer = subprocess.run(
            [installed / "pagelight", "ask", paper.question],
            cwd=home,
            env=settings,
            capture_output=True,
            text=True,
            check=True,
        )
        assert paper.sentence in answer.stdout
        app.send_signal(signal.SIGINT)
        assert app.wait(STOP_SECONDS) == 0
        assert "Traceback" not in (folder / "app.log").read_text("utf-8")
        assert [path.name for path in home.iterdir()] == ["types.py"]  # all that it keeps is in its data folder


def _listens_to_others(port: int) -> bool:
    """Whether the app can be reached by an address of this machine in a network: its settings would not be loaded."""
    addresses = [found.address for many in psutil.net_if_addrs().values() for found in many]
    others = [address for address in addresses if _is_ipv4(address) and not address.startswith("127.")]
    if not others:
        pytest.skip("needs an address in a network")
    with socket.socket() as probe:
        probe.settimeout(5)
        return probe.connect_ex((others[0], port)) == 0


def _is_ipv4(address: str) -> bool:
    return address.count(".") == 3

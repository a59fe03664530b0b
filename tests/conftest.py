"""Fixtures and hooks for all tests; they isolate tests from the developer's settings, keys and files."""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from multiprocessing import util
from pathlib import Path
from typing import Any

import hypothesis
import psutil
import pytest
import xdist
from xdist import scheduler

from tests import programs

hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

TESTS = Path(__file__).parent
ROOT = TESTS.parent
SETTINGS = (
    "RAG_",
    "OPENAI_",
    "GEMINI_",
    "GOOGLE_",
    "OLLAMA_",
    "PYTHON_KEYRING_",
    "ANTHROPIC_",
    "PROVIDER_",
    "AZURE_",
    "AWS_",
    "HF_",
    "LLAMA_",
    "OTEL_",
    "STREAMLIT_",
    "PG",
    "PORT",
    "PYTHONDONTWRITEBYTECODE",
    "CORS_ORIGIN",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
)
"""Prefixes of environment variables that the app or its libraries read."""


@pytest.fixture(scope="session", autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Provide the environment of a fresh machine and an empty working folder without `.env`.

    `RAG_DATA_DIR` is set, so that no test touches the user's data folder; there is no key ring unless a test provides
    one. Child processes import this working copy from any folder, and no installed package with the same name, as
    `tests` often has.
    """
    folder = tmp_path_factory.mktemp("cwd")
    with pytest.MonkeyPatch.context() as environment:
        for name in [name for name in os.environ if name.upper().startswith(SETTINGS)]:
            environment.delenv(name)
        environment.setenv("RAG_DATA_DIR", str(folder / "data"))
        environment.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        environment.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
        environment.chdir(folder)
        yield folder


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Let Ctrl-C reach child processes even if the tests run in the background.

    A shell makes background processes ignore SIGINT, and they pass that on to their children.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def external_database_url() -> str | None:
    """The server of `RAG_TEST_DATABASE_URL=… make test`, for databases made by tests; None: the embedded one."""
    return programs.SERVER_URL


MEMORY = Path("/dev/shm")
MEMORY_BYTES = 6 << 30
"""More than twice the peak use of the tests."""


def pytest_configure(config: pytest.Config) -> None:
    for marker, program in programs.PROGRAMS.items():
        config.addinivalue_line("markers", f"{marker}: {program.reason}")
    config.addinivalue_line("markers", f"{programs.NOT_ON_CITUS}(reason): left out on a Citus cluster")
    _keep_temporary_files_in_memory(config)


def _keep_temporary_files_in_memory(config: pytest.Config) -> None:
    """Keep temporary files in memory if there is room: on a disk the tests take a sixth longer.

    They are removed at the end. `TMPDIR=/var/tmp make test` uses a disk and keeps them.
    """
    if "TMPDIR" in os.environ or not _is_memory_free():
        return
    folder = tempfile.mkdtemp(prefix="pagelight-", dir=MEMORY)
    removal = {"ignore_errors": True}
    util.Finalize(None, shutil.rmtree, [folder], removal, exitpriority=-200)  # multiprocessing removes its own at -100
    Path(folder).chmod(0o755)  # as root the database runs under another account, which must be able to enter
    places = pytest.MonkeyPatch()
    config.add_cleanup(places.undo)  # for the next run in this process
    places.setenv("TMPDIR", folder)
    places.setattr(tempfile, "tempdir", folder)


def _is_memory_free() -> bool:
    if not MEMORY.is_dir() or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        return False
    available: int = psutil.virtual_memory().available
    return min(shutil.disk_usage(MEMORY).free, available) > MEMORY_BYTES


FOLDERS = ("packaging", "benchmarks", "e2e", "acceptance", "integration", "unit")
"""Order of execution: the slowest tests first, so that they do not run alone at the end.

In a single process the order is reversed: quick tests find most faults early.
"""


def pytest_collection() -> None:
    """Disable garbage collection during collection, which takes a third of its time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exclude existing objects from garbage collection, which takes a tenth of the tests' time."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)  # after the hooks that add markers
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    programs.skip_where_missing(items)
    folders = FOLDERS if xdist.is_xdist_worker(session) else FOLDERS[::-1]
    items.sort(key=lambda item: folders.index(item.path.relative_to(TESTS).parts[0]))


BROWSER_GROUPS = ("tests/e2e/own_apps/", "tests/e2e/")


class FilesAndBrowsers(scheduler.LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Schedules each file in one process, and browser tests in two: those that share one app, and the others."""

    def _split_scope(self, nodeid: str) -> str:
        return next((group for group in BROWSER_GROUPS if nodeid.startswith(group)), super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FilesAndBrowsers:
    config.option.loadscopereorder = False  # keep the order above
    return FilesAndBrowsers(config, log)


LONG_TESTS = pytest.StashKey[int]()
"""How many long tests `-m` has left out."""


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for config in {item.config for item in items}:
        config.stash[LONG_TESTS] = sum(item.get_closest_marker("long") is not None for item in items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if xdist.is_xdist_worker(session):
        output: dict[str, int] = session.config.workeroutput  # type: ignore[attr-defined]
        output["long_tests"] = session.config.stash.get(LONG_TESTS, 0)


def pytest_testnodedown(node: Any) -> None:
    """Take the count of a worker; all workers collect the same tests."""
    node.config.stash[LONG_TESTS] = getattr(node, "workeroutput", {}).get("long_tests", 0)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Print what was left out, after pytest's summary."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # xdist workers print nothing
        return
    reasons = [report.longrepr[2].removeprefix("Skipped: ") for report in reporter.getreports("skipped")]
    if line := programs.summary(reasons):
        reporter.write_line(line, yellow=True)
    if count := config.stash.get(LONG_TESTS, 0):
        reporter.write_line(f"Left out: long tests ({count}). To run them: make test-long", yellow=True)

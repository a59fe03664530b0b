"""The wheel, as it is published, and a fresh virtual environment that has nothing else."""

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import browser

__all__ = ["browser"]

ROOT = Path(__file__).parents[2]
SOURCES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "app.py",
    "server.py",
    ".streamlit",
    "pages",
    "rag",
    "models",
)
"""What the wheels are built from; the Dockerfile copies the same."""
WHEEL = os.environ.get("PAGELIGHT_WHEEL")
NEWEST = "PAGELIGHT_NEWEST" in os.environ


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.needs_chromium)
        item.add_marker(pytest.mark.timeout(1800))  # a slow network


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel named by `PAGELIGHT_WHEEL`, otherwise one that is built from a copy of the sources.

    The copy has no `build` folder, from which setuptools would take modules that no longer exist. The wheel of the
    reader's weights lies beside it.
    """
    if WHEEL:
        return Path(WHEEL).resolve()
    copy = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        if (source := ROOT / name).is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "secrets.toml"))
        else:
            shutil.copy(source, copy)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist"]
    run(sys.executable, "-m", "pip", "wheel", *options, ".", "./models", cwd=copy)
    return next((copy / "dist").glob("pagelight-*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of programs of a virtual environment into which only the wheels and their dependencies were put.

    They are those of the lock file, or with `PAGELIGHT_NEWEST` what a user gets today.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    pinned = folder / "pinned.txt"
    pinned.write_text("" if NEWEST else _without_hashes((ROOT / "requirements.lock").read_text("utf-8")), "utf-8")
    programs = folder / "bin"
    run(programs / "pip", "install", "--quiet", "--no-compile", "--constraint", pinned, *wheel.parent.glob("*.whl"))
    yield programs
    shutil.rmtree(folder)  # more than a gigabyte


def _without_hashes(lock: str) -> str:
    """Pip demands a hash of our wheel, too, when constraints have hashes."""
    return "\n".join(re.findall(r"^\S+==\S+(?: ; [^\\\n]+)?", lock, re.MULTILINE))


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a program without the checkout on its path, and return what it prints."""
    done = subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment(**settings: str) -> dict[str, str]:
    """The environment of a user who has no checkout."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | settings

"""The last lines of a run name the tests that are left out, and how to run them."""

import shutil
import sys
from pathlib import Path

import pytest

from tests import forked, programs

ROOT = Path(__file__).parents[2]
PYTEST = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"


@pytest.mark.parametrize(
    ("platform", "install"),
    [
        ("linux", "apt-get install chromium tesseract-ocr-deu strace"),
        ("darwin", "brew install google-chrome tesseract-lang"),
    ],
)
def test_one_line_names_the_missing_programs(platform: str, install: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(programs, "SERVER_URL", None)
    needed = ["needs_tesseract_german", "needs_chromium", "needs_chromium", "needs_strace"]
    line = programs.summary([*(programs.PROGRAMS[marker].reason for marker in needed), "root may read everything"])
    assert line
    assert line.startswith("Left out: tests that need Chromium (2), German data of Tesseract (1)")
    assert line.endswith(install)
    assert "\n" not in line


def test_nothing_is_said_where_no_program_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SERVER_URL", None)
    assert programs.summary(["root may read everything"]) is None


def test_the_line_names_the_setting_for_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SERVER_URL", None)
    line = programs.summary(["needs Citus", "needs Citus"])
    assert line == (
        "Left out: tests that need Citus (2). To run them: RAG_TEST_DATABASE_URL=postgresql://… of a coordinator"
    )


def test_on_another_server_the_line_gives_every_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SERVER_URL", "postgresql://coordinator")
    line = programs.summary(["a database without Citus", "accounts are shared", "a database without Citus"])
    assert line == (
        "Left out: on the server of RAG_TEST_DATABASE_URL: a database without Citus (2), accounts are shared (1)"
    )


@pytest.mark.parametrize("workers", [(), ("--numprocesses", "1")], ids=["one process", "workers"])
def test_tests_are_left_out_where_their_program_is_missing(
    workers: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the tests of text recognition where nothing but a shell is found."""
    (tmp_path / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TESSDATA_PREFIX", raising=False)
    told = tmp_path / "told"
    asked = (
        f"--rootdir={ROOT}",
        f"--config-file={ROOT}/pyproject.toml",
        "-p",
        "no:cacheprovider",
        "-k",
        "wrong_language",
    )
    file = ROOT / "tests/unit/test_parsing_recognition.py"
    assert forked.run(PYTEST, *asked, *workers, file, output=told) == 0, told.read_text()
    *_, closing, last = told.read_text().splitlines()
    assert "1 skipped" in closing
    assert last.startswith("Left out: tests that need Tesseract (1). To run them: ")


@pytest.mark.parametrize("workers", [(), ("--numprocesses", "1")], ids=["one process", "workers"])
def test_long_tests_are_counted_where_they_are_left_out(workers: tuple[str, ...], tmp_path: Path) -> None:
    output = tmp_path / "output"
    options = (f"--rootdir={ROOT}", f"--config-file={ROOT}/pyproject.toml", "-p", "no:cacheprovider", "-m", "not long")
    forked.run(PYTEST, *options, *workers, ROOT / "tests/acceptance/test_killed_processes.py", output=output)
    assert output.read_text().splitlines()[-1] == "Left out: long tests (3). To run them: make test-long"

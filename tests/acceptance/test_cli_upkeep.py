"""`pagelight sync` and `validate`, and the completion of what is typed in."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer import testing

from rag.cli.app import app
from tests import pdfs
from tests.acceptance.command_line import HARBOUR, ORCHARD, pagelight, parsed

SHIPS = "How many ships did the harbour handle in 2019?"
PEARS = "How many kinds of pears does the orchard grow?"

WITHOUT_RESULTS = {"run", "serve", "worker", "mcp"}
"""They stay, or talk another language on stdout."""


def names(*arguments: object) -> list[str]:
    return sorted(document["name"] for document in parsed("documents", "list", *arguments))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two PDFs, one of them in a folder below."""
    (tmp_path / "files" / "below").mkdir(parents=True)
    (tmp_path / "files" / "harbour.pdf").write_bytes(pdfs.plain(HARBOUR))
    (tmp_path / "files" / "below" / "orchard.pdf").write_bytes(pdfs.plain(ORCHARD))
    return tmp_path / "files"


@pytest.fixture(scope="module")
def library(shared_settings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same two, taken in once for all tests that only read; returns their folder."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "harbour.pdf").write_bytes(pdfs.plain(HARBOUR))
    (folder / "orchard.pdf").write_bytes(pdfs.plain(ORCHARD))
    assert parsed("ingest", folder)["ingested"] == 2
    return folder


# Following a folder


def counts(report: dict[str, Any]) -> dict[str, int]:
    return {name: report[name] for name in ("added", "changed", "removed", "unchanged") if report[name]}


@pytest.mark.usefixtures("settings")
def test_an_index_follows_a_folder(folder: Path) -> None:
    assert counts(parsed("sync", folder, "--index", "facts")) == {"added": 2}
    assert counts(parsed("sync", folder, "--index", "facts")) == {"unchanged": 2}
    (folder / "harbour.pdf").write_bytes(pdfs.plain(["The harbour was closed in 2020."]))
    shutil.move(folder / "below" / "orchard.pdf", folder / "garden.pdf")
    result = pagelight("sync", folder, "--index", "facts")
    assert re.search(r"added\s+1\s+1", result.stdout)
    assert re.search(r"changed\s+1\s+1", result.stdout)
    assert re.search(r"removed\s+1\s+0", result.stdout)
    assert f"✓ {folder / 'garden.pdf'}  added, 1 chunk" in result.stderr
    assert f"– {folder / 'below' / 'orchard.pdf'}  removed" in result.stderr
    assert names("--index", "facts") == ["garden.pdf", "harbour.pdf"]
    assert names("--index", "facts", "--trash") == ["orchard.pdf"]  # the other is an older version now


@pytest.mark.usefixtures("settings")
def test_a_failed_file_is_named_and_does_not_stop_the_others(folder: Path) -> None:
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 not really")
    report = parsed("sync", folder, code=5)
    assert counts(report) == {"added": 2}
    (failed,) = [file for file in report["files"] if file["state"] == "failed"]
    assert failed["source"] == "broken.docx"
    assert failed["reason"]
    assert "✗" in pagelight("sync", folder, code=5).stderr


@pytest.mark.usefixtures("settings")
def test_a_folder_that_is_not_there_removes_nothing(folder: Path) -> None:
    parsed("sync", folder)
    folder.rename(folder.with_name("elsewhere"))
    assert parsed("sync", folder, code=5)["error"]["code"] == "source"
    assert names() == ["harbour.pdf", "orchard.pdf"]


# Validation


@pytest.mark.usefixtures("library")
def test_a_validation_that_passes_exits_with_0() -> None:
    result = pagelight("validate", SHIPS, PEARS, "--expect", "harbour.pdf#1", "--expect", "orchard.pdf", "--k", 2)
    assert "Passed, score 0." in result.stdout
    assert "Of 2 queries: 2 with results, 2 relevant, 2 with right sources, 2 the same in every run." in result.stdout
    response = parsed("validate", SHIPS, "--expect", "harbour.pdf", "--runs", 2, "--k", 1)
    assert response["success"] is True
    (validated,) = response["validation_results"]
    assert [chunk["page_title"] for chunk in validated["retrieved_chunks"]] == ["harbour.pdf"]
    assert validated["validation_metrics"]["accuracy"] == 1


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("arguments", "accuracy"),
    [
        ([SHIPS, "--expect", "harbour.pdf#2"], 0),
        ([SHIPS, "--expect", "harbour.pdf", "--expect", "elsewhere.pdf"], 0.5),
        (["Who conducted the Vienna Philharmonic?"], 1),
    ],
)
def test_a_validation_that_fails_exits_with_1(arguments: list[str], accuracy: float) -> None:
    response = parsed("validate", *arguments, code=1)
    assert response["overall_validation"]["passed"] is False
    assert response["validation_results"][0]["validation_metrics"]["accuracy"] == accuracy
    assert "Not passed" in pagelight("validate", *arguments, code=1).stdout


@pytest.mark.usefixtures("library")
def test_a_request_comes_from_a_file(tmp_path: Path) -> None:
    request = {
        "test_queries": [SHIPS],
        "expected_sources": [{"query": SHIPS, "source": "harbour.pdf"}],
        "consistency_runs": 1,
        "top_k": 2,
    }
    file = tmp_path / "queries.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    (validated,) = parsed("validate", "--file", file)["validation_results"]
    assert len(validated["retrieved_chunks"]) == 2
    (validated,) = parsed("validate", "--file", file, "--k", 1)["validation_results"]
    assert len(validated["retrieved_chunks"]) == 1


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "Give queries"),
        (["a", "b", "--expect", "1", "--expect", "2", "--expect", "3"], 2, "more --expect"),
        (["x" * 1000], 2, "test_queries"),
        (["x", "--runs", "11"], 2, "--runs"),
        (["x", "--k", "0"], 2, "--k"),
        (["x", "--collection", "a:b"], 2, "collection: Text should have no control character"),
        (["x", "--collection", "elsewhere"], 5, "elsewhere"),
        (["x", "--file", "queries.json"], 2, "not both"),
        (["--file", "nowhere.json"], 5, "nowhere.json"),
        (["--file", __file__], 2, "not JSON"),
    ],
)
def test_a_malformed_validation_says_why(arguments: list[str], code: int, message: str) -> None:
    assert message in pagelight("validate", *arguments, code=code).stderr


# Help and completion


def commands(*group: str) -> list[str]:
    text = pagelight(*group, "--help").stdout
    return re.findall(r"^│ ([a-z]+)  ", text[text.index("Commands") :], re.MULTILINE)


@pytest.mark.parametrize("group", ["documents", "keys"])
def test_each_subcommand_has_an_example_and_prints_json(group: str) -> None:
    for subcommand in commands(group):
        text = pagelight(group, subcommand, "--help").stdout
        assert f"pagelight {group} {subcommand}" in text.partition("Usage:")[2].partition("\n")[2], subcommand
        assert "--json" in text, subcommand


def test_every_command_with_results_prints_json() -> None:
    for command in set(commands()) - WITHOUT_RESULTS - {"keys"}:
        assert "--json" in pagelight(command, "--help").stdout, command


def completing(typed: str) -> dict[str, str]:
    """The environment in which bash asks what may stand behind `typed`, whose last word is the one to be completed."""
    return {"_PAGELIGHT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}


def completed(typed: str) -> list[str]:
    result = testing.CliRunner().invoke(app, [], prog_name="pagelight", env=completing(typed))
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.split()


def run_pagelight(**environment: str) -> str:
    """What the installed command prints under an environment."""
    command = shutil.which("pagelight", path=str(Path(sys.executable).parent))
    assert command
    run = subprocess.run([command], env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return run.stdout


def test_the_shell_completes_commands_and_options() -> None:
    assert completed("pagelight re") == ["reembed", "restore"]
    assert completed("pagelight keys ") == ["create", "list", "revoke"]
    assert completed("pagelight ask --rer") == ["--rerank", "--rerank-top-n"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(shell: str) -> None:
    assert f"_PAGELIGHT_COMPLETE=complete_{shell}" in run_pagelight(_PAGELIGHT_COMPLETE=f"source_{shell}")

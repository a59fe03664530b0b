"""`python -m benchmarks` in small sizes: every part runs and reports its figures; none of them is judged here."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NAMES = {
    "parsing": {"read_file takes, of the bare time"},
    "embedding": {"ours is faster by", "peak memory, ours"},
    "ingestion": {"render and parse", "cut", "embed", "store"},
    "search": {
        "1,000 chunks, owner of 100 %: hybrid p95",
        "1,000 chunks, owner of 10 %: lexical p50",
        "1,000 chunks, owner of 1 %: dense recall@10",
        "1,000 chunks: our hybrid is faster, p95",
    },
    "contract": {"query p50", "query p95"},
    "viewers": {"4 pages, our viewer: click to highlight", "4 pages, streamlit-pdf-viewer: peak memory of the browser"},
    "memory": {f"peak memory, {process}" for process in ("app", "parser", "worker")},
}
"""Some of the figures of each part."""

NEEDS_CHROMIUM = pytest.mark.skipif(not shutil.which("chromium"), reason="shows pages in Chromium")
NEEDS_PROC = pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command as `make bench` runs it."""
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize(
    "parts",
    [
        ("parsing", "embedding", "ingestion", "search", "contract"),
        pytest.param(("memory",), marks=NEEDS_PROC),
        pytest.param(("viewers",), marks=[NEEDS_PROC, NEEDS_CHROMIUM]),
    ],
)
def test_parts_run_in_small_sizes_and_write_their_figures(parts: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*parts, "--quick", "--json", tmp_path / "figures.json")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert report["quick"] is True
    assert report["machine"]["cores"] >= 1
    assert [section["part"] for section in report["parts"]] == [*parts]
    for section in report["parts"]:
        figures = {figure["name"]: figure for figure in section["figures"]}
        assert figures.keys() >= NAMES[section["part"]]
        assert all(figure["value"] > 0 for figure in figures.values())
        assert all((figure["met"] is None) == (figure["goal"] is None) for figure in figures.values())
        assert section["part"] in done.stdout


def test_an_unknown_part_is_refused_by_name() -> None:
    done = run("parsing", "speling")
    assert done.returncode == 2
    assert "speling" in done.stderr

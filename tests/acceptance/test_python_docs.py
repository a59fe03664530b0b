"""The examples of docs/python.md and the README, run in processes of their own, as a reader would run them."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests import pdfs

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_every_example_runs_and_holds(settings: Path, tmp_path: Path) -> None:
    examples = EXAMPLE.findall(ROOT.joinpath("docs", "python.md").read_text("utf-8"))
    assert len(examples) == 10
    assert printed(examples, tmp_path) == ""


def test_the_readmes_example_of_an_answer_answers(settings: Path, tmp_path: Path) -> None:
    example = EXAMPLE.search(ROOT.joinpath("README.md").read_text("utf-8"))
    assert example
    (tmp_path / "report.pdf").write_bytes(pdfs.plain(["Net sales were 12 million in 2023."]))
    assert "Net sales were 12 million in 2023." in printed([example[1]], tmp_path)


def printed(examples: list[str], folder: Path) -> str:
    """What one script of all of them prints, run in the folder; it must say nothing else."""
    script = folder / "examples.py"
    script.write_text("\n".join(examples) + "\nengine.installation.close()\n", "utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=folder,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout

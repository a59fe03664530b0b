"""The examples of docs/python.md and the README, run in processes of their own, as a reader would run them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked, pdfs
from tests.folders import open_folder

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
END = "\nengine.installation.close()\n"


def test_every_example_runs_and_holds(settings: Path, tmp_path: Path) -> None:
    """As one script, which must not say a word."""
    *examples, _ = EXAMPLE.findall(ROOT.joinpath("docs", "python.md").read_text("utf-8"))  # the last one is a test
    assert len(examples) == 14
    script = tmp_path / "examples.py"
    script.write_text("\n".join(examples) + END, "utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_the_example_of_a_test_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = EXAMPLE.findall(ROOT.joinpath("docs", "python.md").read_text("utf-8"))[-1]
    (tmp_path / "test_example.py").write_text(example, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_DATABASE_URL", "postgresql://nobody@192.0.2.1/production")
    run = """
        import sys, tempfile, pytest
        tempfile.tempdir = sys.argv[1]
        sys.exit(pytest.main(["-q", "-p", "no:cacheprovider"]))
    """
    output = tmp_path / "output"
    with open_folder() as temporary:
        assert forked.run(run, temporary, output=output) == 0, output.read_text()
        assert list(temporary.glob("pagelight-*")) == []
    assert "2 passed" in output.read_text()


@pytest.mark.usefixtures("settings")
def test_the_readmes_example_of_an_answer_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forked: that loading warns of nothing is seen above."""
    example = EXAMPLE.search(ROOT.joinpath("README.md").read_text("utf-8"))
    assert example
    (tmp_path / "report.pdf").write_bytes(pdfs.plain(["Net sales were 12 million in 2023."]))
    monkeypatch.chdir(tmp_path)
    strict = "import warnings\nwarnings.simplefilter('error')\n"
    output, errors = tmp_path / "output", tmp_path / "errors"
    code = forked.run(strict + example[1] + END, output=output, errors=errors)
    assert (code, errors.read_text()) == (0, "")
    assert "Net sales were 12 million in 2023." in output.read_text()

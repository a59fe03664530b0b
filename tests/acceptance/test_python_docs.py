"""The examples of docs/python.md, run one after the other in a process of their own, as a reader would run them."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_every_example_runs_and_holds(settings: Path, tmp_path: Path) -> None:
    examples = EXAMPLE.findall(PAGE.read_text("utf-8"))
    assert len(examples) == 10
    script = tmp_path / "examples.py"
    script.write_text("\n".join(examples) + "\nengine.installation.close()\n", "utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")

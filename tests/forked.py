"""Processes for tests to kill. They are forked from one that has imported the engine, which takes seconds each time.

And what asks and takes in, which `rag.lazy` would have each of them load.
"""

import multiprocessing
import multiprocessing.util
import os
import sys
import textwrap
from collections.abc import Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    ["rag.cli.app", "rag.engine", "rag.answering.synthesizer", "rag.ingestion.pipeline", "rag.providers.local"]
)
multiprocessing.util.get_temp_dir()  # made now: below a test's own folder the address of a socket would be too long

PAGELIGHT = "from rag.cli import main; main()"
"""The command line."""


def run(code: str, *arguments: object, output: Path | None = None) -> int:
    """`start` a process and wait for its end; gives its exit code. A negative one is the signal that has killed it."""
    process = start(code, *arguments, output=output)
    process.join()
    exit_code = process.exitcode
    process.close()
    assert exit_code is not None
    return exit_code


def start(code: str, *arguments: object, output: Path | None = None) -> ForkServerProcess:
    """Start `code` with `arguments` as `sys.argv[1:]` in a process of its own; what it prints goes to `output`."""
    command = (textwrap.dedent(code), [*map(str, arguments)], dict(os.environ), Path.cwd(), output)
    process = _context.Process(target=_execute, args=command)
    # Streamlit leaves a page's script behind as the main module of a test, and each process would run it first.
    with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
        process.start()
    return process


def _execute(
    code: str, arguments: list[str], environment: Mapping[str, str], folder: Path, output: Path | None
) -> None:
    os.chdir(folder)  # where a test is there is no `.env`
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *arguments]
    if output:
        with output.open("wb") as file:
            os.dup2(file.fileno(), sys.stdout.fileno())
            os.dup2(file.fileno(), sys.stderr.fileno())
    exec(compile(code, "<forked>", "exec"), {"__name__": "__main__"})  # a test's own

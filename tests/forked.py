"""Fork processes for tests from a server that has imported the engine, which takes seconds.

The server also imports the modules that `rag.lazy_imports` defers.
"""

import atexit
import multiprocessing
import multiprocessing.util
import os
import socket
import sys
import textwrap
from collections.abc import Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    [
        *(
            "rag.cli.app",
            "rag.engine",
            "rag.answering.generation.synthesizer",
            "rag.ingestion.pipeline",
            "rag.providers.embedded_models",
        ),
        "tests.preloaded",
    ]
)
multiprocessing.util.get_temp_dir()  # created now: below a test's folder the socket path would be too long

STDIN = 0
PAGELIGHT = "from rag.cli import main; main()"
"""Code that runs the command line."""


def run(code: str, *arguments: object, output: Path | None = None, errors: Path | None = None) -> int:
    """Start a process, wait, and return its exit code; a negative one is the signal that killed it."""
    process = start(code, *arguments, output=output, errors=errors)
    process.join()
    exit_code = process.exitcode
    process.close()
    assert exit_code is not None
    return exit_code


def start(
    code: str,
    *arguments: object,
    output: Path | None = None,
    errors: Path | None = None,
    talk: socket.socket | None = None,
) -> ForkServerProcess:
    """Start `code` with `arguments` as `sys.argv[1:]` in a separate process.

    Its stdout goes to `output`, and so does stderr unless `errors` is given. With `talk` it reads from there and writes
    to there.
    """
    streams = (talk, output, errors or output)
    command = (textwrap.dedent(code), [*map(str, arguments)], dict(os.environ), Path.cwd(), streams)
    process = _context.Process(target=_execute, args=command, daemon=True)  # ends with the tests in any case
    # Streamlit leaves a page's script as the main module, which each process would run first.
    with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
        process.start()
    return process


def stop(process: ForkServerProcess, *, seconds: float) -> None:
    """Stop a process gracefully within the timeout."""
    process.terminate()
    process.join(seconds)
    assert not process.is_alive()


def _execute(
    code: str,
    arguments: list[str],
    environment: Mapping[str, str],
    folder: Path,
    streams: tuple[socket.socket | None, Path | None, Path | None],
) -> None:
    os.chdir(folder)  # the test's folder has no `.env`
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *arguments]
    talk, *files = streams
    for path, stream in zip(files, (sys.stdout, sys.stderr), strict=True):
        if path:
            with path.open("ab") as file:  # both may be the same file
                os.dup2(file.fileno(), stream.fileno())
    if talk:
        with talk:
            os.dup2(talk.fileno(), STDIN)
            os.dup2(talk.fileno(), sys.stdout.fileno())
        sys.stdin = os.fdopen(STDIN)
    try:
        exec(compile(code, "<forked>", "exec"), {"__name__": "__main__"})  # the test's code
    finally:
        atexit._run_exitfuncs()  # Python does this at exit, but not in a forked process

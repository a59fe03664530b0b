"""Folders of database servers, and the processes that use them."""

import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.waiting import eventually


@contextmanager
def open_folder() -> Iterator[Path]:
    """Yield a temporary folder that every account can enter; no process uses it at the end.

    As root the server runs under another account, which must be able to enter. A server stops shortly after its last
    user is gone, and writes until then.
    """
    folder = Path(tempfile.mkdtemp(prefix="pagelight-test-")).resolve()
    folder.chmod(0o711)
    try:
        yield folder
        assert eventually(lambda: not processes(str(folder))), "a server was left behind"
    finally:
        kill(*processes(str(folder)))
        shutil.rmtree(folder, ignore_errors=True)  # killed processes may still be ending


@contextmanager
def shared_folder(name: str) -> Iterator[Path]:
    """Yield an open folder that the processes of a test run share; the last one to leave removes it."""
    folder = Path(tempfile.gettempdir()).resolve() / name
    folder.mkdir(exist_ok=True)
    folder.chmod(0o711)
    with (folder / "users.lock").open("a") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield folder
        finally:
            with suppress(BlockingIOError):  # others still use it
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_free = eventually(lambda: not processes(str(folder)))
                kill(*processes(str(folder)))
                shutil.rmtree(folder, ignore_errors=True)
                assert is_free, "a server was left behind"


def processes(*words: str) -> list[int]:
    """Return other processes whose command line has all the words."""
    lines = [(process.pid, " ".join(process.info["cmdline"] or ())) for process in psutil.process_iter(["cmdline"])]
    return [pid for pid, line in lines if pid != os.getpid() and all(word in line for word in words)]


def kill(*pids: int) -> None:
    """Kill processes at once, so that none reacts to another's end; ignore those already gone."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

"""Wait for servers and read the memory of processes from /proc."""

import secrets
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError

from rag import errors

PROC = Path("/proc")
INTERVAL_SECONDS = 0.1
POLL_SECONDS = 0.2
PORTS = range(20_000, 32_000)
"""Below the ephemeral ports (from 32768 on Linux, 49152 on macOS): otherwise another connection could take the port
before the server listens."""


def free_port() -> int:
    """Return a free port of this machine."""
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers."""
    while True:
        if server.poll() is not None:
            raise errors.StoreError(f"The server did not start. Run it to see why: {server.args!r}")
        try:
            with urllib.request.urlopen(url):
                return
        except (URLError, ConnectionError):
            time.sleep(POLL_SECONDS)


@dataclass(frozen=True)
class Process:
    """A process; `peak_mb` is its peak resident memory."""

    pid: int
    parent: int
    command: str
    peak_mb: float


def running() -> dict[int, Process]:
    """Return all processes by id, without those that end meanwhile."""
    found: dict[int, Process] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError, KeyError, IndexError):
                found[int(folder.name)] = _read(folder)
    return found


def _read(folder: Path) -> Process:
    pairs = (line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
    status = dict(pairs)
    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return Process(int(folder.name), int(status["PPid"]), command, int(status["VmHWM"].split()[0]) / 1000)


def below(roots: set[int], processes: dict[int, Process]) -> list[Process]:
    """Return the processes of `roots` and their descendants."""
    family = set(roots)
    grown = True
    while grown:
        children = {process.pid for process in processes.values() if process.parent in family} - family
        family |= children
        grown = bool(children)
    return [processes[pid] for pid in sorted(family) if pid in processes]


@dataclass
class Peaks:
    """The peak memory of processes by kind, in MB."""

    kind: Callable[[Process], str]
    megabytes: dict[str, float] = field(default_factory=dict)

    def look(self, roots: set[int]) -> None:
        """Record the peaks of the processes below `roots`."""
        for process in below(roots, running()):
            kind = self.kind(process)
            self.megabytes[kind] = max(self.megabytes.get(kind, 0.0), process.peak_mb)

    @contextmanager
    def watching(self, roots: set[int]) -> Iterator[None]:
        """Record peaks repeatedly until the block ends."""
        done = threading.Event()

        def watch() -> None:
            while not done.wait(INTERVAL_SECONDS):
                self.look(roots)

        thread = threading.Thread(target=watch, name="peaks")
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self.look(roots)

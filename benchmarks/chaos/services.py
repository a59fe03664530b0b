"""The processes of an installation: `pagelight serve`, `pagelight worker`, the app and their children.

Ended services are restarted at once, as by a service manager.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

import rag
from benchmarks.processes import PROC, Process, below, free_port, running

POLL_SECONDS = 0.2
HEALTH_SECONDS = 10.0
RECOVERY_SECONDS = 180.0
END_SECONDS = 30.0
FOREIGN = ("RAG_", "STREAMLIT_", "OPENAI_", "GEMINI_", "GOOGLE_", "PG")
"""The caller's settings, which these processes must not inherit."""
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Disables bytecode, so each of the many processes would compile all modules."""


@dataclass
class Service:
    """A process to keep running."""

    name: str
    arguments: list[str]
    settings: Mapping[str, str]
    url: str | None = None
    process: subprocess.Popen[bytes] | None = None


@dataclass
class Services:
    """The services of an installation with data folder `data`.

    `logs` is on another file system, `temporary` on the same. One of two `workers` is started by the app. `patience`
    multiplies all timeouts on busy machines.
    """

    data: Path
    temporary: Path
    logs: Path
    workers: int = 2
    patience: int = 1
    _stopping: threading.Event = field(default_factory=threading.Event)
    _keepers: list[threading.Thread] = field(default_factory=list)
    cuts: int = 0
    """Changes at a power cut and at recovery; answers across it do not count."""

    def __post_init__(self) -> None:
        ports = [str(free_port()) for _ in range(2)]
        serve = Service("api", ["serve", "--port", ports[0]], {"RAG_WORKER": "false"}, f"http://127.0.0.1:{ports[0]}")
        app = Service(
            "app",
            ["run", "--port", ports[1], "--no-browser"],
            {"RAG_WORKER": str(self.workers > 1)},
            f"http://127.0.0.1:{ports[1]}/api",
        )
        self._services = [serve, Service("worker", ["worker"], {}), app]

    @property
    def urls(self) -> list[str]:
        """The base URLs of the servers."""
        return [service.url for service in self._services if service.url]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of all processes; `RAG_DATA_DIR` identifies them."""
        own = {name: value for name, value in os.environ.items() if not name.startswith((*FOREIGN, NO_BYTECODE))}
        models = {name: value for name, value in os.environ.items() if name == "RAG_LOCAL_MODEL_DIR"}
        return own | models | {
            "RAG_DATA_DIR": str(self.data),
            "RAG_EMBED_MODEL": "local",
            "RAG_RATE_LIMIT_PER_MINUTE": "0",
            "RAG_WORKER_READERS": "1",
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": str(Path(rag.__file__).parents[1]),
            "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
            "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
            "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
        }  # fmt: skip

    def start(self) -> None:
        """Start what is not running, and keep it running."""
        self._stopping.clear()
        for service in self._services:
            keeper = threading.Thread(target=self._keep, args=(service,), name=f"keeper-{service.name}")
            keeper.start()
            self._keepers.append(keeper)

    def _keep(self, service: Service) -> None:
        while not self._stopping.is_set():
            service.process = self.run(*service.arguments, log=service.name, settings=service.settings)
            while service.process.poll() is None and not self._stopping.wait(POLL_SECONDS):
                pass

    def run(self, *arguments: str, log: str, settings: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Run a `pagelight` command in this installation."""
        return self.python("-m", "rag", *arguments, log=log, settings=settings)

    def python(self, *arguments: str, log: str, settings: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Run Python in this installation."""
        with (self.logs / f"{log}.log").open("ab") as output:
            return subprocess.Popen(
                [sys.executable, *arguments],
                env=self.environment | dict(settings or {}),
                cwd=self.logs,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def _leave(self) -> None:
        self._stopping.set()
        for keeper in self._keepers:
            keeper.join()
        self._keepers.clear()

    def stop(self) -> list[Process]:
        """Ask all services to end; return the processes that do not."""
        self._leave()
        for service in self._services:
            if service.process:
                service.process.terminate()
        left = _gone(self.all, END_SECONDS * self.patience)
        self.kill(left)
        return left

    def cut(self) -> None:
        """End all services at once."""
        self._leave()
        while found := self.all():
            self.kill(found)
            time.sleep(POLL_SECONDS / 4)

    @staticmethod
    def kill(processes: list[Process]) -> None:
        """Kill processes with SIGKILL."""
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process.pid, 9)

    def all(self) -> list[Process]:
        """Return every process of the installation, regardless of its parent."""
        for service in self._services:
            if service.process:
                service.process.poll()
        return [process for process in running().values() if self._owns(process)]

    def _owns(self, process: Process) -> bool:
        """Identify a process by its environment, PostgreSQL's by their working folder."""
        folder = PROC / str(process.pid)
        with suppress(OSError):
            if f"RAG_DATA_DIR={self.data}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                return process.pid != os.getpid()
            return str((folder / "cwd").readlink()).startswith(str(self.data))
        return False

    def left_over(self) -> list[Process]:
        """Return processes that descend neither from the services nor from the only supervisor, after a while."""
        return _gone(self._strays, END_SECONDS * self.patience)

    def _strays(self) -> list[Process]:
        everything = running()
        found = [process for process in everything.values() if self._owns(process)]
        roots = {service.process.pid for service in self._services if service.process}
        supervisors = [process.pid for process in found if is_supervisor(process)]
        family = {process.pid for process in below({*roots, *supervisors[:1]}, everything)}
        return [process for process in found if process.pid not in family]

    def wait_until_healthy(self) -> list[str]:
        """Wait for all servers; return those that do not become healthy."""
        deadline = time.monotonic() + RECOVERY_SECONDS * self.patience
        waiting = list(self.urls)
        while waiting and time.monotonic() < deadline:
            waiting = [url for url in waiting if not is_healthy(url, HEALTH_SECONDS * self.patience)]
            if waiting:
                time.sleep(POLL_SECONDS)
        return waiting


def is_healthy(url: str, seconds: float) -> bool:
    """Return whether a server reports good health within the timeout."""
    try:
        return httpx.get(f"{url}/health", timeout=seconds).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def _gone(look: Callable[[], list[Process]], seconds: float) -> list[Process]:
    """Wait for processes to end; return those that are still running."""
    deadline = time.monotonic() + seconds
    while (found := look()) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return found


def is_supervisor(process: Process) -> bool:
    """Return whether a process supervises the embedded server."""
    return "server_supervisor.py" in process.command

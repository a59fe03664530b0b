"""Faults: killed processes, a full disk, a frozen database, a power cut."""

import os
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

import httpx

from benchmarks.chaos.disks import Folder
from benchmarks.chaos.ledger import Ledger, Wrong
from benchmarks.chaos.services import Services, is_supervisor
from benchmarks.processes import Process

WAIT_SECONDS = 60.0
"""Timeout for a process of the kind to appear."""
PROBED = {"/health": 10.0, "/documents": 30.0, "/conversations": 30.0}
"""Requests to each server while the database is frozen, with the timeout of their answers in seconds.

Servers promise 5 seconds for health and 15 for slow requests; the rest is for busy machines.
"""


@dataclass(frozen=True)
class Stage:
    """The installation that faults affect; `key` authenticates requests, `quick` shortens the faults."""

    services: Services
    disk: Folder
    ledger: Ledger
    key: str
    random: random.Random
    quick: bool


def processes(services: Services, kind: str) -> list[Process]:
    """Return the running processes of a kind."""
    found = services.all()
    supervisors = {process.pid for process in found if is_supervisor(process)}
    postmasters = {process.pid for process in found if process.parent in supervisors and "postgres" in process.command}
    tests: dict[str, Callable[[Process], bool]] = {
        "app": lambda process: "serving.py run " in process.command,
        "api": lambda process: " rag serve" in process.command,
        "worker": lambda process: " rag worker" in process.command or "rag.worker" in process.command,
        "parser": lambda process: "rag.parsing.worker.fork_server" in process.command,
        "backend": lambda process: process.parent in postmasters,
        "postmaster": lambda process: process.pid in postmasters,
        "supervisor": lambda process: process.pid in supervisors,
    }
    return [process for process in found if tests[kind](process)]


KILLED = ("worker", "parser", "backend", "api", "postmaster", "app", "supervisor")


def kill(stage: Stage, kind: str) -> str:
    """Kill one process of a kind with SIGKILL."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := processes(stage.services, kind)) and time.monotonic() < deadline:
        time.sleep(0.02)
    if not found:
        return f"there was no {kind} to kill"
    chosen = stage.random.choice(found)
    stage.services.kill([chosen])
    return f"killed {kind} {chosen.pid}: {chosen.command[:80]}"


def fill_disk(stage: Stage) -> str:
    """Keep the disk full for a while."""
    size = stage.disk.fill()
    time.sleep(stage.random.uniform(1, 2) if stage.quick else stage.random.uniform(5, 12))
    stage.disk.free()
    return f"filled {size / 1e6:,.0f} MB"


def freeze_database(stage: Stage) -> str:
    """Stop the database's processes for a while; requests must fail in time meanwhile."""
    stopped = [process for kind in ("postmaster", "backend") for process in processes(stage.services, kind)]
    _signal(stopped, signal.SIGSTOP)
    # Stop processes forked meanwhile.
    late = [process for process in processes(stage.services, "backend") if process not in stopped]
    _signal(late, signal.SIGSTOP)
    started = time.monotonic()
    try:
        doors = [(url, path) for url in stage.services.urls for path in PROBED]
        with ThreadPoolExecutor(len(doors)) as pool:
            for _ in pool.map(lambda door: _probe(stage, *door), doors):
                pass
        if not stage.quick:
            time.sleep(stage.random.uniform(1, 8))
    finally:
        _signal([*stopped, *late], signal.SIGCONT)
    return f"{len(stopped) + len(late)} processes stood still for {time.monotonic() - started:.0f} s"


def _probe(stage: Stage, url: str, path: str) -> None:
    seconds = PROBED[path] * stage.services.patience
    try:
        httpx.get(f"{url}{path}", headers={"x-api-key": stage.key}, timeout=seconds)
    except httpx.TimeoutException:
        door = "app" if url.endswith("/api") else "api"
        evidence = f"no answer within {seconds:.0f} s while the database stood still"
        stage.ledger.report(Wrong.HUNG, f"GET {path} of the {door}, {stage.ledger.round}", evidence)
    except httpx.HTTPError:
        pass  # it may end and be restarted


def _signal(stopped: list[Process], request: signal.Signals) -> None:
    for process in stopped:
        with suppress(ProcessLookupError):
            os.kill(process.pid, request)


def cut_power(stage: Stage) -> str:
    """Lose unsynced data, end all processes and start again."""
    stage.services.cuts += 1
    stage.disk.crash()
    stage.services.cut()
    stage.services.cuts += 1
    stage.disk.revive()
    stage.services.start()
    return "the file system crashed, and all processes ended"

"""Load test of `pagelight serve`: clients of `/retrieve` send requests without pause, on the same machine.

Needs locust (`pip install --group load`), and Linux, whose /proc reports the server's memory.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from benchmarks import databases, libraries, material
from benchmarks.libraries import Library
from benchmarks.processes import PROC, free_port, wait_for
from benchmarks.report import Section, at_most
from benchmarks.settings import Options
from rag import errors, providers

CHUNKS, QUICK_CHUNKS = 20_000, 500
CLIENTS, QUICK_CLIENTS = (1, 10, 50), (2,)
SECONDS, QUICK_SECONDS = 60, 3
STEADY_CLIENTS = 10
STEADY_SECONDS = 300
SAMPLE_SECONDS = 5.0

P95_MS = at_most(2000)
"""The contract of `/retrieve`: 95 % of requests in less than two seconds."""

FAILURES = at_most(0)
GROWTH = at_most(1.05)
"""Growth of the server's memory from the second minute to the last."""

LOCUSTFILE = Path(__file__).with_name("locustfile.py")


def measure(options: Options, section: Section) -> None:
    """Measure with embedded models that embed each question, and only the server's own caches."""
    locust = shutil.which("locust")
    if locust is None:
        raise errors.ConfigError("This benchmark needs locust, which is not installed: pip install --group load")
    chunks = QUICK_CHUNKS if options.quick else CHUNKS
    space, _ = providers.Registry().embedding_model(options.config)
    library = Library("local", chunks // libraries.CHUNKS_PER_DOCUMENT, space)
    section.about = f"{library.size:,} chunks, questions of {libraries.QUESTION_WORDS} words, clients without a pause"
    with (
        databases.server(options) as server_url,
        databases.filled(
            server_url, f"load_{chunks}", lambda url: libraries.fill(url, [library]), keep=not options.quick
        ) as url,
        serving(url, options) as (base_url, pid),
        tempfile.TemporaryDirectory() as folder,
    ):
        words = Path(folder, "words.json")
        words.write_text(json.dumps([str(word) for word in material.words()]), encoding="utf-8")
        load = Load(locust, base_url, words)
        load.run(2, QUICK_SECONDS)  # warm up
        seconds = QUICK_SECONDS if options.quick else SECONDS
        for clients in QUICK_CLIENTS if options.quick else CLIENTS:
            _add(section, clients, load.run(clients, seconds))
        if not options.quick:
            _measure_memory(section, load, pid)
        _forget(url)


class Load:
    """Runs locust."""

    def __init__(self, locust: str, base_url: str, words: Path) -> None:
        self._command = [locust, "-f", str(LOCUSTFILE), "--headless", "--host", base_url, "--json"]
        self._environment = {**os.environ, "BENCHMARK_WORDS": str(words)}

    def start(self, clients: int, seconds: int) -> subprocess.Popen[str]:
        """Run `clients` clients for the given time."""
        command = [*self._command, "-u", str(clients), "-r", str(clients), "-t", f"{seconds}s"]
        return subprocess.Popen(
            command, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def run(self, clients: int, seconds: int) -> dict[str, float]:
        """Return locust's final counts; times in milliseconds."""
        output, _ = self.start(clients, seconds).communicate()
        return summed_up(json.loads(output)[0])


def summed_up(stats: dict[str, Any]) -> dict[str, float]:
    """Return requests per second, response time percentiles and failures from locust's counts."""
    times = {int(ms): int(count) for ms, count in stats["response_times"].items()}
    requests = sum(times.values())
    seconds = float(stats["last_request_timestamp"]) - float(stats["start_time"])
    return {
        "rps": requests / seconds,
        "p50": _percentile(times, 0.50),
        "p95": _percentile(times, 0.95),
        "failures": float(stats["num_failures"]),
    }


def _percentile(times: dict[int, int], share: float) -> float:
    wanted, seen = share * sum(times.values()), 0
    for ms in sorted(times):
        seen += times[ms]
        if seen >= wanted:
            return float(ms)
    return 0.0


def _add(section: Section, clients: int, found: dict[str, float]) -> None:
    section.add(f"{clients} clients, requests per second", found["rps"], "1/s")
    section.add(f"{clients} clients, p50", found["p50"], "ms")
    section.add(f"{clients} clients, p95", found["p95"], "ms", P95_MS)
    section.add(f"{clients} clients, failures", found["failures"], "", FAILURES)


def _measure_memory(section: Section, load: Load, pid: int) -> None:
    """Measure resident memory over five minutes of load."""
    running = load.start(STEADY_CLIENTS, STEADY_SECONDS)
    samples: list[tuple[float, float]] = []
    started = time.monotonic()
    while running.poll() is None:
        samples.append((time.monotonic() - started, _resident_mb(pid)))
        time.sleep(SAMPLE_SECONDS)
    second = statistics.fmean(mb for at, mb in samples if 60 <= at < 120)
    last = statistics.fmean(mb for at, mb in samples if at >= STEADY_SECONDS - 60)
    section.add("server's memory in the last of five minutes", last, "MB")
    section.add("last minute / second minute", last / second, "×", GROWTH)


def _resident_mb(pid: int) -> float:
    lines = (PROC / str(pid) / "status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS:"))


def _forget(url: str) -> None:
    """Delete the cached vectors of the questions, so that the database can be reused."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("TRUNCATE embedding_cache")


@contextmanager
def serving(database_url: str, options: Options) -> Iterator[tuple[str, int]]:
    """Run `pagelight serve` on a free port without rate limits; yield its base URL and process id."""
    port = free_port()
    settings = {"RAG_DATABASE_URL": database_url, "RAG_RATE_LIMIT_PER_MINUTE": "0", "RAG_WORKER": "false"}
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        subprocess.Popen(
            [sys.executable, "-m", "rag", "serve", "--port", str(port)],
            env={**os.environ, **settings, "RAG_DATA_DIR": folder},
            stderr=subprocess.DEVNULL,
        ) as server,
    ):
        url = f"http://127.0.0.1:{port}"
        try:
            wait_for(f"{url}/health", server)
            yield url, server.pid
        finally:
            server.terminate()

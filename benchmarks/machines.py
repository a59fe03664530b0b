"""Test two simulated machines, each with a `pagelight serve`, a `pagelight worker` and a data folder.

They share a PostgreSQL on TCP and an S3 store, and searches use a replica. 50 clients send requests for three minutes;
meanwhile one server and one worker are killed with SIGKILL and restarted. Reported are

- errors: failed or interrupted requests, except connections of the killed server
- lost: confirmed documents that are missing, not ready, or without a file
- doubled: two documents of one upload
- admitted too much: requests of one key at both servers beyond its limit

The store is that of `RAG_STORAGE_URL`, with credentials from the environment (`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`
…). The database is that of `RAG_DATABASE_URL`; otherwise a server and a replica are started.
"""

import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pydantic

import rag
from benchmarks import databases, servers
from benchmarks.chaos import files
from benchmarks.chaos.ledger import log_progress
from benchmarks.chaos.services import FOREIGN, is_healthy
from benchmarks.processes import free_port
from benchmarks.report import Section, at_most
from benchmarks.settings import Options
from rag import errors
from rag.engine import Installation
from rag.store.server import database_roles

CLIENTS, QUICK_CLIENTS = 50, 6
SECONDS, QUICK_SECONDS = 180.0, 20.0
USERS = 5
PER_MINUTE = 30
"""Requests per key and minute; each client has its own key, and only the eager one reaches the limit."""
THINK_SECONDS = (2.0, 6.0)
EAGER_SECONDS = 0.1
ATTEMPTS = 5
"""Attempts, alternating between both servers; an overloaded one says when to retry."""
CLIENT_SECONDS = 120.0
HEALTHY_SECONDS = 300.0
SETTLE_SECONDS = 300.0
POLL_SECONDS = 0.2
NOTICED_SECONDS = 1.0
"""Seconds within which a client notices that its server was killed."""
NONE = at_most(0)
MACHINES = ("first", "second")


@dataclass
class RestartedProcess:
    """A process that is restarted whenever it ends."""

    name: str
    arguments: list[str]
    environment: dict[str, str]
    log: Path
    url: str = ""
    process: subprocess.Popen[bytes] | None = None
    _stopping: threading.Event = field(default_factory=threading.Event)
    _keeper: threading.Thread | None = None

    def start(self) -> None:
        """Start the process and keep it running."""
        self._keeper = threading.Thread(target=self._keep, name=f"keeper of {self.name}")
        self._keeper.start()

    def _keep(self) -> None:
        while not self._stopping.is_set():
            with self.log.open("ab") as log:
                command = [sys.executable, "-m", "rag", *self.arguments]
                self.process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, cwd="/")
            while self.process.poll() is None and not self._stopping.wait(POLL_SECONDS):
                pass

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        if self.process:
            self.process.kill()

    def stop(self) -> None:
        """Ask the process to end."""
        self._stopping.set()
        if self._keeper and self.process:
            self._keeper.join()
            self.process.terminate()
            self.process.wait()


@dataclass
class Found:
    """The results reported by the clients."""

    uploads: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """Ids by user and SHA-256."""
    requests: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    cut_off: int = 0
    admitted: int = 0
    refused: int = 0
    killed: set[str] = field(default_factory=set)
    """Servers that are down because they were killed."""
    lock: threading.Lock = field(default_factory=threading.Lock)


def measure(options: Options, section: Section) -> None:
    """Run clients at both servers and check the state afterwards."""
    storage = options.config.rag_storage_url
    if not storage:
        raise errors.ConfigError("Set RAG_STORAGE_URL to s3://bucket/folder, and AWS_ENDPOINT_URL to its server.")
    seconds, clients = (QUICK_SECONDS, QUICK_CLIENTS) if options.quick else (SECONDS, CLIENTS)
    with (
        tempfile.TemporaryDirectory(prefix="machines-", dir=options.folder) as name,
        _database(options, Path(name)) as database,
    ):
        Path(name).chmod(0o755)
        settings = database | {"RAG_STORAGE_URL": f"{storage.rstrip('/')}/machines-{uuid.uuid4().hex[:8]}"}
        with _opened(options, settings, Path(name)) as installation:
            users = [installation.for_user(f"user{number % USERS}") for number in range(clients)]
            keys = [user.keys.create("benchmark", ("write",))[1] for user in users]
            eager = installation.for_user("eager").keys.create("benchmark", ("read",))[1]
        doors, workers = _services(settings, Path(name))
        found = Found()
        try:
            for service in (*doors, *workers):
                service.start()
            _wait_until_healthy(doors)
            lasted = _run(found, doors, workers, (keys, eager), seconds)
            _wait_until_healthy(doors)
            with _opened(options, settings, Path(name)) as installation:
                lost, doubled = _census(installation, settings["RAG_DATABASE_URL"], found)
        finally:
            for service in (*doors, *workers):
                service.stop()
    section.about = f"2 serve, 2 workers, {clients} clients, {lasted:.0f} s; one of each killed"
    _add(section, found, lost, doubled, lasted)


def _add(section: Section, found: Found, lost: list[str], doubled: list[str], lasted: float) -> None:
    for name, count in sorted(found.requests.items()):
        section.add(name, count, "requests")
    section.add("all, per second", found.requests.total() / lasted, "1/s")
    section.add("cut off by the kill", found.cut_off, "requests")
    section.add("errors", len(found.errors), "requests", NONE)
    section.add("confirmed uploads", len(found.uploads), "documents")
    section.add("lost", len(lost), "documents", NONE)
    section.add("doubled", len(doubled), "documents", NONE)
    allowed = PER_MINUTE * (1 + lasted / 60)
    section.add("admitted for one key at both servers", found.admitted, "requests", at_most(allowed))
    section.add("refused for it", found.refused, "requests")
    section.notes = [*found.errors, *lost, *doubled]
    section.failed = bool(section.notes) or found.admitted > allowed


@contextmanager
def _database(options: Options, folder: Path) -> Iterator[dict[str, str]]:
    """Yield settings of a new database on the server of `RAG_DATABASE_URL`, or on a new one with a replica."""
    if given := options.config.rag_database_url:
        replica = options.config.rag_database_replica_url
        with databases.temporary(given.get_secret_value()) as url:
            if replica:
                raise errors.ConfigError("A replica only has its primary's databases. Unset RAG_DATABASE_REPLICA_URL.")
            yield {"RAG_DATABASE_URL": url}
        return
    folder.chmod(0o755)
    with servers.primary(folder / "primary") as primary, servers.replica(primary, folder / "replica") as following:
        yield {"RAG_DATABASE_URL": primary.url, "RAG_DATABASE_REPLICA_URL": following.url}


@contextmanager
def _opened(options: Options, settings: dict[str, str], folder: Path) -> Iterator[Installation]:
    """Open the same installation, to create keys and count."""
    changes: dict[str, Any] = {"rag_data_dir": folder / "own", "rag_storage_url": settings["RAG_STORAGE_URL"]}
    changes |= {"rag_database_url": pydantic.SecretStr(settings["RAG_DATABASE_URL"]), "rag_database_replica_url": None}
    with Installation(options.config.model_copy(update=changes)) as installation:
        yield installation


def _services(settings: dict[str, str], folder: Path) -> tuple[list[RestartedProcess], list[RestartedProcess]]:
    """Yield the servers and workers of both machines."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    doors, workers = [], []
    for machine in MACHINES:
        data, temporary, port = folder / machine, folder / f"{machine}-tmp", free_port()
        temporary.mkdir()
        environment = own | settings | {
            "RAG_DATA_DIR": str(data),
            "RAG_EMBED_MODEL": "local",
            "RAG_RATE_LIMIT_PER_MINUTE": str(PER_MINUTE),
            "RAG_WORKER": "false",
            "RAG_WORKER_READERS": "1",
            "TMPDIR": str(temporary),
            "PYTHONPATH": os.pathsep.join([str(Path(rag.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]),
        }  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        logs = [folder / f"{machine}-{kind}.log" for kind in ("serve", "worker")]
        doors.append(RestartedProcess(f"{machine} serve", ["serve", "--port", str(port)], environment, logs[0], url))
        workers.append(RestartedProcess(f"{machine} worker", ["worker"], environment, logs[1]))
    return doors, workers


def _wait_until_healthy(doors: list[RestartedProcess]) -> None:
    deadline = time.monotonic() + HEALTHY_SECONDS
    for door in doors:
        while not is_healthy(door.url, HEALTHY_SECONDS):
            if time.monotonic() > deadline:
                raise errors.StoreError(f"The {door.name} does not answer: {door.log.read_text()[-2000:]}")
            time.sleep(POLL_SECONDS)


def _run(
    found: Found,
    doors: list[RestartedProcess],
    workers: list[RestartedProcess],
    keys: tuple[list[str], str],
    seconds: float,
) -> float:
    """Run the clients and kill processes meanwhile; return the duration in seconds."""
    started = time.monotonic()
    until = started + seconds
    urls = [door.url for door in doors]
    clients = [Client(number, key, urls, found, until) for number, key in enumerate(keys[0])]
    everybody: list[threading.Thread] = [*clients, Eager(keys[1], urls, found, until)]
    for client in everybody:
        client.start()
    time.sleep(seconds / 3)
    log_progress(f"killing the {doors[0].name}")
    found.killed.add(doors[0].url)
    doors[0].kill()
    _wait_until_healthy(doors[:1])
    time.sleep(NOTICED_SECONDS)
    found.killed.discard(doors[0].url)
    log_progress("it is back")
    time.sleep(max(0.0, started + 2 * seconds / 3 - time.monotonic()))
    log_progress(f"killing the {workers[1].name}")
    workers[1].kill()
    for client in everybody:
        client.join()
    return time.monotonic() - started


class Client(threading.Thread):
    """Uploads, searches and asks at either server; a disconnected client retries at the other one."""

    def __init__(self, number: int, key: str, urls: list[str], found: Found, until: float) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self._number = number
        self._user = f"user{number % USERS}"
        self._random = random.Random(number)
        # One connection per request: a reused one could belong to the killed process and fail after its restart.
        self._client = httpx.Client(headers={"x-api-key": key, "connection": "close"}, timeout=CLIENT_SECONDS)
        self._urls = urls
        self._found = found
        self._until = until
        self._sent = 0

    def run(self) -> None:
        """Run until the end."""
        acts = {self._search: 6, self._list: 3, self._upload: 1, self._ask: 1, self._count: 2}
        while time.monotonic() < self._until:
            self._random.choices([*acts], [*acts.values()])[0]()
            time.sleep(self._random.uniform(*THINK_SECONDS))

    def _upload(self) -> None:
        self._sent += 1
        file = files.make(self._number * 1000 + self._sent, self._random.randint(1, 2), kind="pdf")
        own = {"idempotency-key": f"{self._number}-{file.name}"}
        sent = {"files": {"file": (file.name, file.content)}, "headers": own}
        if answer := self._insist("POST", "/documents", sent):
            with self._found.lock:
                self._found.uploads.setdefault((self._user, file.sha256), set()).add(answer.json()["id"])

    def _search(self) -> None:
        self._insist("POST", "/search", {"json": {"query": f"what is said of number {self._random.randint(1, 99)}"}})

    def _ask(self) -> None:
        self._insist("POST", "/ask", {"json": {"question": f"What is said of number {self._random.randint(1, 99)}?"}})

    def _list(self) -> None:
        self._insist("GET", "/documents", {})

    def _count(self) -> None:
        self._insist("GET", "/indexes", {})

    def _insist(self, method: str, path: str, body: dict[str, Any]) -> httpx.Response | None:
        """Return an answer, from the other server if one disconnects or is busy."""
        urls = self._random.sample(self._urls, len(self._urls))
        for url in urls * ATTEMPTS:
            try:
                answer = self._client.request(method, f"{url}{path}", **body)
            except httpx.HTTPError as error:
                if not self._is_excused(url):
                    self._wrong(f"{method} {path} at {url}: {type(error).__name__}")
                    return None
                continue
            is_busy = answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
            with self._found.lock:
                self._found.requests["asked to retry" if is_busy else f"{method} {path}"] += 1
            if is_busy:
                time.sleep(float(answer.headers.get("retry-after", 1)))
                continue
            if answer.is_success:
                return answer
            self._wrong(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
            return None
        self._wrong(f"{method} {path}: no door answers, or all are busy")
        return None

    def _is_excused(self, url: str) -> bool:
        with self._found.lock:
            self._found.cut_off += url in self._found.killed
        return url in self._found.killed

    def _wrong(self, what: str) -> None:
        with self._found.lock:
            self._found.errors.append(f"error: {self.name}: {what}")
        log_progress(what)


class Eager(threading.Thread):
    """Alternates between both servers with one key, beyond its rate limit."""

    def __init__(self, key: str, urls: list[str], found: Found, until: float) -> None:
        super().__init__(name="eager", daemon=True)
        self._client = httpx.Client(headers={"x-api-key": key}, timeout=CLIENT_SECONDS)
        self._urls = urls
        self._found = found
        self._until = until

    def run(self) -> None:
        """Run until the end."""
        number = 0
        while time.monotonic() < self._until:
            number += 1
            try:
                status = self._client.get(f"{self._urls[number % len(self._urls)]}/jobs").status_code
            except httpx.HTTPError:
                continue
            self._found.admitted += status == HTTPStatus.OK
            self._found.refused += status == HTTPStatus.TOO_MANY_REQUESTS
            time.sleep(EAGER_SECONDS)


def _census(installation: Installation, database_url: str, found: Found) -> tuple[list[str], list[str]]:
    """Return confirmed documents that are missing or not ready in time, and duplicated uploads."""
    confirmed = [(user, uuid.UUID(one)) for (user, _), ids in sorted(found.uploads.items()) for one in sorted(ids)]
    troubles = [(user, one, _trouble(installation, user, one)) for user, one in confirmed]
    lost = [f"lost: {one} of {user}: {trouble}" for user, one, trouble in troubles if trouble]
    doubled = [f"doubled: {sha256} of {user}: {ids}" for (user, sha256), ids in found.uploads.items() if len(ids) > 1]
    with psycopg.connect(database_roles.administrator(database_url)) as connection:
        twice = "SELECT user_id, sha256, count(*) FROM documents GROUP BY 1, 2 HAVING count(*) > 1"
        doubled += [f"doubled: {row}" for row in connection.execute(twice)]
    return lost, doubled


def _trouble(installation: Installation, user: str, document_id: uuid.UUID) -> str | None:
    deadline = time.monotonic() + SETTLE_SECONDS
    engine = installation.for_user(user)
    try:
        while (document := engine.documents.get(document_id)).status.value not in ("ready", "failed"):
            if time.monotonic() > deadline:
                return f"is {document.status.value} after {SETTLE_SECONDS:.0f} s"
            time.sleep(POLL_SECONDS)
        if document.status.value == "failed":
            return f"failed: {document.error}"
        engine.files.original(document_id)
    except errors.Error as error:
        return error.message
    return None

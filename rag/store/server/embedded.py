"""The embedded PostgreSQL server: binaries out of a wheel, a life cycle of our own.

``start(root)`` gives this process a share in the server under `root`: the first user makes the cluster and
starts the server, the last one to go (or to be killed) ends it. The supervisor sees to the server, and its users
see to the supervisor: one that was killed is followed by another. Under `root` there are the data directory
``pgdata``, the lock files described in :mod:`rag.store.server.server_supervisor`, and ``postgres.log``.
The server listens on a Unix socket in a folder that only its account can enter, never on the network, and admits only
whom the kernel names as one of its owners (peer authentication).
"""

import contextlib
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from rag import errors
from rag.store.server import named_queries, timeouts
from rag.store.server.database import connect

if sys.platform != "win32":
    import fcntl

    from rag.store.server import cluster_directory, server_supervisor

logger = logging.getLogger(__name__)

START_LOCK = "start.lock"
START_SECONDS = 120.0
"""Longest wait for a server: it may have to end an earlier one and to replay `max_wal_size` of log."""
LOOK_SECONDS = 1.0
"""How often each user sees whether the server still has its supervisor."""
SHARED_MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108  # only its free space is looked at
SHARED_MEMORY_BYTES = 1 << 30

SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "512MB",  # an HNSW build with the default of 64 MB takes 3.4 times as long
    "max_wal_size": "2GB",
    "fsync": "on",
    "synchronous_commit": "on",
    "jit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_min_messages": "log",  # not the errors of statements: they quote what users wrote, and who sent it gets them
}


@dataclass(frozen=True)
class EmbeddedServer:
    """This process's share in a running server, kept until `close` or the end of the process.

    `url` is a connection URL for psycopg and names the superuser. A process made by `fork` has no part in
    its parent's share; it takes its own.
    """

    data_dir: Path
    url: str
    _share: "_Share" = field(repr=False, compare=False)

    def close(self) -> None:
        """Give up the share. The server stops when the last one is gone. Closing again does nothing."""
        self._share.close()


def binaries() -> Path:
    """The folder of `postgres`, `initdb`, `psql` and so on, in the wheel.

    Raises:
        errors.ConfigError: there is no wheel for this system, or it is not installed.
    """
    _refuse_windows()
    return cluster_directory.binaries()


def start(root: Path) -> EmbeddedServer:
    """Take a share in the server under `root`, which is started if it does not run.

    Any number of processes, and of threads in them, may call this at once.

    Raises:
        errors.ConfigError: this system has no embedded server, or its account cannot enter `root`.
        errors.StoreUnavailableError: the server runs, but does not answer.
        errors.StoreError: the folder cannot be used or the server does not start; `details["log"]` has the
            end of the server's log.
    """
    _refuse_windows()
    place = cluster_directory.Cluster(root.expanduser().resolve(), cluster_directory.server_account())
    with _folder_errors(place.root), contextlib.ExitStack() as undo:
        cluster_directory.make_root(place)
        share = _Share(place.root)
        undo.callback(share.close)
        with _start_lock(place.root):
            cluster_directory.ensure_cluster(place)
            is_news = cluster_directory.write_access_rules(place)
            _ensure_served(place)
            if is_news:
                _reload(place)
        undo.pop_all()
    share.keep(place)
    return EmbeddedServer(data_dir=place.data_dir, url=place.url, _share=share)


def address(root: Path) -> str:
    """The URL by which the owner of the server under `root` gets in by hand while it runs; there is no secret in it."""
    return cluster_directory.Cluster(root.expanduser().resolve(), cluster_directory.server_account()).url


class _Share:
    """A shared lock that counts this process among the users."""

    def __init__(self, root: Path) -> None:
        self._descriptor: int | None = server_supervisor.open_lock(root / server_supervisor.USERS_LOCK)
        # A supervisor that is about to stop holds the lock alone until it has.
        if not server_supervisor.lock(self._descriptor, fcntl.LOCK_SH, seconds=START_SECONDS):
            self.close()
            raise errors.StoreError(f"The database server in {root} has been stopping for too long. Try again later.")
        os.register_at_fork(after_in_child=self.close)

    def keep(self, place: cluster_directory.Cluster) -> None:
        """Have a thread start the server again when its supervisor was killed, as long as there is the share."""
        threading.Thread(target=self._keep, args=(place,), name="database-keeper", daemon=True).start()

    def _keep(self, place: cluster_directory.Cluster) -> None:
        time.sleep(LOOK_SECONDS)
        while self._descriptor is not None:  # no event: a fork could find its lock taken, by nobody
            try:
                _see_to_supervisor(place)
            except (errors.Error, OSError) as error:
                logger.warning("The database server is not back: %s", error)
            time.sleep(LOOK_SECONDS)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def _refuse_windows() -> None:
    if sys.platform == "win32":
        raise errors.ConfigError(
            "There is no embedded PostgreSQL server for Windows. "
            "Set RAG_DATABASE_URL to a PostgreSQL server with pgvector."
        )


@contextlib.contextmanager
def _folder_errors(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or root
        raise errors.StoreError(
            f"Cannot keep the database in {root}: {error.strerror} ({where}). "
            "Make the folder writable and see that there is space, or set RAG_DATA_DIR to another one.",
            details={"path": str(where)},
        ) from error


@contextlib.contextmanager
def _start_lock(root: Path) -> Iterator[None]:
    """Only one process at a time makes the cluster and looks for the server."""
    descriptor = server_supervisor.open_lock(root / START_LOCK)
    try:
        if not server_supervisor.lock(descriptor, fcntl.LOCK_EX, seconds=2 * START_SECONDS):
            raise errors.StoreError(f"Another process has been starting the database in {root} for too long.")
        yield
    finally:
        os.close(descriptor)


def _ensure_served(place: cluster_directory.Cluster) -> None:
    """Wait until the server accepts connections; start its supervisor if there is none."""
    log_start = place.log.stat().st_size if place.log.exists() else 0
    deadline = time.monotonic() + START_SECONDS
    started = False
    while not (_is_supervised(place.root) and _accepts(place)):
        if not _is_supervised(place.root):
            if started:
                raise _start_error(place, log_start, "did not start")
            _start_supervisor(place)
            started = True
        if time.monotonic() > deadline:
            raise _start_error(place, log_start, f"did not accept connections within {START_SECONDS:.0f} s")
        time.sleep(server_supervisor.POLL_SECONDS)


def _see_to_supervisor(place: cluster_directory.Cluster) -> None:
    """Start one if there is none, unless another process is at that."""
    descriptor = server_supervisor.open_lock(place.root / START_LOCK)
    try:
        if server_supervisor.lock(descriptor, fcntl.LOCK_EX) and not _is_supervised(place.root):
            logger.warning("The database server has lost its supervisor. Starting it again.")
            _ensure_served(place)
    finally:
        os.close(descriptor)


def _reload(place: cluster_directory.Cluster) -> None:
    """Let the server read again whom it admits: it may have been running, started by an earlier version of ours."""
    with connect(place.url, autocommit=True) as connection:
        connection.execute(named_queries.load("session")["reload"])


def _is_supervised(root: Path) -> bool:
    """Ask only under the start lock: for a moment this holds the lock that a new supervisor needs."""
    descriptor = server_supervisor.open_lock(root / server_supervisor.SUPERVISOR_LOCK)
    try:
        return not server_supervisor.lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _accepts(place: cluster_directory.Cluster) -> bool:
    # Not before it says that it is ready: it logs each connection that comes too early.
    if not server_supervisor.is_ready(place.root):
        return False
    if timeouts.is_unresponsive(place.url, timeouts.TIMEOUT_SECONDS):  # a ping would stop all threads, and for ever
        raise errors.StoreUnavailableError(
            f"The database server in {place.root} does not answer. Try again in a few seconds; if it lasts, see "
            "whether its processes were stopped."
        )
    return psycopg.pq.PGconn.ping(place.url.encode()) == psycopg.pq.Ping.OK


def _start_supervisor(place: cluster_directory.Cluster) -> None:
    """Start the supervisor, which is no child of ours when this returns, and holds none of our files."""
    if place.socket_dir != place.data_dir:
        cluster_directory.make_private_folder(place, place.socket_dir)
    account = f"{place.account.uid}:{place.account.gid}" if place.account else ""
    supervisor = [sys.executable, "-I", "-S", server_supervisor.__file__]
    arguments = [str(place.root), str(place.socket_dir), account, *_server_command(place)]
    place.log.touch(mode=0o600)
    with place.log.open("ab") as log:
        subprocess.run(
            [*supervisor, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            check=False,
        )


def _server_command(place: cluster_directory.Cluster) -> list[str]:
    system = {
        "recovery_init_sync_method": cluster_directory.SYNC_METHOD,
        "dynamic_shared_memory_type": _shared_memory_type(),
    }
    options = [option for name, value in (SETTINGS | system).items() for option in ("-c", f"{name}={value}")]
    postgres = cluster_directory.accessible_binaries(place) / "postgres"
    return [str(postgres), "-D", str(place.data_dir), "-k", str(place.socket_dir), *options]


def _shared_memory_type() -> str:
    """Files, where /dev/shm is too small for a parallel HNSW build; it has 64 MB in a container by default."""
    if not SHARED_MEMORY_FOLDER.exists():
        return "posix"
    return "posix" if shutil.disk_usage(SHARED_MEMORY_FOLDER).free >= SHARED_MEMORY_BYTES else "mmap"


def _start_error(place: cluster_directory.Cluster, log_start: int, what: str) -> errors.StoreError:
    log = place.log.read_bytes()[log_start:].decode(errors="replace")
    return errors.StoreError(
        f"The database server in {place.root} {what}: {cluster_directory.cause(log)} The whole log is {place.log}.",
        details={"log": log[-cluster_directory.LOG_TAIL_CHARS :]},
    )

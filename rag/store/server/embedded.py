"""The embedded PostgreSQL server, with binaries from a wheel, started on demand and shared by processes.

``start(root)`` takes a lease on the server under `root`. The first process creates the cluster and starts the server;
the server stops when the last process has ended, or was killed. A supervisor restarts the server, and the processes
with a lease restart the supervisor. `root` has the data directory ``pgdata``, the lock files described in
:mod:`rag.store.server.server_supervisor`, and ``postgres.log``. The server listens on a Unix socket in a folder that
only its account can enter, never on the network, and only lets in its owners, as named by the kernel (peer
authentication).
"""

import contextlib
import fcntl
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

from rag import errors
from rag.messages import N_
from rag.store.server import cluster_directory, named_queries, server_supervisor, timeouts
from rag.store.server.database import connect

logger = logging.getLogger(__name__)

START_LOCK = "start.lock"
START_SECONDS = 120.0
"""Timeout for the start: it may have to end an earlier server and to replay `max_wal_size` of log."""
CHECK_SECONDS = 1.0
"""How often each process checks that the supervisor runs."""
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  # only its free space is read
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
    "log_min_messages": "log",  # without errors of statements, which quote what users wrote
}


class EmbeddedServer:
    """This process's lease on a running server, until `close` or the end of the process.

    `url` is the superuser's URL for psycopg. A forked process does not inherit the lease and has to take its own.
    """

    def __init__(self, cluster: cluster_directory.Cluster) -> None:
        """Lock the file that counts this process among the users of the server."""
        self.data_dir = cluster.data_dir
        self.url = cluster.url
        self._cluster = cluster
        self._lock: int | None = server_supervisor.open_lock(cluster.root / server_supervisor.USERS_LOCK)
        # A stopping supervisor holds the lock exclusively until it has stopped.
        if not server_supervisor.lock(self._lock, fcntl.LOCK_SH, seconds=START_SECONDS):
            self.close()
            raise errors.StoreError(
                N_("The database server in {path} has been stopping for too long. Try again later."), path=cluster.root
            )
        os.register_at_fork(after_in_child=self.close)

    def keep_running(self) -> None:
        """Restart a killed supervisor while the lease lasts."""
        time.sleep(CHECK_SECONDS)
        while self._lock is not None:  # no Event: after a fork its lock could stay taken
            try:
                with _start_lock(self._cluster.root) as is_ours:  # or another process is starting it
                    if is_ours and not _is_supervised(self._cluster.root):
                        logger.warning("The database server has lost its supervisor. Starting it again.")
                        _ensure_served(self._cluster)
            except (errors.Error, OSError) as error:
                logger.warning("The database server is not back: %s", error)
            time.sleep(CHECK_SECONDS)

    def close(self) -> None:
        """Give up the lease. The server stops with the last one. Closing again does nothing."""
        descriptor, self._lock = self._lock, None
        if descriptor is not None:
            os.close(descriptor)


def start(root: Path) -> EmbeddedServer:
    """Take a lease on the server under `root`, and start it if it does not run.

    Processes and threads may call this concurrently.

    Raises:
        errors.ConfigError: there is no wheel for this system, or its account cannot enter `root`.
        errors.StoreUnavailableError: the server runs, but does not answer.
        errors.StoreError: the folder cannot be used or the server does not start; `details["log"]` has the
            end of the server's log.
    """
    cluster = cluster_directory.Cluster(root.expanduser().resolve(), cluster_directory.server_account())
    with _folder_errors(cluster.root), contextlib.ExitStack() as undo:
        cluster_directory.make_root(cluster)
        server = EmbeddedServer(cluster)
        undo.callback(server.close)
        with _start_lock(cluster.root, seconds=2 * START_SECONDS) as is_ours:
            if not is_ours:
                raise errors.StoreError(
                    N_("Another process has been starting the database in {path} for too long."), path=cluster.root
                )
            cluster_directory.ensure_cluster(cluster)
            rules_changed = cluster_directory.write_access_rules(cluster)
            _ensure_served(cluster)
            if rules_changed:
                with connect(cluster.url, autocommit=True) as connection:
                    connection.execute(named_queries.load("session")["reload"])
        undo.pop_all()
    threading.Thread(target=server.keep_running, name="database-keeper", daemon=True).start()
    return server


def address(root: Path) -> str:
    """Return the URL for connecting by hand to the running server under `root`; it has no secret."""
    return cluster_directory.Cluster(root.expanduser().resolve(), cluster_directory.server_account()).url


@contextlib.contextmanager
def _folder_errors(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or root
        raise errors.StoreError(
            N_(
                "Cannot keep the database in {path}: {error}. Make the folder writable and see that there is space, or "
                "set RAG_DATA_DIR to another one."
            ),
            path=root,
            error=f"{error.strerror} ({where})",
            details={"path": str(where)},
        ) from error


@contextlib.contextmanager
def _start_lock(root: Path, *, seconds: float = 0.0) -> Iterator[bool]:
    """Lock the creation of the cluster and the start of the server, and give whether this process has the lock."""
    descriptor = server_supervisor.open_lock(root / START_LOCK)
    try:
        yield server_supervisor.lock(descriptor, fcntl.LOCK_EX, seconds=seconds)
    finally:
        os.close(descriptor)


def _ensure_served(cluster: cluster_directory.Cluster) -> None:
    """Start the supervisor if there is none, and wait until the server accepts connections."""
    log_start = cluster.log.stat().st_size if cluster.log.exists() else 0
    deadline = time.monotonic() + START_SECONDS
    started = False
    while not (_is_supervised(cluster.root) and _accepts(cluster)):
        if not _is_supervised(cluster.root):
            if started:
                raise _start_error(cluster, log_start, "did not start")
            _start_supervisor(cluster)
            started = True
        if time.monotonic() > deadline:
            raise _start_error(cluster, log_start, f"did not accept connections within {START_SECONDS:.0f} s")
        time.sleep(server_supervisor.POLL_SECONDS)


def _is_supervised(root: Path) -> bool:
    """Return whether a supervisor runs. Needs the start lock, because this briefly takes the supervisor's lock."""
    descriptor = server_supervisor.open_lock(root / server_supervisor.SUPERVISOR_LOCK)
    try:
        return not server_supervisor.lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _accepts(cluster: cluster_directory.Cluster) -> bool:
    # Not before the server reports that it is ready, because it logs each earlier connection.
    if not server_supervisor.is_ready(cluster.root):
        return False
    if timeouts.is_unresponsive(cluster.url, timeouts.TIMEOUT_SECONDS):  # a ping would block all threads for ever
        raise errors.StoreUnavailableError(
            N_(
                "The database server in {path} does not answer. Try again in a few seconds; if it lasts, see whether "
                "its processes were stopped."
            ),
            path=cluster.root,
        )
    return psycopg.pq.PGconn.ping(cluster.url.encode()) == psycopg.pq.Ping.OK


def _start_supervisor(cluster: cluster_directory.Cluster) -> None:
    """Start the supervisor as a daemon that inherits none of our files."""
    if cluster.socket_dir != cluster.data_dir:
        cluster_directory.make_private_folder(cluster, cluster.socket_dir)
    # A parallel HNSW build needs more than the 64 MB that /dev/shm has in containers by default.
    is_large = not SHARED_MEMORY.exists() or shutil.disk_usage(SHARED_MEMORY).free >= SHARED_MEMORY_BYTES
    settings = SETTINGS | {
        "recovery_init_sync_method": cluster_directory.SYNC_METHOD,
        "dynamic_shared_memory_type": "posix" if is_large else "mmap",
    }
    options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
    postgres: list[str | Path] = [cluster_directory.accessible_binaries(cluster) / "postgres", "-D", cluster.data_dir]
    account = f"{cluster.account.uid}:{cluster.account.gid}" if cluster.account else ""
    supervisor: list[str | Path] = [
        sys.executable,
        "-I",
        "-S",
        server_supervisor.__file__,
        cluster.root,
        cluster.socket_dir,
        account,
    ]
    cluster.log.touch(mode=0o600)
    with cluster.log.open("ab") as log:
        subprocess.run(
            [*supervisor, *postgres, "-k", cluster.socket_dir, *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            check=False,
        )


def _start_error(cluster: cluster_directory.Cluster, log_start: int, what: str) -> errors.StoreError:
    log = cluster.log.read_bytes()[log_start:].decode(errors="replace")
    cause = cluster_directory.first_error(log)
    return errors.StoreError(
        f"The database server in {cluster.root} {what}: {cause} The whole log is {cluster.log}.",
        details={"log": log[-cluster_directory.LOG_TAIL_CHARS :]},
    )

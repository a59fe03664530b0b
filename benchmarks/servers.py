"""PostgreSQL servers on ports of this machine, and replicas of them.

They use the binaries of the embedded server and end with the block that started them.
"""

import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from benchmarks.processes import free_port
from rag import errors
from rag.store.server import cluster_directory

HOST = "127.0.0.1"
START_SECONDS = 120.0
POLL_SECONDS = 0.1
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "wal_level": "replica",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "jit": "off",
}


@dataclass
class Cluster:
    """A server with its data in `place`."""

    place: cluster_directory.Cluster
    password: str
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Return the superuser's URL of a database."""
        return f"postgresql://{cluster_directory.SUPERUSER}:{self.password}@{HOST}:{self.port}/postgres"

    def run(self, program: str, *arguments: str | Path) -> None:
        """Run a PostgreSQL program as the server's account. Raises StoreError if it fails."""
        done = self.place.run(cluster_directory.accessible_binaries(self.place) / program, *arguments)
        if done.returncode:
            raise errors.StoreError(f"{program} fails: {done.stdout}")

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        account = self.place.account
        options = [option for name, value in SETTINGS.items() for option in ("-c", f"{name}={value}")]
        postgres = cluster_directory.accessible_binaries(self.place) / "postgres"
        with self.place.log.open("ab") as log:
            self.process = subprocess.Popen(
                [postgres, "-D", self.place.data_dir, "-p", str(self.port), *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
            )
        deadline = time.monotonic() + START_SECONDS
        while psycopg.pq.PGconn.ping(self.url.encode()) != psycopg.pq.Ping.OK:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise errors.StoreError(f"PostgreSQL does not start: {self.place.log.read_text()[-2000:]}")
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Stop the server and disconnect its clients."""
        if self.process:
            self.process.send_signal(2)  # SIGINT: PostgreSQL's fast shutdown
            self.process.wait()
            self.process = None


@contextmanager
def primary(folder: Path) -> Iterator[Cluster]:
    """Yield a new server with its data below `folder`."""
    cluster = _placed(folder, secrets.token_hex(16))
    passwords = folder / "password"
    passwords.write_text(cluster.password, encoding="utf-8")
    cluster.place.chown(passwords)
    names = ("--username", cluster_directory.SUPERUSER, "--pwfile", passwords, "--auth", "scram-sha-256")
    cluster.run("initdb", "--pgdata", cluster.place.data_dir, "--encoding", "UTF8", "--locale", "C.UTF-8", *names)
    yield from _running(cluster)


@contextmanager
def replica(of: Cluster, folder: Path) -> Iterator[Cluster]:
    """Yield a replica of a server with its data below `folder`."""
    cluster = _placed(folder, of.password)
    written = ("--write-recovery-conf", "--wal-method", "stream", "--checkpoint", "fast")
    cluster.run("pg_basebackup", "--dbname", of.url, "--pgdata", cluster.place.data_dir, *written)
    yield from _running(cluster)


def _placed(folder: Path, password: str) -> Cluster:
    place = cluster_directory.Cluster(folder.resolve(), cluster_directory.server_account())
    cluster_directory.make_root(place)
    place.chown(place.root)
    return Cluster(place, password)


def _running(cluster: Cluster) -> Iterator[Cluster]:
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()

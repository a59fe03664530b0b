"""Supervise the embedded PostgreSQL server: ``python -I -S server_supervisor.py ROOT SOCKET_DIR ACCOUNT COMMAND…``.

It keeps the postmaster running while anybody uses the server and stops it when the last user is gone.
It is run by its path, so that it loads a few standard modules and nothing else. Users come and go by
locks (flock), which the kernel drops however a process ends:

- ``users.lock``: shared by every process that uses the server; the supervisor has it alone when none is left.
- ``supervisor.lock``: held by the supervisor, of which there is one.
- ``server.lock``: held by the postmaster, who passes it on to all its children. Who gets it knows that no process
  of an earlier server lives, whatever a ``postmaster.pid`` says.

The postmaster does not outlive a killed supervisor: a shell waits for the end of a pipe that only the
supervisor holds open, then asks the postmaster to stop (`prctl(PR_SET_PDEATHSIG)` would do it on Linux only).
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

USERS_LOCK = "users.lock"
SUPERVISOR_LOCK = "supervisor.lock"
SERVER_LOCK = "server.lock"
DATA_DIR = "pgdata"
LOG = "postgres.log"
SOCKET = ".s.PGSQL.5432"

POLL_SECONDS = 0.05
RETRY_SECONDS = 1.0
FAST_STOP_SECONDS = 60.0
IMMEDIATE_STOP_SECONDS = 10.0
ORPHANS_SECONDS = 0.1
"""How long backends of a dead postmaster get to notice; one that is deep in a query does not."""
LOG_LIMIT_BYTES = 8 * 1024 * 1024
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}
"""All that the server inherits: the keys in our own environment are none of its business."""
GUARD = 'read -r _; kill -INT "$0"'


def main(root: Path, socket_dir: Path, account: str, command: list[str]) -> None:
    """Become a daemon and supervise; return at once if another supervisor lives."""
    only_one = open_lock(root / SUPERVISOR_LOCK)
    if not lock(only_one, fcntl.LOCK_EX):
        return
    os.close(claim(root, socket_dir))  # or who started us might take an earlier server for ours
    if os.fork():
        os._exit(0)  # whoever started us waits for this, and has no child to reap later
    os.chdir("/")
    os.umask(0o077)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    supervise(root, socket_dir, account, command)
    if socket_dir != root / DATA_DIR:
        with suppress(OSError):
            socket_dir.rmdir()


def supervise(root: Path, socket_dir: Path, account: str, command: list[str]) -> None:
    """Run postmasters, one after the other, until nobody uses the server.

    The first has to reach readiness: what hinders it will not go away by itself, and someone waits for an answer.
    """
    users = open_lock(root / USERS_LOCK)
    served = False
    while not lock(users, fcntl.LOCK_EX):
        with postmaster(root, socket_dir, account, command) as process:
            ready = watch(process, users, root)
        if process.returncode and not served and not ready:
            sys.exit(1)
        served = served or ready
        if not ready:
            time.sleep(RETRY_SECONDS)


def watch(process: subprocess.Popen[bytes], users: int, root: Path) -> bool:
    """Return when the postmaster has ended or nobody uses it; true if it accepted connections in between."""
    ready = False
    while process.poll() is None and not lock(users, fcntl.LOCK_EX):
        ready = ready or is_ready(root)
        trim_log(root / LOG)
        time.sleep(POLL_SECONDS)
    return ready or is_ready(root)  # which a killed postmaster leaves written


@contextmanager
def postmaster(root: Path, socket_dir: Path, account: str, command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A postmaster and its guard; both are gone at the end."""
    user, _, group = account.partition(":")
    server_lock = claim(root, socket_dir)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            cwd="/",
            env=ENVIRONMENT,
            pass_fds=[server_lock],
            user=int(user) if user else None,
            group=int(group) if user else None,
            extra_groups=[] if user else None,
        )
    finally:
        os.close(server_lock)  # ours only; the postmaster and its children hold it on
    guard = subprocess.Popen(["/bin/sh", "-c", GUARD, str(process.pid)], stdin=subprocess.PIPE, env=ENVIRONMENT)
    try:
        yield process
    finally:
        stop(process)
        guard.kill()
        guard.communicate()


def stop(process: subprocess.Popen[bytes]) -> None:
    """Fast shutdown; an immediate one (crash recovery at the next start) if that takes too long."""
    for request, seconds in ((signal.SIGINT, FAST_STOP_SECONDS), (signal.SIGQUIT, IMMEDIATE_STOP_SECONDS)):
        process.send_signal(request)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return
    process.kill()
    process.wait()


def claim(root: Path, socket_dir: Path) -> int:
    """Make sure that no process of an earlier server lives, and return the server lock.

    Backends of a postmaster that was killed are killed too: they work on shared memory that nobody shares any
    more, and the new server could not start before they end.
    """
    data_dir = root / DATA_DIR
    server_lock = open_lock(root / SERVER_LOCK)
    if not lock(server_lock, fcntl.LOCK_EX, seconds=ORPHANS_SECONDS):
        earlier = postmaster_of(data_dir)
        if earlier:
            send(signal.SIGINT, earlier)
            lock(server_lock, fcntl.LOCK_EX, seconds=FAST_STOP_SECONDS)
        if not lock(server_lock, fcntl.LOCK_EX):
            send(signal.SIGKILL, *processes_in(data_dir))
        if not lock(server_lock, fcntl.LOCK_EX, seconds=IMMEDIATE_STOP_SECONDS):
            sys.exit(f"processes of an earlier server in {data_dir} do not end; stop them")
    foreign = postmaster_of(data_dir)
    if foreign:
        sys.exit(f"process {foreign} serves {data_dir}, and Pagelight did not start it; stop it")
    # What is left names a process that is gone, or by now somebody else's: PostgreSQL would believe the latter.
    (data_dir / "postmaster.pid").unlink(missing_ok=True)
    (socket_dir / f"{SOCKET}.lock").unlink(missing_ok=True)
    return server_lock


def send(request: signal.Signals, *pids: int) -> None:
    """Signal those processes that are still there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, request)


def postmaster_of(data_dir: Path) -> int | None:
    """The process that `postmaster.pid` names, if it really works in the data directory."""
    try:
        pid = int((data_dir / "postmaster.pid").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pid if pid in processes_in(data_dir) else None


def processes_in(folder: Path) -> list[int]:
    """Processes whose working directory is `folder`, as that of each server process is its data directory."""
    if sys.platform == "darwin":
        lsof = ["/usr/sbin/lsof", "-a", "-t", "-d", "cwd", folder]
        found = subprocess.run(lsof, stdout=subprocess.PIPE, check=False)
        return [int(pid) for pid in found.stdout.split()]
    pids = []
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):  # gone meanwhile, a zombie, or not ours to look at
            if cwd.samefile(folder):
                pids.append(int(cwd.parent.name))
    return pids


def is_ready(root: Path) -> bool:
    """Whether `postmaster.pid` says so, in its eighth line (PostgreSQL's `utils/pidfile.h`)."""
    try:
        return (root / DATA_DIR / "postmaster.pid").read_text().splitlines()[7].strip() == "ready"
    except (OSError, IndexError):
        return False


def trim_log(log: Path) -> None:
    """Start the log anew when it is full, keeping one old one. The server goes on appending to the same file."""
    with suppress(OSError):  # a full disk or a missing log is no reason to stop the server
        if log.stat().st_size > LOG_LIMIT_BYTES:
            try:
                shutil.copyfile(log, log.with_suffix(".log.1"))
            finally:
                os.truncate(log, 0)


def open_lock(path: Path) -> int:
    """A file descriptor to lock, closed in programs that this process runs."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def lock(descriptor: int, operation: int, *, seconds: float = 0.0) -> bool:
    """Try for so long to lock; false if another process holds the lock."""
    deadline = time.monotonic() + seconds
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS / 5)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:])

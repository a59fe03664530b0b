"""Supervise the embedded PostgreSQL server: ``python -I -S server_supervisor.py ROOT SOCKET_DIR ACCOUNT COMMAND…``.

It keeps the postmaster running while any process uses the server, and stops it after the last one. It is run by its
path, so that it only loads a few standard modules. Processes are tracked by locks (flock), which the kernel releases
however a process ends:

- ``users.lock``: shared by every process that uses the server; the supervisor gets it exclusively when none is left.
- ``supervisor.lock``: held by the only supervisor.
- ``server.lock``: held by the postmaster and inherited by all its children. Getting it proves that no process of an
  earlier server lives, whatever ``postmaster.pid`` says.

The postmaster does not outlive a killed supervisor: a shell waits for the end of a pipe that only the supervisor holds
open, and then stops the postmaster (`prctl(PR_SET_PDEATHSIG)` would do that on Linux only).
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
"""Time for the backends of a dead postmaster to notice; one that is busy with a query does not."""
LOG_LIMIT_BYTES = 8 * 1024 * 1024
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}
"""The whole environment of the server, without the keys in ours."""
GUARD = 'read -r _; kill -INT "$0"'


def main(root: Path, socket_dir: Path, account: str, command: list[str]) -> None:
    """Become a daemon and supervise the server; return at once if another supervisor runs."""
    only_one = open_lock(root / SUPERVISOR_LOCK)
    if not lock(only_one, fcntl.LOCK_EX):
        return
    os.close(take_server_lock(root, socket_dir))  # or the caller might mistake an earlier server for ours
    if os.fork():
        os._exit(0)  # the caller waits for this process, and has no child to reap later
    os.chdir("/")
    os.umask(0o077)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    supervise(root, socket_dir, account, command)
    if socket_dir != root / DATA_DIR:
        with suppress(OSError):
            socket_dir.rmdir()


def supervise(root: Path, socket_dir: Path, account: str, command: list[str]) -> None:
    """Run the postmaster, and restart it when it ends, until no process uses the server.

    Exit if the first one does not become ready: the cause will not go away by itself, and a caller is waiting.
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
    """Wait until the postmaster has ended or no process uses it; return whether it was ready."""
    ready = False
    while process.poll() is None and not lock(users, fcntl.LOCK_EX):
        ready = ready or is_ready(root)
        trim_log(root / LOG)
        time.sleep(POLL_SECONDS)
    return ready or is_ready(root)  # a killed postmaster leaves its file


@contextmanager
def postmaster(root: Path, socket_dir: Path, account: str, command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a postmaster and its guard for the block."""
    user, _, group = account.partition(":")
    server_lock = take_server_lock(root, socket_dir)
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
        os.close(server_lock)  # the postmaster and its children still hold it
    guard = subprocess.Popen(["/bin/sh", "-c", GUARD, str(process.pid)], stdin=subprocess.PIPE, env=ENVIRONMENT)
    try:
        yield process
    finally:
        stop(process)
        guard.kill()
        guard.communicate()


def stop(process: subprocess.Popen[bytes]) -> None:
    """Shut down fast, or immediately (with crash recovery at the next start) if that takes too long."""
    for request, seconds in ((signal.SIGINT, FAST_STOP_SECONDS), (signal.SIGQUIT, IMMEDIATE_STOP_SECONDS)):
        process.send_signal(request)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return
    process.kill()
    process.wait()


def take_server_lock(root: Path, socket_dir: Path) -> int:
    """End all processes of an earlier server, and return the server lock.

    Backends of a killed postmaster are killed too: a new server cannot start before they have ended.
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
    # These files name a process that has ended, or whose id was reused, which PostgreSQL would mistake for a server.
    (data_dir / "postmaster.pid").unlink(missing_ok=True)
    (socket_dir / f"{SOCKET}.lock").unlink(missing_ok=True)
    return server_lock


def send(request: signal.Signals, *pids: int) -> None:
    """Signal processes, without those that have ended."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, request)


def postmaster_of(data_dir: Path) -> int | None:
    """Return the process in `postmaster.pid` if it really runs in the data directory."""
    try:
        pid = int((data_dir / "postmaster.pid").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pid if pid in processes_in(data_dir) else None


def processes_in(folder: Path) -> list[int]:
    """Return the processes whose working directory is `folder`; that of a server process is its data directory."""
    if sys.platform == "darwin":
        lsof = ["/usr/sbin/lsof", "-a", "-t", "-d", "cwd", folder]
        listing = subprocess.run(lsof, stdout=subprocess.PIPE, check=False)
        return [int(pid) for pid in listing.stdout.split()]
    pids = []
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):  # ended, a zombie, or not readable for us
            if cwd.samefile(folder):
                pids.append(int(cwd.parent.name))
    return pids


def is_ready(root: Path) -> bool:
    """Return whether `postmaster.pid` says so in its eighth line (PostgreSQL's `utils/pidfile.h`)."""
    try:
        return (root / DATA_DIR / "postmaster.pid").read_text().splitlines()[7].strip() == "ready"
    except (OSError, IndexError):
        return False


def trim_log(log: Path) -> None:
    """Rotate a full log by copying it and truncating it, because the server keeps appending to the same file."""
    with suppress(OSError):  # a full disk or a missing log is no reason to stop the server
        if log.stat().st_size > LOG_LIMIT_BYTES:
            try:
                shutil.copyfile(log, log.with_suffix(".log.1"))
            finally:
                os.truncate(log, 0)


def open_lock(path: Path) -> int:
    """Open a file to lock; programs that this process runs do not inherit it."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def lock(descriptor: int, operation: int, *, seconds: float = 0.0) -> bool:
    """Lock a file within `seconds`; return False if another process holds the lock."""
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

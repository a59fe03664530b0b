"""Fork parsing processes: `python -m rag.parsing.worker.fork_server DESCRIPTOR`.

A parsing process needs MuPDF and our types, which take a third of a second to load. This single-threaded server loads
them once for the process that uses it (`rag.parsing.worker.forks`):

    user ──channel──> server ──fork──> guard ──fork──> worker
      └──────────────control─────────────┘               │
      └<──────────────────────results────────────────────┘

For each request the user sends three open files through the channel: a control socket, a pipe for results, and a file
for standard error. The guard reads the request from the control socket and answers with the worker's exit code. It
never opens the document, so it can always kill the worker when the user asks for it or has ended, upon which the kernel
closes the control socket.
"""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from rag.parsing.worker import child, protocol

READY = b"\n"
"""A guard's first message, which confirms the fork."""
FILE_COUNT = 3


def main(channel: socket.socket) -> None:
    """Fork a guard for each request until the user closes the channel."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the user, which closes its sockets
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended guards leave no zombies
    gc.freeze()  # or garbage collection in forks would copy shared memory
    gc.set_threshold(50_000)  # a page has thousands of small objects without cycles: looking for some takes a tenth
    while True:
        _, files, _, _ = socket.recv_fds(channel, 1, FILE_COUNT)
        if len(files) != FILE_COUNT:
            return
        if os.fork() == 0:
            channel.close()
            _guard(*files)
            os._exit(0)
        for file in files:
            os.close(file)


def _guard(control_file: int, results: int, stderr: int) -> None:
    """Run one worker and report its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(stderr, sys.stdout.fileno())  # output of libraries
    os.dup2(stderr, sys.stderr.fileno())
    with socket.socket(fileno=control_file) as control:
        request = _read_request(control)
        if request is None:
            return
        end_seen, end = os.pipe()  # the kernel closes `end` when the worker ends
        worker = os.fork()
        if worker == 0:
            os.setpgid(0, 0)  # its own group, to kill the programs that it starts
            control.close()
            os.environ.clear()  # the server's may be outdated
            os.environ.update(request["environment"])
            with os.fdopen(results, "wb") as file:
                child.serve(request, file)
            os._exit(0)
        with contextlib.suppress(OSError):  # done by the worker, which may have ended
            os.setpgid(worker, worker)
        os.close(end)
        os.close(results)
        code = _watch(worker, control, end_seen, Path(request["rendition"]))
        with contextlib.suppress(OSError):  # the user is gone
            control.sendall(b"%d\n" % code)


def _read_request(control: socket.socket) -> dict[str, Any] | None:
    try:
        control.sendall(READY)
        size = int.from_bytes(control.recv(protocol.SIZE_BYTES, socket.MSG_WAITALL))
        content = control.recv(size, socket.MSG_WAITALL) if size else b""
    except OSError:
        return None
    if not content or len(content) < size:
        return None
    request: dict[str, Any] = json.loads(content)
    return request


def _watch(worker: int, control: socket.socket, end_seen: int, rendition: Path) -> int:
    """Wait for the worker, kill it when the user asks or is gone, and return its exit code.

    Its group is killed before the worker is reaped, while the group's number cannot be reused.
    """
    ready, _, _ = select.select([control.fileno(), end_seen], [], [])
    gone = False
    if control.fileno() in ready:
        gone = True  # unless the user asks to end the worker, and cleans up itself
        with contextlib.suppress(OSError):
            gone = not control.recv(1)
        os.kill(worker, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):  # no group yet; macOS: ended
        os.killpg(worker, signal.SIGKILL)
    _, status = os.waitpid(worker, 0)
    if gone:
        rendition.unlink(missing_ok=True)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))

"""The server that parsing processes are forked from: `python -m rag.parsing.worker.fork_server DESCRIPTOR`.

A parsing process needs MuPDF and our models, which take a third of a second to load. The server loads them once for
the process that uses it (`rag.parsing.worker.forks`), has one thread and does nothing itself:

    user ──channel──> server ──fork──> guard ──fork──> worker
      └──────────────control─────────────┘               │
      └<──────────────────────results────────────────────┘

For each file the user sends three open files through the channel: a control socket, the end of a pipe for results, and
a file for what is written to standard error. The guard reads the request from the control socket and answers with the
worker's exit code. It reads nothing of the file, so it can always do its second duty: to end the worker when the
user asks for it, or is gone: the kernel closes the control socket of a user that is killed.
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
"""What a guard says first, so that the user knows that there is one."""
FILES = 3


def main(channel: socket.socket) -> None:
    """Forks a guard for each request until the user is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C means the user, who then closes its sockets
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # guards that have ended leave no zombies
    gc.freeze()  # or collecting in a fork would copy the memory that it shares with the server
    while True:
        _, files, _, _ = socket.recv_fds(channel, 1, FILES)
        if len(files) != FILES:
            return
        if os.fork() == 0:
            channel.close()
            _guard(*files)
            os._exit(0)
        for file in files:
            os.close(file)


def _guard(control_file: int, results: int, stderr: int) -> None:
    """Runs one worker and tells how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(stderr, sys.stdout.fileno())  # what libraries print is no result
    os.dup2(stderr, sys.stderr.fileno())
    with socket.socket(fileno=control_file) as control:
        request = _take_request(control)
        if request is None:
            return
        end_seen, end = os.pipe()  # the kernel closes `end` with the worker
        worker = os.fork()
        if worker == 0:
            os.setpgid(0, 0)  # a group of its own: the programs that it starts end with it
            control.close()
            _work(request, results)
            os._exit(0)
        with contextlib.suppress(OSError):  # the worker has done so, and perhaps ended
            os.setpgid(worker, worker)
        os.close(end)
        os.close(results)
        code = _watch(worker, control, end_seen, Path(request["rendition"]))
        with contextlib.suppress(OSError):  # nobody is left to be told
            control.sendall(b"%d\n" % code)


def _take_request(control: socket.socket) -> dict[str, Any] | None:
    """What the user wants, or None if it is gone already."""
    try:
        control.sendall(READY)
        size = int.from_bytes(_receive(control, protocol.SIZE_BYTES))
        content = _receive(control, size)
    except OSError:
        return None
    request: dict[str, Any] = json.loads(content)
    return request


def _receive(control: socket.socket, size: int) -> bytes:
    """So many bytes; raises ConnectionResetError if the user is gone before."""
    content = b""
    while len(content) < size:
        part = control.recv(size - len(content))
        if not part:
            raise ConnectionResetError
        content += part
    return content


def _work(request: dict[str, Any], results: int) -> None:
    # The server's own environment is as old as the server.
    os.environ.clear()
    os.environ.update(request["environment"])
    with os.fdopen(results, "wb") as file:
        child.serve(request, file)


def _watch(worker: int, control: socket.socket, end_seen: int, rendition: Path) -> int:
    """Waits for the worker, ending it when the user does not want it any more; returns its exit code.

    What it has started is ended in any case, while its number, by which its group is known, cannot be another's yet.
    """
    ready, _, _ = select.select([control.fileno(), end_seen], [], [])
    gone = False
    if control.fileno() in ready:
        gone = _is_gone(control)
        os.kill(worker, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has no group yet; macOS: it has ended
        os.killpg(worker, signal.SIGKILL)
    _, status = os.waitpid(worker, 0)
    if gone:
        rendition.unlink(missing_ok=True)
    return os.waitstatus_to_exitcode(status)


def _is_gone(user: socket.socket) -> bool:
    """Whether the user is gone; else it has asked to end the worker, and cleans up itself."""
    try:
        return not user.recv(1)
    except OSError:
        return True


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))

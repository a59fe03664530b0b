"""Parsing processes as their user sees them; they are forked from a server (see `rag.parsing.worker.fork_server`).

Each using process has a server of its own, started with the first file and again whenever it is gone.
"""

import atexit
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from rag import errors
from rag.parsing.worker import protocol

PACKAGE_ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120.0
"""Longest wait for a server to load what it needs and to fork; on a machine that swaps it takes long."""
STARTS = 3
"""So many servers are started for a file: one may be ended while it loads, by somebody or for want of memory."""


class Fork:
    """One parsing process. `results` is what it writes to standard output."""

    def __init__(self, control: socket.socket, results: BinaryIO) -> None:
        self.results = results
        self._control = control
        self._code: int | None = None

    def kill(self) -> None:
        """Ends it, whatever it does. Any thread may call this."""
        with contextlib.suppress(OSError):  # it has ended
            self._control.send(b"\n")

    def wait(self) -> int:
        """Its exit code, when it has ended; the negative number of the signal that ended it."""
        if self._code is None:
            answer = b""
            with contextlib.suppress(OSError):
                while part := self._control.recv(16):
                    answer += part
            self._code = int(answer) if answer.endswith(b"\n") else -signal.SIGKILL  # its guard was killed
        return self._code

    def close(self) -> None:
        """Lets go of it."""
        self.results.close()
        self._control.close()


@contextlib.contextmanager
def fork(request: bytes, stderr: IO[bytes]) -> Iterator[Fork]:
    """A process that does what `request` says, writes errors to the file `stderr`, and does not outlive the block.

    Raises:
        errors.ReadingInterruptedError: none can be started.
    """
    process = _servers.fork(request, stderr)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.close()


def no_process(error: Exception) -> errors.ReadingInterruptedError:
    """What is raised when the system gives no process or thread."""
    return errors.ReadingInterruptedError(
        f"No process can be started to read the file: {error}. Free some memory and try again."
    )


class _Server:
    """A running server, and our end of the channel to it."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        command = [sys.executable, "-m", "rag.parsing.worker.fork_server", str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd=PACKAGE_ROOT,
            )

    def fork(self, request: bytes, stderr: IO[bytes]) -> Fork:
        """A new process. Raises OSError if the server is gone."""
        control, their_control = socket.socketpair()
        results, their_results = os.pipe()
        made = Fork(control, os.fdopen(results, "rb"))
        try:
            with their_control, os.fdopen(their_results, "wb", 0) as output:
                files = [their_control.fileno(), output.fileno(), stderr.fileno()]
                socket.send_fds(self._channel, [b"\n"], files)
            control.settimeout(START_SECONDS)
            if not control.recv(1):
                raise ConnectionResetError("the server ended")
            control.settimeout(None)
            control.sendall(len(request).to_bytes(protocol.SIZE_BYTES) + request)
        except OSError:
            made.close()
            raise
        return made

    def close(self) -> None:
        self._channel.close()
        self._process.kill()
        self._process.wait()


class _Servers:
    """The server of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: _Server | None = None

    def fork(self, request: bytes, stderr: IO[bytes]) -> Fork:
        """A new process, of a new server if there is none or it is gone."""
        with self._lock:
            if self._server:
                with contextlib.suppress(OSError):
                    return self._server.fork(request, stderr)
                self.close()
            try:
                for _ in range(STARTS - 1):
                    with contextlib.suppress(ConnectionError):
                        return self._fork_anew(request, stderr)
                return self._fork_anew(request, stderr)
            except OSError as error:
                raise no_process(error) from error

    def _fork_anew(self, request: bytes, stderr: IO[bytes]) -> Fork:
        """A new process of a new server. Raises OSError, a ConnectionError if that was ended while it loaded."""
        try:
            self._server = _Server()
            return self._server.fork(request, stderr)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Ends the server, if there is one."""
        server, self._server = self._server, None
        if server:
            server.close()

    def forget(self) -> None:
        """In a fork of this process, whose server is its parent's."""
        self._lock = threading.Lock()
        self._server = None


_servers = _Servers()
atexit.register(_servers.close)
os.register_at_fork(after_in_child=_servers.forget)

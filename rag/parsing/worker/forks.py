"""Start parsing processes by a fork server (see `rag.parsing.worker.fork_server`).

Each process that parses has its own server, started with the first file and again if it ends.
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
from typing import IO, BinaryIO

from rag import errors
from rag.messages import N_
from rag.parsing.worker import protocol

START_TIMEOUT_SECONDS = 120.0
"""Timeout for a server to load and fork; long, for machines that swap."""
MAX_STARTS = 3
"""Attempts to start a server per file, as the system may kill it while it loads."""


class Fork:
    """A parsing process and the pipe with its `results`."""

    def __init__(self, control: socket.socket, results: BinaryIO) -> None:
        self.results = results
        self._control = control
        self._code: int | None = None

    def kill(self) -> None:
        """Kill the process; any thread may call this."""
        with contextlib.suppress(OSError):  # ended already
            self._control.send(b"\n")

    def wait(self) -> int:
        """Wait for the end and return the exit code, negative for a signal."""
        if self._code is None:
            answer = b""
            with contextlib.suppress(OSError):
                while part := self._control.recv(16):
                    answer += part
            self._code = int(answer) if answer.endswith(b"\n") else -signal.SIGKILL  # its guard was killed
        return self._code

    def close(self) -> None:
        """Close the pipe and the socket."""
        self.results.close()
        self._control.close()


@contextlib.contextmanager
def fork(request: bytes, stderr: IO[bytes]) -> Iterator[Fork]:
    """Start a process for `request`, which is killed at the end of the block.

    Raises:
        errors.ReadingInterruptedError: no process can be started.
    """
    process = _servers.fork(request, stderr)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.close()


def start_error(error: Exception) -> errors.ReadingInterruptedError:
    """Return the error for a process or thread that cannot be started."""
    return errors.ReadingInterruptedError(
        N_("No process can be started to read the file: {error}. Free some memory and try again."), error=error
    )


class _Server:
    """A running server and the channel to it."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        # -P: a module in the working folder must not take the place of one of Python's.
        command = [sys.executable, "-P", "-m", "rag.parsing.worker.fork_server", str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def fork(self, request: bytes, stderr: IO[bytes]) -> Fork:
        """Fork a process; raises OSError if the server has ended."""
        control, their_control = socket.socketpair()
        results, their_results = os.pipe()
        made = Fork(control, os.fdopen(results, "rb"))
        try:
            with their_control, os.fdopen(their_results, "wb", 0) as output:
                files = [their_control.fileno(), output.fileno(), stderr.fileno()]
                socket.send_fds(self._channel, [b"\n"], files)
            control.settimeout(START_TIMEOUT_SECONDS)
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
    """The server of this process, started on demand."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: _Server | None = None

    def fork(self, request: bytes, stderr: IO[bytes]) -> Fork:
        """Fork a process, starting a server if none runs."""
        with self._lock:
            if self._server:
                with contextlib.suppress(OSError):
                    return self._server.fork(request, stderr)
                self.close()
            for attempt in range(1, MAX_STARTS + 1):
                try:
                    self._server = _Server()
                    return self._server.fork(request, stderr)
                except OSError as error:  # a ConnectionError if the server ended while it loaded
                    self.close()
                    if attempt == MAX_STARTS or not isinstance(error, ConnectionError):
                        raise start_error(error) from error
            raise AssertionError("unreachable")

    def close(self) -> None:
        """Stop the server if one runs."""
        server, self._server = self._server, None
        if server:
            server.close()

    def forget(self) -> None:
        """Drop the server in a fork of this process, as it is the parent's."""
        self._lock = threading.Lock()
        self._server = None


_servers = _Servers()
atexit.register(_servers.close)
os.register_at_fork(after_in_child=_servers.forget)

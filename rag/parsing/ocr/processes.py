"""Recognise each picture in a process of its own, so that a crash costs only that picture."""

import os
import select
import signal
from collections.abc import Callable
from typing import Any, NamedTuple

from rag import types
from rag.parsing.worker import cpu_clock

WATCH_SECONDS = 2.0
HIGHEST_DESCRIPTOR = 4096


class RecognitionError(Exception):
    """Text recognition failed; the message completes "… could not be recognised: "."""


class Processes(NamedTuple):
    """Runs recognition in processes with limits, and calls `on_wait` repeatedly meanwhile."""

    config: types.ParsingConfig
    on_wait: Callable[[], None]

    def run(self, recognise: Callable[[], bytes]) -> bytes:
        """Return the result of `recognise`, called in a process of its own.

        Raises:
            RecognitionError: it takes too long, fails or crashes.
        """
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            self._work(recognise, writer)
        os.close(writer)
        with os.fdopen(reader, "rb", 0) as results:
            content, idle = self._receive(child, results)
        _, status = os.waitpid(child, 0)
        if status == 0 and content:
            return content
        if os.waitstatus_to_exitcode(status) == -signal.SIGPROF:
            raise RecognitionError(f"it took more than {self.config.timeout_seconds_ocr:g} seconds of computing")
        raise RecognitionError("text recognition did nothing any more" if idle else "text recognition failed")

    def _work(self, recognise: Callable[[], bytes], writer: int) -> None:
        code = 1
        try:
            # Inherited files would keep the parent's pipes open and share its file offsets.
            os.closerange(3, writer)
            os.closerange(writer + 1, HIGHEST_DESCRIPTOR)
            cpu_clock.limit_cpu(self.config.timeout_seconds_ocr)
            content = recognise()
            with os.fdopen(writer, "wb") as results:
                results.write(content)
            code = 0
        finally:
            os._exit(code)  # whatever failed: the caller's code must not run twice

    def _receive(self, child: int, results: Any) -> tuple[bytes, bool]:
        """Return the output of `child`, and whether it was killed for being idle."""
        idleness = cpu_clock.Idleness(child)
        content = b""
        while True:
            ready, _, _ = select.select([results], [], [], WATCH_SECONDS)
            if ready:
                part = results.read(1 << 16)
                if not part:
                    return content, False
                content += part
            elif idleness.seconds() > self.config.idle_seconds:
                os.kill(child, signal.SIGKILL)
                return content, True
            self.on_wait()

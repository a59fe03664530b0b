"""Run a parsing process per file, so that a file that hangs or crashes MuPDF costs one error."""

import contextlib
import json
import logging
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag import errors, types
from rag.messages import N_
from rag.parsing.metadata import Metadata
from rag.parsing.pdf.pages import PageContent
from rag.parsing.worker import cpu_clock, forks, protocol

logger = logging.getLogger(__name__)

STDERR_BYTES = 2000
MAX_ATTEMPTS = 3
"""Attempts per file if the system kills the process, as others may have used the memory."""
EXTERNAL_SIGNALS = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""Signals that come from the system, for lack of memory, or from a user, but never from a file."""
POLL_SECONDS = 0.5
"""Interval between calls of `is_cancelled`, and between checks for idleness."""

_ERRORS = {
    error.code: error
    for error in (
        errors.PasswordError,
        errors.ReadingInterruptedError,
        errors.StoreError,
        errors.UnreadableFileError,
        errors.UnsupportedFileError,
    )
}
"""Errors of the process by their code."""

OnProgress = Callable[[int, int], None]
OnPages = Callable[[Sequence[PageContent], int], None]
IsCancelled = Callable[[], bool]


def run(
    request: Mapping[str, Any],
    config: types.ParsingConfig,
    on_progress: OnProgress = lambda _done, _total: None,
    *,
    on_pages: OnPages = lambda _pages, _total: None,
    is_cancelled: IsCancelled | None = None,
) -> "Results":
    """Run a parsing process for `request` (see `rag.parsing.worker.child`) and return its results.

    `on_pages` is called for each page with all pages so far and their total. `is_cancelled` is polled in a thread; the
    process ends when it returns True.

    Raises:
        errors.CancelledError: `is_cancelled` returned True.
        errors.PasswordError, errors.UnreadableFileError, errors.StoreError: reported by the process, or it crashed.
        errors.ReadingInterruptedError: the process was killed, was idle, or could not be started.
    """
    # The fork server's environment may be outdated.
    content = json.dumps({**request, "config": config.model_dump(), "environment": dict(os.environ)}).encode()
    for last in [False] * (MAX_ATTEMPTS - 1) + [True]:
        results = Results(config, on_progress, on_pages)
        with tempfile.TemporaryFile() as stderr, forks.fork(content, stderr) as process:
            results.read(process, is_cancelled)
            if results.is_cancelled:
                raise errors.CancelledError
            if results.metadata is not None:
                return results
            code = process.wait()
            error = results.failure(request["name"], code)
            stderr.seek(0)
            output = stderr.read()[-STDERR_BYTES:].decode(errors="replace")
            logger.info("Parsing ended early: %s %s", error, output)
        if last or not results.was_killed(code):
            raise error
        for left in Path(request["parts_folder"]).iterdir() if "parts_folder" in request else ():
            left.unlink()
    raise AssertionError("unreachable")


class Results:
    """The results of a parsing process so far; without `metadata` they are incomplete."""

    def __init__(self, config: types.ParsingConfig, on_progress: OnProgress, on_pages: OnPages) -> None:
        self.pages: list[PageContent] = []
        self.metadata: Metadata | None = None
        self.completeness: types.Completeness | None = None
        self.parts: tuple[types.UnpackedPart, ...] = ()
        self.recognised = 0
        self.picture_pages: tuple[int, ...] = ()
        self.note: str | None = None
        self._config = config
        self._on_progress = on_progress
        self._on_pages = on_pages
        self._error: errors.Error | None = None
        self._total = 0
        self._done = 0
        self._idle = False
        self.is_cancelled = False
        self._worker: int | None = None
        self._is_busy = False
        self._message_count = 0

    def read(self, process: forks.Fork, is_cancelled: IsCancelled | None) -> None:
        """Read results until the process ends, and kill it if it is idle or `is_cancelled` returns True."""
        ended = threading.Event()
        watching = threading.Thread(target=self._watch, args=(process, ended, is_cancelled), daemon=True)
        try:
            watching.start()
        except RuntimeError as error:  # no more threads
            raise forks.start_error(error) from error
        try:
            for line in process.results:
                if not line.endswith(b"\n"):
                    break  # killed while it wrote
                self._is_busy = True
                message = protocol.load(line)
                self._worker = message.worker or self._worker
                self._apply(message)
                self._message_count += 1
                self._is_busy = False
        finally:
            ended.set()
            watching.join()

    def _watch(self, process: forks.Fork, ended: threading.Event, is_cancelled: IsCancelled | None) -> None:
        """Kill the process when it is unwanted, or idle for too long."""
        limit, count = self._config.idle_seconds, 0
        idleness: cpu_clock.Idleness | None = None
        while not ended.wait(min(POLL_SECONDS, limit / 4)):
            if is_cancelled and is_cancelled():
                self.is_cancelled = True
                process.kill()
                return
            if not self._worker:
                continue
            idleness = idleness or cpu_clock.Idleness(self._worker)
            if self._is_busy or self._message_count != count:  # the process waits for us
                idleness.reset()
                count = self._message_count
            if idleness.seconds() > limit:
                self._idle = True
                process.kill()
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._worker, signal.SIGKILL)  # in case its guard is gone
                return

    def _apply(self, message: protocol.Message) -> None:
        self._total = message.pages or self._total
        self.recognised = message.recognised or self.recognised
        if message.page:
            self.pages.append(message.page)
        done = max(self._done, self.recognised, len(self.pages))
        if done > self._done:
            self._done = done
            self._on_progress(done, self._total)
        if message.page:
            self._on_pages(self.pages, self._total)
        for name in message.model_fields_set & {"parts", "picture_pages", "note", "completeness", "metadata"}:
            setattr(self, name, getattr(message, name))
        if message.error:
            code, text, details = message.error
            self._error = _ERRORS.get(code, errors.UnreadableFileError)(text, details=details)

    def was_killed(self, code: int) -> bool:
        """Whether the process was killed from outside, and not by us."""
        return -code in EXTERNAL_SIGNALS and not self._idle and self._error is None

    def failure(self, name: str, code: int) -> errors.Error:
        """Return the error that explains the missing result."""
        if self._error:
            return self._error
        details = {"exit_code": code, "pages_done": len(self.pages)}
        if self._idle or -code in EXTERNAL_SIGNALS:
            reason = N_(
                "the system ended the process that read it, most likely for want of memory. Free some and try again"
            )
            if self._idle:
                seconds = f"{self._config.idle_seconds:g}"
                reason = N_("for {seconds} seconds nothing came from its disk. Try again when it answers").format(
                    seconds=seconds
                )
            return errors.ReadingInterruptedError(
                N_("“{name}” was not read to its end: {_reason}."), name=name, _reason=reason, details=details
            )
        reason = N_("it crashed the process that read it")
        if code == -signal.SIGPROF:
            seconds = f"{self._config.timeout_seconds(self._total):g}"
            reason = N_("reading it took more than {seconds} seconds of computing").format(seconds=seconds)
        template = N_("“{name}” cannot be read: {_reason}. Open it in another program, save it again, or split it.")
        if self._total:
            template = N_(
                "“{name}” cannot be read: {_reason} at page {page} of {total}. Open it in another program, save it "
                "again, or split it."
            )
        return errors.UnreadableFileError(
            template, name=name, _reason=reason, page=len(self.pages) + 1, total=self._total, details=details
        )

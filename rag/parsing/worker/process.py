"""A process of its own for each file, so that a file that hangs or crashes MuPDF costs one error message."""

import contextlib
import json
import logging
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rag import errors
from rag.parsing.metadata import Metadata
from rag.parsing.pdf.pages import PageContent
from rag.parsing.worker import cpu_clock, forks, protocol
from rag.types import Completeness, ParsingConfig, UnpackedPart

logger = logging.getLogger(__name__)

STDERR_BYTES = 2000
WATCH_SECONDS = 5.0
"""How often a process is looked at, by the clock."""

TRIES = 3
"""So often a file is read that the system ends the process of: others may have used the memory."""
FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""Signals that no file makes a process send itself: the system, for want of memory, or somebody ended it."""
LOOK_SECONDS = 0.5
"""How often it is asked whether the file is wanted still."""

OnProgress = Callable[[int, int], None]
OnPages = Callable[[Sequence[PageContent], int], None]
IsCancelled = Callable[[], bool]


def run(
    request: Mapping[str, Any],
    config: ParsingConfig,
    on_progress: OnProgress | None = None,
    *,
    on_pages: OnPages | None = None,
    is_cancelled: IsCancelled | None = None,
) -> "Results":
    """What a parsing process answers to `request` (see `rag.parsing.worker.child`).

    `on_pages` is told of all pages so far, and how many there are in all, with each that comes. `is_cancelled` is asked
    now and then, in a thread of its own; when it says so, the process ends.

    Raises:
        errors.CancelledError: that is what `is_cancelled` said.
        errors.PasswordError, errors.UnreadableFileError, errors.StoreError: what the process says, or why it ended.
        errors.ReadingInterruptedError: it was ended from outside, did nothing any more, or could not be started: no
            fault of the file.
    """
    # As a whole, unread: what any process inherits, which a fork of an older one would not.
    content = protocol.dump({**request, "config": config.model_dump(), "environment": dict(os.environ)})
    for last in [False] * (TRIES - 1) + [True]:
        results = Results(config, on_progress or _ignore, on_pages or _ignore)
        with tempfile.TemporaryFile() as stderr, forks.fork(content, stderr) as process:
            with _watched(process, is_cancelled) as cancelled:
                results.read(process)
            if cancelled.is_set():
                raise errors.CancelledError
            if results.complete:
                break
            code = process.wait()
            error = results.failure(request["name"], code)
            stderr.seek(0)
            said = stderr.read()[-STDERR_BYTES:].decode(errors="replace")
            logger.info("Parsing ended early: %s %s", error, said)
        if last or not results.was_killed(code):
            raise error
        _empty(request.get("parts_folder"))
    return results


def _start(thread: threading.Thread) -> None:
    try:
        thread.start()
    except RuntimeError as error:  # the system gives no more of them
        raise forks.no_process(error) from error


def _empty(folder: str | None) -> None:
    """What an attempt left that came to nothing."""
    for left in Path(folder).iterdir() if folder else ():
        left.unlink()


@contextmanager
def _watched(process: forks.Fork, is_cancelled: IsCancelled | None) -> Iterator[threading.Event]:
    """Ends the process when it is not wanted any more, which the event then tells."""
    cancelled, over = threading.Event(), threading.Event()

    def watch(is_unwanted: IsCancelled) -> None:
        while not over.wait(LOOK_SECONDS):
            if is_unwanted():
                cancelled.set()
                process.kill()
                return

    watching = threading.Thread(target=watch, args=(is_cancelled,), name="parsing-watch", daemon=True)
    if is_cancelled:
        _start(watching)
    try:
        yield cancelled
    finally:
        over.set()
        if is_cancelled:
            watching.join()


class Results:
    """What has come from the parsing process so far."""

    def __init__(self, config: ParsingConfig, on_progress: OnProgress, on_pages: OnPages) -> None:
        self.pages: list[PageContent] = []
        self.metadata = Metadata()
        self.completeness: Completeness | None = None
        self.parts: tuple[UnpackedPart, ...] = ()
        self.complete = False
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
        self._taking = False
        self._taken = 0

    def read(self, process: forks.Fork) -> None:
        """Takes results until the process ends; one that does nothing any more is ended."""
        ended = threading.Event()
        try:
            for line in process.results:
                if not line.endswith(b"\n"):
                    break  # it was ended while it wrote
                message = json.loads(line)
                if "worker" in message:
                    watched = (process, message["worker"], ended)
                    _start(threading.Thread(target=self._watch, args=watched, daemon=True))
                self._take(message)
        finally:
            ended.set()

    def _watch(self, process: forks.Fork, worker: int, ended: threading.Event) -> None:
        """Ends the process `worker` when it has done nothing for too long."""
        idleness = cpu_clock.Idleness(worker)
        patience = self._config.idle_seconds
        taken = 0
        while not ended.wait(min(WATCH_SECONDS, patience / 4)):
            if self._taking or self._taken != taken:  # a process whose results nobody takes has to wait
                idleness.note()
                taken = self._taken
            if idleness.seconds() > patience:
                self._idle = True
                process.kill()
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)  # in case that its guard is gone
                return

    def _take(self, message: Mapping[str, Any]) -> None:
        self._taking = True
        self._note(message)
        self._taken += 1
        self._taking = False

    def _note(self, message: Mapping[str, Any]) -> None:
        match message:
            case {"pages": total}:
                self._total = total
            case {"recognised": count}:
                self.recognised = count
                self._progress(count)
            case {"page": page}:
                self.pages.append(protocol.load_page(page))
                self._progress(len(self.pages))
                self._on_pages(self.pages, self._total)
            case {"picture_pages": numbers, "note": note}:
                self.picture_pages = tuple(numbers)
                self.note = note
            case {"parts": parts}:
                self.parts = protocol.load_parts(parts)
            case {"completeness": found}:
                self.completeness = Completeness(**found)
            case {"metadata": said}:
                self.metadata = protocol.load_metadata(said)
                self.complete = True
            case {"error": error}:
                self._error = protocol.load_error(error)

    def _progress(self, done: int) -> None:
        if done > self._done:
            self._done = done
            self._on_progress(done, self._total)

    def was_killed(self, code: int) -> bool:
        """Whether the system ended the process, and neither we nor the file."""
        return -code in FROM_OUTSIDE and not self._idle and self._error is None

    def failure(self, name: str, code: int) -> errors.Error:
        """Why there is no document."""
        if self._error:
            return self._error
        page = f" at page {len(self.pages) + 1} of {self._total}" if self._total else ""
        details = {"exit_code": code, "pages_done": len(self.pages)}
        if self._idle or -code in FROM_OUTSIDE:
            message = f"“{name}” was not read to its end: {self._interruption()}."
            return errors.ReadingInterruptedError(message, details=details)
        reason = "it crashed the process that read it"
        if code == -signal.SIGPROF:
            reason = f"reading it took more than {self._seconds():g} seconds of computing"
        return errors.UnreadableFileError(
            f"“{name}” cannot be read: {reason}{page}. Open it in another program, save it again, or split it.",
            details=details,
        )

    def _seconds(self) -> float:
        return self._config.timeout_seconds(self._total)

    def _interruption(self) -> str:
        if self._idle:
            return f"for {self._config.idle_seconds:g} seconds nothing came from its disk. Try again when it answers"
        return "the system ended the process that read it, most likely for want of memory. Free some and try again"


def _ignore(_done: object, _total: int) -> None:
    """Nobody watches."""

"""The worker process, which reads queued documents and runs queued jobs: `pagelight worker`, or started by the app.

The queue only gives hints. The work itself is recorded in the rows of documents and jobs, and a lock on one ends with
the process that holds it: work of a killed worker is found again, and a duplicate hint finds nothing to do.

Reading and embedding are parallel lanes: one document's pages are parsed while another's vectors are computed.
Documents that are re-read, and jobs, have lanes of their own, so that they do not delay uploads; jobs yield to uploads
after each step, and pictures are read only when there is nothing else to do.
"""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence

from rag import errors, lazy_imports, types
from rag.config import load_config
from rag.engine import Installation
from rag.providers.onnx_models import usable_cores

logger = logging.getLogger("rag.worker")

PARENT_CHECK_SECONDS = 0.5
RECOVERY_SECONDS = 30.0
RETRY_SECONDS = 5.0
"""Interval between checks for due retries."""
RECONNECT_SECONDS = 1.0
STOP_SECONDS = 10.0
SMALL_BYTES = 1024 * 1024
"""Files up to this size have their own reader, so that they do not wait behind large ones."""
EMBEDDING_THREADS = 2
"""One stores vectors while the other computes; the model itself uses all cores."""


def run(installation: Installation, *, wait: bool = True, concurrency: int | None = None) -> None:
    """Process documents and jobs of all users until SIGINT or SIGTERM; without `wait`, until only retries are left.

    `concurrency` is the number of parallel jobs, by default that of the settings.
    """
    installation.store.use_background_timeouts()
    installation.recover_queue()
    installation.cleanup.finish_deletions()
    lanes = Lanes(installation, wait=wait, concurrency=concurrency)
    if not wait:
        installation.worker_tasks.listen(lanes.wake, wait=False)
        lanes.join()
        return
    threading.Thread(target=_recover_forever, args=(installation, lanes.wake), name="recovery", daemon=True).start()
    try:
        while True:
            try:
                installation.worker_tasks.listen(lanes.wake)
                return  # told to stop
            except errors.StoreError as error:  # the connection to the database is lost
                logger.warning("%s Trying again.", error)
                time.sleep(RECONNECT_SECONDS)
    finally:
        lanes.stop()


def _recover_forever(installation: Installation, wake: Callable[[], None]) -> None:
    """Recover work of killed processes and lost hints, and wake the lanes for due retries."""
    recovered = time.monotonic()
    while True:
        time.sleep(RETRY_SECONDS)
        try:
            if time.monotonic() - recovered > RECOVERY_SECONDS:
                recovered = time.monotonic()
                installation.recover_queue()
                installation.worker_tasks.clean_up()
                wake()
            elif installation.store.document_scheduler.is_due():
                wake()
        except errors.StoreError as error:
            logger.warning("%s", error)


class Lanes:
    """The threads of a worker, each of which repeatedly does the most urgent work of its lane.

    The database decides which that is, and ensures that no two workers do the same.
    """

    def __init__(self, installation: Installation, *, wait: bool, concurrency: int | None = None) -> None:
        """Start the threads; without `wait` they end when no lane has work left."""
        self._wait = wait
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._changes = 0
        self._idle_since: dict[int, int] = {}
        self._silent_steps: Sequence[Callable[[], bool]] = ()
        stopping = self._stopping.is_set

        def lane(which: types.Lane, most_bytes: int | None = None) -> Callable[[], bool]:
            def step() -> bool:
                done = installation.worker_tasks.process_next(which, stopping, most_bytes=most_bytes)
                if done and done.status is not types.DocumentStatus.EMBEDDING:
                    self.wake()  # a job may wait for it
                return _log_outcome(done)

            return step

        reading = installation.config.rag_worker_readers or usable_cores()
        steps = {f"reading-{number}": lane(types.Lane.READING) for number in range(reading)}
        steps["small"] = lane(types.Lane.READING, SMALL_BYTES)
        embedding = {f"embedding-{number}": lane(types.Lane.EMBEDDING) for number in range(EMBEDDING_THREADS)}
        steps |= embedding
        self._silent_steps = [*embedding.values()]  # a batch of vectors gives others no work
        steps["renewing"] = lane(types.Lane.RENEWING)
        for number in range(concurrency or installation.config.rag_worker_concurrency):
            steps[f"jobs-{number}"] = lambda: _log_outcome(installation.worker_tasks.run_next_job(stopping))
        steps["pictures"] = installation.worker_tasks.read_pictures
        self._threads = [
            threading.Thread(target=self._run_loop, args=(work,), name=name, daemon=True)
            for name, work in steps.items()
        ]
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Tell all lanes that there may be new work."""
        with self._changed:
            self._changes += 1
            self._changed.notify_all()

    def stop(self) -> None:
        """Stop after the current steps; a document being read is interrupted and left to the next worker."""
        self._stopping.set()
        self.wake()
        deadline = time.monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def join(self) -> None:
        """Wait for all threads."""
        for thread in self._threads:
            thread.join()

    def _run_loop(self, work: Callable[[], bool]) -> None:
        seen = self._changes
        while not self._stopping.is_set():
            while self._try_step(work) and not self._stopping.is_set():
                if work not in self._silent_steps:
                    self.wake()  # another lane may continue
            seen = self._wait_for_change(seen)

    def _wait_for_change(self, seen: int) -> int:
        """Wait for a change after number `seen`. Returns the number of the latest change."""
        thread = threading.get_ident()
        with self._changed:
            self._idle_since[thread] = seen
            if not self._wait and [*self._idle_since.values()] == [self._changes] * len(self._threads):
                self._stopping.set()  # no lane has found work since the last change
                self._changed.notify_all()
            self._changed.wait_for(lambda: self._changes != seen or self._stopping.is_set())
            del self._idle_since[thread]
            return self._changes

    def _try_step(self, work: Callable[[], bool]) -> bool:
        """Return whether work was done. Unexpected failures are retried when there is new work."""
        try:
            return work()
        except errors.NotFoundError:
            return True  # purged meanwhile
        except errors.StoreError as error:
            logger.warning("%s Trying again.", error)
            return self._wait and not self._stopping.wait(RECONNECT_SECONDS)
        except Exception:
            if not self._stopping.is_set():
                logger.exception("a step failed")
            return False


def _log_outcome(done: types.Document | types.Job | None) -> bool:
    """Log what has finished. Returns False if there was nothing to do."""
    if isinstance(done, types.Job):
        logger.info("job %s: %s %s", done.id, done.kind, done.status)
    elif done and done.status not in types.UNFINISHED:
        logger.info("document %s: %s, %d chunks", done.id, done.status, done.chunk_count)
    return done is not None


def log_work() -> None:
    """Log our own progress; of libraries only warnings."""
    logging.getLogger("rag").setLevel(logging.INFO)


def spawn() -> subprocess.Popen[bytes]:
    """Start a worker that ends when this process ends."""
    return subprocess.Popen(
        # -P: a module in the working folder must not take the place of one of Python's.
        [sys.executable, "-P", "-m", "rag.worker", "--parent", str(os.getpid())],
        stdin=subprocess.DEVNULL,
    )


_keeper_lock = threading.Lock()


def keep_running() -> None:
    """Keep a worker running beside this process. Repeated calls do nothing."""
    if _keeper_lock.acquire(blocking=False):
        threading.Thread(target=_run_workers, name="worker-keeper", daemon=True).start()


def _run_workers() -> None:
    while True:
        spawn().wait()
        time.sleep(RECONNECT_SECONDS)


def _exit_with_parent(parent: int) -> None:
    """Exit when `parent` is gone: a killed process cannot stop its children."""

    def watch() -> None:
        pause = threading.Event()
        while os.getppid() == parent:
            pause.wait(PARENT_CHECK_SECONDS)
        logger.info("the app is gone, so is its worker")
        os._exit(0)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def main(arguments: list[str]) -> None:
    """`python -m rag.worker [--parent PID]`."""
    lazy_imports.collect_rarely()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s")
    log_work()
    if arguments[:1] == ["--parent"]:
        _exit_with_parent(int(arguments[1]))
    with Installation(load_config()) as installation:
        try:
            run(installation)
        except errors.StoreUnavailableError as error:
            logger.warning("%s", error)
            sys.exit(error.exit_code)


if __name__ == "__main__":
    main(sys.argv[1:])

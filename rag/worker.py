"""The process that reads queued documents and does queued jobs: `pagelight worker`, or the one that a door starts.

The queue gives hints. What is to be done stands in the rows of documents and jobs, and a claim on one ends with the
process that holds it: a task lost with a killed worker is found again, and one that comes twice finds nothing to do.
"""

import logging
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable

from rag import errors
from rag.config import load_config
from rag.engine import Installation

logger = logging.getLogger("rag.worker")

Task = Callable[[str, uuid.UUID], None]

PARENT_CHECK_SECONDS = 0.5
RECOVERY_SECONDS = 30.0
RECONNECT_SECONDS = 1.0


def run(installation: Installation, *, wait: bool = True) -> None:
    """Read queued documents of all users until stopped by SIGINT or SIGTERM; with `wait` False, until none is left."""

    def process(user_id: str, document_id: uuid.UUID) -> None:
        try:
            document = installation.for_user(user_id).documents.process(document_id)
        except errors.NotFoundError:
            return  # purged while it waited
        logger.info("document %s: %s, %d chunks", document.id, document.status, document.chunk_count)

    def run_job(user_id: str, job_id: uuid.UUID) -> None:
        job = installation.for_user(user_id).jobs.run(job_id)
        logger.info("job %s: %s %s", job.id, job.kind, job.status)

    installation.recover_queue()
    if not wait:
        installation.run_queue(process, run_job, wait=False)
        return
    threading.Thread(target=_recover_for_ever, args=(installation,), name="recovery", daemon=True).start()
    while not _stopped_cleanly(installation, process, run_job):
        time.sleep(RECONNECT_SECONDS)


def _stopped_cleanly(installation: Installation, process: Task, run_job: Task) -> bool:
    """Work until told to stop (True) or until the database is lost (False)."""
    try:
        installation.run_queue(process, run_job)
    except errors.StoreError as error:
        logger.warning("%s Trying again.", error)
        return False
    return True


def _recover_for_ever(installation: Installation) -> None:
    """Take up what other workers, killed meanwhile, left behind."""
    while True:
        time.sleep(RECOVERY_SECONDS)
        try:
            installation.recover_queue()
        except errors.StoreError as error:
            logger.warning("%s", error)


def log_work() -> None:
    """Log what is done here; the libraries tell only of what is wrong."""
    logging.getLogger("rag").setLevel(logging.INFO)


def spawn() -> subprocess.Popen[bytes]:
    """Start a worker that ends with this process, however this process ends."""
    return subprocess.Popen(
        [sys.executable, "-m", "rag.worker", "--parent", str(os.getpid())],
        stdin=subprocess.DEVNULL,
    )


_keeping = threading.Lock()


def keep() -> None:
    """Keep a worker beside this process: one that dies is followed by another. Called again it does nothing."""
    if _keeping.acquire(blocking=False):
        threading.Thread(target=_run_workers, name="worker-keeper", daemon=True).start()


def _run_workers() -> None:
    while True:
        spawn().wait()
        time.sleep(RECONNECT_SECONDS)


def _end_with(parent: int) -> None:
    """Leave when `parent` is gone: a killed process cannot tell its children."""

    def watch() -> None:
        pause = threading.Event()
        while os.getppid() == parent:
            pause.wait(PARENT_CHECK_SECONDS)
        logger.info("the app is gone, so is its worker")
        os._exit(0)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def main(arguments: list[str]) -> None:
    """`python -m rag.worker [--parent PID]`."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s")
    log_work()
    if arguments[:1] == ["--parent"]:
        _end_with(int(arguments[1]))
    with Installation(load_config()) as installation:
        run(installation)


if __name__ == "__main__":
    main(sys.argv[1:])

"""What a worker does for all users: documents by lanes, and jobs."""

import time
from collections.abc import Callable

from rag.engine.documents import Documents
from rag.engine.jobs import Jobs
from rag.engine.questions import Questions
from rag.engine.reading import Reader
from rag.engine.resources import Resources
from rag.engine.workspace import Workspace
from rag.store import MOST_ATTEMPTS
from rag.types import Document, Job, Lane

GIVE_WAY_SECONDS = 5.0
"""So long a job lets documents go first, after each of its steps, which take about a second."""
LOOK_SECONDS = 0.5


class _StoppingError(Exception):
    """The worker stops between two steps of a job."""


class Work:
    """The work in the background of an installation."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def hear_hints(self, on_hint: Callable[[], None], *, wait: bool = True) -> None:
        """Call `on_hint` whenever there may be something to do, until SIGINT or SIGTERM.

        Without `wait` only for the hints that are there.
        """
        self._resources.store.queue.run(lambda *_: on_hint(), lambda *_: on_hint(), wait=wait)

    def do_next(self, lane: Lane, is_stopping: Callable[[], bool], *, most_bytes: int | None = None) -> Document | None:
        """Do what is most urgent in a lane, of any user's; None if there is nothing, or others are at all of it.

        Returns the document as it is then. `most_bytes` leaves out larger files. When the worker `is_stopping`, what is
        done so far is kept.
        """
        lanes = self._resources.store.lanes
        with lanes.next(lane, most_bytes=most_bytes) as taken:
            if taken is None:
                return None
            reader = Reader(Workspace(self._resources, taken.user_id))
            if taken.attempts > MOST_ATTEMPTS:
                reader.give_up(taken.document_id)
            else:
                reader.step(taken.document_id, lane, is_stopping, taken.attempts)
                if is_stopping():
                    lanes.give_back(taken)
            return reader.document(taken.document_id)

    def is_due(self) -> bool:
        """Whether something waits that was to be tried again later, and now may be."""
        return self._resources.store.lanes.is_due()

    def read_pictures(self) -> bool:
        """Read the words in a document's pictures; False if none wait, or there is more urgent work."""
        taken = self._resources.store.lanes.next_pictures()
        if taken is None:
            return False
        workspace = Workspace(self._resources, taken.user_id)
        if taken.attempts > MOST_ATTEMPTS:
            workspace.store.readings.keep_pictures_unread(taken.document_id)
            return True
        return not Reader(workspace).read_pictures(taken.document_id).pictures_waiting

    def do_job(self, is_stopping: Callable[[], bool]) -> Job | None:
        """Do the most urgent job of any user's; None if there is none, or others are at all of them.

        It gives way to documents that wait for their words or vectors. When the worker `is_stopping`, it ends between
        two steps, and the next worker goes on there.
        """
        store = self._resources.store
        with store.job_lane.next() as taken:
            if taken is None:
                return None
            try:
                return self._jobs(taken.user_id).go_on(taken.job_id, lambda: self._give_way(is_stopping))
            except _StoppingError:
                store.of(taken.user_id).jobs.give_back(taken.job_id)
                return store.of(taken.user_id).jobs.get(taken.job_id)

    def _give_way(self, is_stopping: Callable[[], bool]) -> None:
        """Let documents be read first, but not for ever: then the job would never be done where there are many."""
        deadline = time.monotonic() + GIVE_WAY_SECONDS
        while not is_stopping() and time.monotonic() < deadline and self._resources.store.lanes.are_waiting():
            time.sleep(LOOK_SECONDS)
        if is_stopping():
            raise _StoppingError

    def _jobs(self, user_id: str) -> Jobs:
        workspace = Workspace(self._resources, user_id)
        return Jobs(workspace, Documents(workspace), Questions(workspace))

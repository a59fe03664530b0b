"""What a worker does for all users: documents by lanes, and jobs."""

from collections.abc import Callable

from rag.engine.documents import Documents
from rag.engine.jobs import Jobs
from rag.engine.questions import Questions
from rag.engine.reading import Reader
from rag.engine.resources import Resources
from rag.engine.workspace import Workspace
from rag.store import MOST_ATTEMPTS
from rag.types import Document, Job, Lane


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

    def do_job(self) -> Job | None:
        """Do a job of any user's; None if there is none, or others are at all of them."""
        unfinished = self._resources.store.unfinished_jobs()
        done = (self._jobs(user_id).run(job_id) for user_id, job_id in unfinished)
        return next((job for job in done if job.finished_at), None)

    def _jobs(self, user_id: str) -> Jobs:
        workspace = Workspace(self._resources, user_id)
        return Jobs(workspace, Documents(workspace), Questions(workspace))

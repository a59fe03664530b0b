"""What is done of a job already, which is kept for the case that its worker ends before the job does."""

import uuid
from collections.abc import Callable
from typing import Any, TypeVar

import pydantic

from rag.store import JobSteps

Row = TypeVar("Row", bound=pydantic.BaseModel)


class Steps:
    """The steps of a running job, each done once however often the job is begun."""

    def __init__(self, kept: JobSteps, job_id: uuid.UUID, between: Callable[[], None]) -> None:
        """`between` is called before each step that is to be done; what it raises ends the job here."""
        self._kept = kept
        self._job_id = job_id
        self._between = between
        self._outcomes = kept.of(job_id)

    def once(self, step: str, work: Callable[[], Any]) -> Any:
        """What came of a step, which is JSON. Raises CancelledError if the job was cancelled."""
        if step not in self._outcomes:
            self.pause()
        return self.gathered(step, work)

    def gathered(self, step: str, work: Callable[[], Any]) -> Any:
        """As `once`, of a step that others make up: before each of these, and not before it, others may go first."""
        if step not in self._outcomes:
            self._outcomes[step] = work()
            self._kept.keep(self._job_id, step, self._outcomes[step])
        return self._outcomes[step]

    def pause(self) -> None:
        """Between two steps; others may go first."""
        self._between()

    def rows(self, number: int, row: type[Row], make: Callable[[], list[Row]]) -> list[Row]:
        """See `evaluation.Remember`."""
        outcome = self.once(str(number), lambda: [made.model_dump(mode="json") for made in make()])
        return [row.model_validate(one) for one in outcome]

"""Evaluations that are done: how they went over time, and two of them beside each other."""

import builtins
import uuid

from rag import errors, evaluation
from rag.engine.workspace import Workspace
from rag.types import EvaluationRun

MOST_RUNS = 200


class EvaluationRuns:
    """One user's evaluations that are done."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, *, most: int = MOST_RUNS) -> builtins.list[EvaluationRun]:
        """The last of them with their measures, the latest first."""
        return self._workspace.store.evaluation_runs.list(most=most)

    def compare(self, before: uuid.UUID, after: uuid.UUID) -> builtins.list[evaluation.ComparedQuestion]:
        """Two runs question by question. See `evaluation.compare`.

        Raises:
            errors.NotFoundError: there is no such evaluation.
            errors.ValidationError: one is not done, or they are of different subjects.
        """
        results = [self._workspace.store.jobs.get(job_id).result for job_id in (before, after)]
        if any(result is None or "subject" not in result for result in results):
            raise errors.ValidationError(
                "Only evaluations that are done are compared. Wait for them, or measure again."
            )
        return evaluation.compare(*(result or {} for result in results))

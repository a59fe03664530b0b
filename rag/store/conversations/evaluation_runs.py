"""Evaluations that are done, without what was found for each question."""

import builtins

from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import EvaluationRun


class EvaluationRuns:
    """A user's rows of the table `jobs` that are evaluations with a result."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("evaluation_runs")

    def list(self, *, most: int) -> builtins.list[EvaluationRun]:
        """The last of them, the latest first."""
        rows = self._database.all(self._queries["list"], {"most": most})
        return [EvaluationRun.model_validate(dict(row)) for row in rows]

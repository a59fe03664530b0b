"""Evaluation data: sets of questions with known answers, and the results of finished evaluations."""

import builtins
from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.server.database import Queries, UserDatabase


class EvaluationCases:
    """A user's rows of the table `evaluation_cases`."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "evaluations")

    def list(self) -> builtins.list[types.QuestionSet]:
        """Return the question sets in alphabetical order."""
        return [types.QuestionSet.model_validate(dict(row)) for row in self._queries.all("sets")]

    def get(self, name: str) -> builtins.list[Mapping[str, Any]]:
        """Return the questions of a set, the oldest first; none if there is no such set."""
        return [row["question"] for row in self._queries.all("get", set_name=name)]

    def put(self, name: str, case_id: str, question: Mapping[str, Any]) -> None:
        """Save a question in a set, replacing the one with its id."""
        self._queries.write("put", set_name=name, id=case_id, question=Jsonb(dict(question)))

    def delete(self, name: str, case_id: str) -> None:
        """Delete a question from a set. Raises NotFoundError."""
        if not self._queries.write("delete", set_name=name, id=case_id):
            raise errors.NotFoundError(
                N_("There is no question {id} in the set “{name}”."), id=repr(case_id), name=name
            )


class EvaluationRuns:
    """A user's rows of the table `jobs` that are finished evaluations."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "evaluations")

    def list(self, *, most: int) -> builtins.list[types.EvaluationRun]:
        """Return the latest evaluations, the latest first, without the results of single questions."""
        return [types.EvaluationRun.model_validate(dict(row)) for row in self._queries.all("runs", most=most)]

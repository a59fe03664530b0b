"""Questions whose answers are known, in sets under a name."""

import builtins
from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import QuestionSet


class EvaluationCases:
    """A user's rows of the table `evaluation_cases`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("evaluation_cases")

    def list(self) -> builtins.list[QuestionSet]:
        """The sets there are, in the order of the alphabet."""
        return [QuestionSet.model_validate(dict(row)) for row in self._database.all(self._queries["sets"], {})]

    def get(self, name: str) -> builtins.list[Mapping[str, Any]]:
        """The questions of a set, the oldest first; none where there is no such set."""
        return [row["question"] for row in self._database.all(self._queries["get"], {"set_name": name})]

    def put(self, name: str, case_id: str, question: Mapping[str, Any]) -> None:
        """Keep a question in a set, in the place of the one with its id."""
        parameters = {"set_name": name, "id": case_id, "question": Jsonb(dict(question))}
        self._database.write(self._queries["put"], parameters)

    def delete(self, name: str, case_id: str) -> None:
        """Take a question out of a set. Raises NotFoundError."""
        if not self._database.write(self._queries["delete"], {"set_name": name, "id": case_id}):
            raise errors.NotFoundError(f"There is no question {case_id!r} in the set “{name}”.")

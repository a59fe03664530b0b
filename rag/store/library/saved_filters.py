"""Filters under a name."""

import builtins
from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb

from rag import errors
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import Filters, SavedFilter


class SavedFilters:
    """A user's rows of the table `saved_filters`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("saved_filters")

    def list(self) -> builtins.list[SavedFilter]:
        """All of them in the order of the alphabet."""
        return [_to_filter(row) for row in self._database.all(self._queries["list"], {})]

    def get(self, name: str) -> SavedFilter:
        """The one of this name. Raises NotFoundError."""
        row = self._database.one(self._queries["get"], {"name": name})
        if row is None:
            raise _unknown(name)
        return _to_filter(row)

    def put(self, name: str, filters: Filters) -> None:
        """Keep filters under a name, in the place of those there were."""
        kept = Jsonb(filters.model_dump(mode="json", exclude_defaults=True))
        self._database.write(self._queries["put"], {"name": name, "filters": kept})

    def delete(self, name: str) -> None:
        """Forget the one of this name. Raises NotFoundError."""
        if not self._database.write(self._queries["delete"], {"name": name}):
            raise _unknown(name)


def _to_filter(row: Mapping[str, Any]) -> SavedFilter:
    return SavedFilter(name=row["name"], filters=Filters.model_validate(row["filters"]))


def _unknown(name: str) -> errors.NotFoundError:
    return errors.NotFoundError(f"There is no saved filter “{name}”. List the saved filters and check the name.")

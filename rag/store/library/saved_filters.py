"""Search filters that users save under a name."""

import builtins

from psycopg.types.json import Jsonb

from rag import errors, types
from rag.messages import N_
from rag.store.server.database import Queries, UserDatabase


class SavedFilters:
    """A user's rows of the table `saved_filters`."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "saved_filters")

    def list(self) -> builtins.list[types.SavedFilter]:
        """Return all saved filters in alphabetical order."""
        return [types.SavedFilter(**row) for row in self._queries.all("list")]

    def get(self, name: str) -> types.SavedFilter:
        """Return a saved filter. Raises NotFoundError."""
        return types.SavedFilter(**self._queries.get("get", _unknown(name), name=name))

    def put(self, name: str, filters: types.Filters) -> None:
        """Save filters under a name, replacing earlier ones."""
        self._queries.write("put", name=name, filters=Jsonb(filters.model_dump(mode="json", exclude_defaults=True)))

    def delete(self, name: str) -> None:
        """Delete a saved filter. Raises NotFoundError."""
        self._queries.change("delete", _unknown(name), name=name)


def _unknown(name: str) -> errors.NotFoundError:
    return errors.NotFoundError(
        N_("There is no saved filter “{name}”. List the saved filters and check the name."), name=name
    )

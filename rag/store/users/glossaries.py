"""Glossaries: the terms of a user's organisation."""

from rag.store.server.database import Queries, UserDatabase


class Glossary:
    """A user's row of the table `glossaries`."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "glossaries")

    def get(self) -> str:
        """Return the glossary as TOML; empty if there is none."""
        row = self._queries.one("get")
        return str(row["toml"]) if row else ""

    def put(self, toml: str) -> None:
        """Save the glossary, replacing an earlier one."""
        self._queries.write("put", toml=toml)

    def delete(self) -> None:
        """Delete the glossary."""
        self._queries.write("delete")

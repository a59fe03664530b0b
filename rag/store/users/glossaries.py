"""The words of users' houses."""

from rag.store.server import named_queries
from rag.store.server.database import UserDatabase


class Glossary:
    """A user's row of the table `glossaries`."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("glossaries")

    def get(self) -> str:
        """The glossary as TOML; empty if there is none."""
        row = self._database.one(self._queries["get"], {})
        return str(row["toml"]) if row else ""

    def put(self, toml: str) -> None:
        """Keep a glossary in the place of the one there was."""
        self._database.write(self._queries["put"], {"toml": toml})

    def delete(self) -> None:
        """Have none from now on."""
        self._database.write(self._queries["delete"], {})

"""Lexical search: BM25 in SQL, exact in the asked scope."""

import uuid

from rag.store import queries, terms
from rag.store.database import Database
from rag.store.dense import scope_parameters
from rag.types import Candidate, Scope


class LexicalSearch:
    """The table `postings`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queries = queries.load("lexical")

    def chunks(self, scope: Scope, query: str, limit: int) -> list[Candidate]:
        """See `Chunks.lexical`."""
        parameters = {**scope_parameters(scope), "query": terms.normalize(query), "limit": limit}
        rows = self._database.all(self._queries["chunks"], parameters)
        return [Candidate(row["chunk_id"], row["document_id"], row["page_number"], row["score"]) for row in rows]

    def documents(self, scope: Scope, query: str, limit: int) -> list[tuple[uuid.UUID, float]]:
        """See `Chunks.lexical_documents`."""
        parameters = {**scope_parameters(scope), "query": terms.normalize(query), "limit": limit}
        rows = self._database.all(self._queries["documents"], parameters)
        return [(row["document_id"], row["score"]) for row in rows]

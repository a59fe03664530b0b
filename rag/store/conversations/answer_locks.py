"""Locks of chats: one process at a time writes an answer in a chat."""

import uuid
from contextlib import AbstractContextManager

from rag.store.jobs import work_locks
from rag.store.server.database import Queries, UserDatabase


class AnswerLocks:
    """Locks of a user's chats. They end with the process that has them, however it ends."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = Queries(database, "conversations")

    def lock(self, conversation_id: uuid.UUID) -> AbstractContextManager[bool]:
        """Lock a chat for the block, and give whether the caller has the lock."""
        return work_locks.lock(self._database, conversation_id)

    def is_locked(self, conversation_id: uuid.UUID) -> bool:
        """Return whether somebody has the lock of a chat."""
        row = self._queries.one("is_locked", conversation_id=conversation_id)
        return bool(row and row["locked"])

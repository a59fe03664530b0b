"""The reading of documents: which lane one is in, how it is lined up, cancelled and taken up again."""

import uuid
from collections.abc import Sequence

from rag import errors
from rag.store.jobs.retries import RETRY_DELAYS
from rag.store.library.documents import to_document, unknown
from rag.store.server import named_queries
from rag.store.server.database import UserDatabase
from rag.types import Document, Lane

UNREAD_PICTURES = "The words in its pictures could not be read. Read it again to try once more."


class ReadingQueue:
    """What a user's rows of the table `documents` tell of how they are being read."""

    def __init__(self, database: UserDatabase) -> None:
        self._database = database
        self._queries = named_queries.load("readings")

    def cancel(self, ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """End the reading of documents; what is found of them stays. Returns those that were being read, or waited."""
        cancelled = errors.CancelledError()
        parameters = {"ids": [*ids], "code": cancelled.code, "message": cancelled.message}
        return [row["id"] for row in self._database.write(self._queries["cancel"], parameters)]

    def lane(self, document_id: uuid.UUID) -> Lane | None:
        """What is to be done with a document next; None if it is not being read, or not there."""
        row = self._database.one(self._queries["lane"], {"document_id": document_id})
        return Lane(row["lane"]) if row else None

    def resume(self, document_id: uuid.UUID) -> Document:
        """Mark a document as to be read on from where that ended, or anew if it was ready.

        One that is being read, or waits for it, stays as it is. Raises NotFoundError if it is in the trash, or gone.
        """
        resumed = self._database.write(self._queries["resume"], {"document_id": document_id})
        found = resumed or self._database.all(self._queries["present"], {"document_id": document_id})
        if not found:
            raise unknown(document_id)
        return to_document(found[0])

    def keep_pictures_unread(self, document_id: uuid.UUID) -> None:
        """The words in its pictures cannot be read, and are not to be tried again; its note says so."""
        self._database.write(
            self._queries["keep_pictures_unread"], {"document_id": document_id, "note": UNREAD_PICTURES}
        )

    def postpone(self, document_id: uuid.UUID, code: str, message: str) -> None:
        """Let workers take a document again after a pause, which grows with the attempts; it tells why."""
        parameters = {"document_id": document_id, "code": code, "message": message, "pauses": RETRY_DELAYS}
        self._database.write(self._queries["postpone"], parameters)

    def keep_trace(self, document_id: uuid.UUID, traceparent: str) -> None:
        """What is done with a document belongs to this step of a trace."""
        self._database.write(self._queries["keep_trace"], {"document_id": document_id, "traceparent": traceparent})

    def trace(self, document_id: uuid.UUID) -> str | None:
        """The step of a trace that a document came with, if any."""
        row = self._database.one(self._queries["trace"], {"document_id": document_id})
        return row["trace_parent"] if row else None

    def enqueue(self, document_id: uuid.UUID) -> Document:
        """Let workers take a document, now, even if it was to wait. Raises NotFoundError."""
        enqueued = self._database.write(self._queries["enqueue"], {"document_id": document_id})
        if not enqueued:
            raise unknown(document_id)
        return to_document(enqueued[0])

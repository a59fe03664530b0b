"""The state of documents that are read and embedded: lane, cancellation, retries and trace."""

import uuid
from collections.abc import Sequence

from rag import errors, types
from rag.store.jobs.scheduling import RETRY_DELAYS
from rag.store.library.documents import to_document, unknown
from rag.store.server.database import Queries, UserDatabase

UNREAD_PICTURES = "The words in its pictures could not be read. Read it again to try once more."


class ReadingQueue:
    """The columns of a user's `documents` that say how they are being read."""

    def __init__(self, database: UserDatabase) -> None:
        self._queries = Queries(database, "reading_queue")

    def cancel(self, ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Cancel the reading of documents; what was indexed stays. Returns those that were being read or waited."""
        cancelled = errors.CancelledError()
        rows = self._queries.write("cancel", ids=[*ids], code=cancelled.code, message=cancelled.message)
        return [row["id"] for row in rows]

    def lane(self, document_id: uuid.UUID) -> types.Lane | None:
        """Return what is to be done next with a document; None if it is not being read or does not exist."""
        row = self._queries.one("lane", document_id=document_id)
        return types.Lane(row["lane"]) if row else None

    def resume(self, document_id: uuid.UUID) -> types.Document:
        """Mark a document to be read from where that stopped, or again if it was ready.

        A document that is being read or queued stays as it is. Raises NotFoundError if it is in the trash or gone.
        """
        resumed = self._queries.write("resume", document_id=document_id)
        found = resumed or self._queries.all("present", document_id=document_id)
        if not found:
            raise unknown(document_id)
        return to_document(found[0])

    def give_up_pictures(self, document_id: uuid.UUID) -> None:
        """Mark the pictures of a document as unreadable, with a note about it, so that they are not tried again."""
        self._queries.write("give_up_pictures", document_id=document_id, note=UNREAD_PICTURES)

    def postpone(self, document_id: uuid.UUID, code: str, message: str) -> None:
        """Queue a document for a retry, and note the reason."""
        self._queries.write("postpone", document_id=document_id, code=code, message=message, pauses=RETRY_DELAYS)

    def set_trace(self, document_id: uuid.UUID, traceparent: str) -> None:
        """Save the tracing span to which work on a document belongs."""
        self._queries.write("set_trace", document_id=document_id, traceparent=traceparent)

    def trace(self, document_id: uuid.UUID) -> str | None:
        """Return the tracing span to which work on a document belongs, if any."""
        row = self._queries.one("trace", document_id=document_id)
        return row["trace_parent"] if row else None

    def enqueue(self, document_id: uuid.UUID) -> types.Document:
        """Let workers take a document now, even before its retry is due. Raises NotFoundError."""
        enqueued = self._queries.write("enqueue", document_id=document_id)
        if not enqueued:
            raise unknown(document_id)
        return to_document(enqueued[0])

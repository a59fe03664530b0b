"""Read queued documents: first their text, then their vectors."""

import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence

from rag import errors, ingestion, types, vocabulary
from rag.engine.library.attachments import Attachments
from rag.engine.matrix import fill_scheduling
from rag.engine.models import DEFAULT_AUTH, DEFAULT_PROVIDER_OPTIONS
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.store import MAX_ATTEMPTS

logger = logging.getLogger(__name__)

EMBED_BATCH = 32
"""Chunks per embedding batch: about a second, after which other documents get their turn."""
POLL_SECONDS = 0.2
PROGRESS_SECONDS = 0.2
"""Minimum interval between progress updates: writing a row takes longer than reading a page."""

IsCancelled = Callable[[], bool]

TRANSIENT_ERRORS = (errors.ReadingInterruptedError, errors.StoreError)
"""Errors of the machine or the database, not of the file."""

TRANSIENT_CODES = frozenset(error.code for error in TRANSIENT_ERRORS)


class DocumentReader:
    """Reads one user's documents into their indexes."""

    def __init__(
        self,
        workspace: Workspace,
        auth: types.Auth = DEFAULT_AUTH,
        options: types.ProviderOptions = DEFAULT_PROVIDER_OPTIONS,
    ) -> None:
        """`auth` and `options` are for the embedding provider."""
        self._workspace = workspace
        self._auth = auth
        self._options = options

    def read(
        self,
        document_id: uuid.UUID,
        on_progress: types.OnProgress = types.ignore_progress,
        *,
        again: bool = False,
        max_chunks: int | None = None,
    ) -> types.Document:
        """Read a queued document until it is ready or has failed; recorded_failures are recorded, not raised.

        With `again`, it is re-read from the beginning. Waits while another process reads it. Raises NotFoundError if
        there is no such document; with `again`, it is in the trash or gone.
        """
        documents = self._workspace.store.documents
        readings = self._workspace.store.reading_queue
        steps = LaneSteps(self, self._workspace, document_id, on_progress, max_chunks=max_chunks)
        while again or readings.lane(document_id):
            with documents.lock(document_id) as claimed:
                if claimed and again:
                    documents.requeue(document_id)
                    again = False
                while claimed and (lane := readings.lane(document_id)):
                    steps.run(lane)
            if not claimed:
                _wait_for_other_process(documents.get(document_id), on_progress)
        return self._refill_matrices(document_id)

    def read_pictures(self, document_id: uuid.UUID) -> types.Document:
        """Add the text in a ready document's pictures. It stays searchable meanwhile.

        Does nothing if no pictures wait, or another process reads it. Unreadable pictures are skipped.

        Raises:
            errors.ReadingInterruptedError: the system ended the process; try again.
            errors.ProviderError, errors.StoreError: as for any reading.
        """
        documents = self._workspace.store.documents
        with documents.lock(document_id) as claimed:
            document = documents.get(document_id)
            if not claimed or not document.pictures_waiting or document.status is not types.DocumentStatus.READY:
                return document
            try:
                self.with_index(document, lambda index: self.ingestion_for(index).read_pictures(document))
            except errors.UnreadableFileError as error:
                logger.warning("the pictures of document %s stay unread: %s", document_id, error.code)
                self._workspace.store.reading_queue.give_up_pictures(document_id)
        return documents.get(document_id)

    def step(self, document_id: uuid.UUID, lane: types.Lane, is_stopping: IsCancelled, attempts: int) -> None:
        """Run one lane's step for a locked document; recorded_failures are recorded, not raised.

        Transient recorded_failures are retried later, until there were too many `attempts`, including this one. When
        `is_stopping` returns True, the document stays where it is.
        """
        LaneSteps(
            self, self._workspace, document_id, types.ignore_progress, is_stopping=is_stopping, attempts=attempts
        ).run(lane)
        self._refill_matrices(document_id)

    def give_up(self, document_id: uuid.UUID) -> None:
        """Record that reading the document ended its worker too often."""
        message = (
            "The worker that read it ended every time before it was done, most likely for want of memory. Split the "
            "file, or retry when the machine has more."
        )
        self._workspace.store.documents.fail(document_id, errors.UnreadableFileError.code, message)

    def index_blocks(self, document_id: uuid.UUID, blocks: Sequence[types.TextBlock]) -> types.Document:
        """Index a document from blocks that the caller parsed; a failure is recorded and raised."""
        document = self._workspace.store.documents.get(document_id)
        parsed = ingestion.from_blocks(document, blocks)
        with self.recorded_failures(document_id):
            self.with_index(document, lambda index: self.ingestion_for(index).index(document, parsed))
        return self._refill_matrices(document_id)

    def _refill_matrices(self, document_id: uuid.UUID) -> types.Document:
        """Refill the matrices of a document that is ready; a failure to start that does not fail the document."""
        document = self._workspace.store.documents.get(document_id)
        if document.status is types.DocumentStatus.READY:
            with contextlib.suppress(errors.Error):
                fill_scheduling.refill_for_document(self._workspace, document)
        return document

    @contextlib.contextmanager
    def recorded_failures(
        self, document_id: uuid.UUID, is_stopping: IsCancelled = lambda: False, attempts: int | None = None
    ) -> Iterator[None]:
        """Record errors on the document, unless this process is being stopped.

        The document fails; after a transient error in one of a worker's `attempts` that is not the last, it is retried.
        """
        try:
            with system_errors():
                yield
        except errors.CancelledError:
            raise  # recorded by the canceller
        except errors.Error as error:
            if is_stopping():
                raise
            self._record_failure(document_id, error, attempts)
            raise

    def _record_failure(self, document_id: uuid.UUID, error: errors.Error, attempts: int | None) -> None:
        logger.warning("document %s failed: %s", document_id, error.code)
        message = error.message
        if isinstance(error, TRANSIENT_ERRORS) and attempts:
            if attempts < MAX_ATTEMPTS:
                self._workspace.store.reading_queue.postpone(document_id, error.code, message)
                return
            message = f"{message} It was tried {attempts} times."
        self._workspace.store.documents.fail(document_id, error.code, message)

    def with_index(self, document: types.Document, work: Callable[[types.Index], None]) -> None:
        """Call `work` with the document's index, again if the index switched to another embedding model meanwhile."""
        indexes = self._workspace.store.indexes
        index = indexes.get_by_id(document.index_id)
        try:
            work(index)
        except errors.IndexError:
            switched = indexes.get_by_id(document.index_id)
            if switched.space == index.space:
                raise
            work(switched)

    def ingestion_for(self, index: types.Index) -> "ingestion.Ingestion":
        """Return the ingestion into this index."""
        return ingestion.Ingestion(
            config=self._workspace.config,
            store=self._workspace.store,
            files=self._workspace.files,
            index=index,
            embedder=self._workspace.models.embedder(index.space, self._auth, self._options),
            node_parser=self._workspace.node_parser,
            landmarks=vocabulary.landmarks(),
        )


class LaneSteps:
    """Takes one locked document from lane to lane."""

    def __init__(
        self,
        reader: DocumentReader,
        workspace: Workspace,
        document_id: uuid.UUID,
        on_progress: types.OnProgress,
        *,
        max_chunks: int | None = None,
        is_stopping: IsCancelled = lambda: False,
        attempts: int | None = None,
    ) -> None:
        self._reader = reader
        self._workspace = workspace
        self._document_id = document_id
        self._on_progress = on_progress
        self._max_chunks = max_chunks
        self._is_stopping = is_stopping
        self._attempts = attempts
        self._stage = ""
        self._recorded_at = 0.0

    def run(self, lane: types.Lane) -> None:
        """Do the work of `lane`; failures are recorded, not raised."""

        def work(index: types.Index) -> None:
            into = self._reader.ingestion_for(index)
            if lane is types.Lane.EMBEDDING:
                self._embed(into)
                return
            read = into.read_words if lane is types.Lane.READING else into.renew
            read(
                document,
                self._record,
                max_chunks=self._max_chunks,
                on_parts=lambda unpacked: Attachments(self._workspace).keep(document, unpacked),
                is_cancelled=self._is_cancelled,
            )

        document = self._workspace.store.documents.get(self._document_id)
        recorded = self._reader.recorded_failures(self._document_id, self._is_stopping, self._attempts)
        with contextlib.suppress(errors.Error), recorded:
            self._reader.with_index(document, work)

    def _embed(self, into: "ingestion.Ingestion") -> None:
        into.embed(self._document_id, EMBED_BATCH)
        now = self._workspace.store.documents.get(self._document_id)
        self._on_progress(types.DocumentStatus.EMBEDDING, now.vector_count, now.chunk_count)

    def _record(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage or done == total or now - self._recorded_at > PROGRESS_SECONDS:
            self._workspace.store.documents.update_progress(self._document_id, types.DocumentStatus(stage), done, total)
            self._stage, self._recorded_at = stage, now
        self._on_progress(stage, done, total)
        if self._is_stopping():
            raise errors.CancelledError

    def _is_cancelled(self) -> bool:
        """Whether the worker stops, the reading was cancelled, or the document is gone."""
        if self._is_stopping():
            return True
        try:
            return self._workspace.store.reading_queue.lane(self._document_id) is None
        except errors.StoreError:  # the reading itself will fail on it
            return False


@contextlib.contextmanager
def system_errors() -> Iterator[None]:
    """Map MemoryError and OSError to our errors."""
    try:
        yield
    except MemoryError as error:
        raise errors.ReadingInterruptedError(
            N_("There was no memory left to go on with. Free some and try again.")
        ) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise errors.StoreError(
            N_("The system refused something: {error}. Make room on the disk, and try again."), error=reason
        ) from error


def _wait_for_other_process(document: types.Document, on_progress: types.OnProgress) -> None:
    """Report the progress of another process, and wait."""
    on_progress(document.status, document.progress.done, document.progress.total)
    time.sleep(POLL_SECONDS)

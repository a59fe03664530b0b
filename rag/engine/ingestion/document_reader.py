"""Read queued documents: first their text, then their vectors."""

import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence

from rag import errors, ingestion, types, vocabulary
from rag.engine import matrix_filling
from rag.engine.library.files import Attachments
from rag.engine.models import DEFAULT_AUTH, DEFAULT_PROVIDER_OPTIONS
from rag.engine.questions.overviews import Overviews
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.store.jobs.scheduling import MAX_ATTEMPTS

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
        """Read a queued document until it is ready or has failed; failures are recorded on it, not raised.

        With `again`, it is re-read from the beginning. Waits while another process reads it. Raises NotFoundError if
        there is no such document; with `again`, it is in the trash or gone.
        """
        documents = self._workspace.store.documents
        while again or documents.lane(document_id):
            with documents.lock(document_id) as claimed:
                if claimed and again:
                    documents.requeue(document_id)
                    again = False
                while claimed and (lane := documents.lane(document_id)):
                    self._run(document_id, lane, on_progress, max_chunks=max_chunks)
            if not claimed:  # report the progress of the other process, and wait
                document = documents.get(document_id)
                on_progress(document.status, document.progress.done, document.progress.total)
                time.sleep(POLL_SECONDS)
        return self._conclude(document_id)

    def step(self, document_id: uuid.UUID, lane: types.Lane, is_stopping: IsCancelled, attempts: int) -> None:
        """Do the work of one lane for a locked document; failures are recorded on it, not raised.

        Transient failures are retried later, until there were too many `attempts`, including this one. When
        `is_stopping` returns True, the document stays where it is.
        """
        self._run(document_id, lane, is_stopping=is_stopping, attempts=attempts)
        self._conclude(document_id)

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
                self._with_ingestion(document, lambda into: into.read_pictures(document))
            except errors.UnreadableFileError as error:
                logger.warning("the pictures of document %s stay unread: %s", document_id, error.code)
                self._workspace.store.documents.give_up_pictures(document_id)
        return documents.get(document_id)

    def index_blocks(self, document_id: uuid.UUID, blocks: Sequence[types.TextBlock]) -> types.Document:
        """Index a document from blocks that the caller parsed; a failure is recorded and raised."""
        document = self._workspace.store.documents.get(document_id)
        parsed = ingestion.from_blocks(document, blocks)
        with self._recorded_failures(document_id):
            self._with_ingestion(document, lambda into: into.index(document, parsed))
        return self._conclude(document_id)

    def give_up(self, document_id: uuid.UUID) -> None:
        """Record that reading the document ended its worker too often."""
        message = (
            "The worker that read it ended every time before it was done, most likely for want of memory. Split the "
            "file, or retry when the machine has more."
        )
        self._workspace.store.documents.fail(document_id, errors.UnreadableFileError.code, message)

    def _run(
        self,
        document_id: uuid.UUID,
        lane: types.Lane,
        on_progress: types.OnProgress = types.ignore_progress,
        *,
        max_chunks: int | None = None,
        is_stopping: IsCancelled = lambda: False,
        attempts: int | None = None,
    ) -> None:
        store = self._workspace.store
        document = store.documents.get(document_id)
        recorded: tuple[str, float] = ("", 0.0)

        def record(stage: str, done: int, total: int) -> None:
            nonlocal recorded
            now = time.monotonic()
            if stage != recorded[0] or done == total or now - recorded[1] > PROGRESS_SECONDS:
                store.documents.update_progress(document_id, types.DocumentStatus(stage), done, total)
                recorded = stage, now
            on_progress(stage, done, total)
            if is_stopping():
                raise errors.CancelledError

        def is_cancelled() -> bool:
            """Whether the worker stops, the reading was cancelled, or the document is gone."""
            try:
                return is_stopping() or store.documents.lane(document_id) is None
            except errors.StoreError:  # the reading itself will fail on it
                return False

        def work(into: "ingestion.Ingestion") -> None:
            if lane is types.Lane.EMBEDDING:
                into.embed(document_id, EMBED_BATCH)
                now = store.documents.get(document_id)
                on_progress(types.DocumentStatus.EMBEDDING, now.vector_count, now.chunk_count)
                return
            read = into.read_words if lane is types.Lane.READING else into.renew
            keep = Attachments(self._workspace).keep
            read(document, ingestion.Reading(record, lambda parts: keep(document, parts), is_cancelled, max_chunks))

        with contextlib.suppress(errors.Error), self._recorded_failures(document_id, is_stopping, attempts):
            self._with_ingestion(document, work)

    def _conclude(self, document_id: uuid.UUID) -> types.Document:
        """Refill the matrices of a document that is ready and choose its key facts; failures do not fail it."""
        document = self._workspace.store.documents.get(document_id)
        if document.status is types.DocumentStatus.READY:
            with contextlib.suppress(errors.Error):
                matrix_filling.follow(self._workspace, [document.id])
                matrix_filling.refill(self._workspace, lineage_id=document.lineage)
            with contextlib.suppress(errors.Error):  # they are chosen again where they are shown
                Overviews(self._workspace).facts(document)
        return document

    @contextlib.contextmanager
    def _recorded_failures(
        self, document_id: uuid.UUID, is_stopping: IsCancelled = lambda: False, attempts: int | None = None
    ) -> Iterator[None]:
        """Record errors on the document and raise them, unless this process is being stopped.

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
            logger.warning("document %s failed: %s", document_id, error.code)
            message = error.message
            if attempts and isinstance(error, TRANSIENT_ERRORS):
                if attempts < MAX_ATTEMPTS:
                    self._workspace.store.documents.postpone(document_id, error.code, message)
                    raise
                message = f"{message} It was tried {attempts} times."
            self._workspace.store.documents.fail(document_id, error.code, message)
            raise

    def _with_ingestion(self, document: types.Document, work: "Callable[[ingestion.Ingestion], None]") -> None:
        """Call `work` with the ingestion into the document's index, again if the index switched models meanwhile."""
        indexes = self._workspace.store.indexes
        index = indexes.get_by_id(document.index_id)
        try:
            work(self._ingestion(index))
        except errors.IndexError:
            switched = indexes.get_by_id(document.index_id)
            if switched.space == index.space:
                raise
            work(self._ingestion(switched))

    def _ingestion(self, index: types.Index) -> "ingestion.Ingestion":
        return ingestion.Ingestion(
            config=self._workspace.config,
            store=self._workspace.store,
            files=self._workspace.files,
            index=index,
            embedder=self._workspace.models.embedder(index.space, self._auth, self._options),
            node_parser=self._workspace.node_parser,
            landmarks=vocabulary.landmarks(),
        )


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

"""Reading a user's queued documents until they are searchable."""

import contextlib
import logging
import uuid
from collections.abc import Callable, Iterator, Sequence

from rag import errors, ingestion
from rag.engine.glossary import Glossary
from rag.engine.models import OWN_AUTH, OWN_OPTIONS
from rag.engine.parts import Parts
from rag.engine.workspace import Workspace
from rag.types import (
    UNFINISHED,
    Auth,
    Document,
    DocumentStatus,
    Index,
    OnProgress,
    ProviderOptions,
    TextBlock,
    ignore_progress,
)

logger = logging.getLogger(__name__)


class Reader:
    """Reads documents of one user, each into the index it is in."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def read(
        self,
        document_id: uuid.UUID,
        on_progress: OnProgress = ignore_progress,
        *,
        max_chunks: int | None = None,
        auth: Auth = OWN_AUTH,
        options: ProviderOptions = OWN_OPTIONS,
    ) -> Document:
        """Read a queued document until it is ready or has failed; a failure is recorded, not raised.

        Does nothing when another process is at it. `auth` and `options` are for the provider that embeds.
        """
        documents = self._workspace.store.documents
        with documents.claim(document_id) as claimed:
            document = documents.get(document_id)
            if not claimed or document.status not in UNFINISHED:
                return document
            with contextlib.suppress(errors.Error), self._failures(document_id):
                record = self._recorder(document_id, on_progress)
                self._in_its_space(
                    document,
                    lambda index: self._ingestion(index, auth, options).run(
                        document,
                        record,
                        max_chunks=max_chunks,
                        on_parts=lambda unpacked: Parts(self._workspace).keep(document, unpacked),
                    ),
                )
        return documents.get(document_id)

    def read_pictures(self, document_id: uuid.UUID) -> Document:
        """Add the words in the pictures of a document that is ready without them; meanwhile it is found as it is.

        Does nothing when there are none waiting, or another process is at it. Pictures that cannot be read are left.

        Raises:
            errors.ReadingInterruptedError: the system ended the reading; it can be tried again.
            errors.ProviderError, errors.StoreError: as for any reading.
        """
        documents = self._workspace.store.documents
        with documents.claim(document_id) as claimed:
            document = documents.get(document_id)
            if not claimed or not document.pictures_waiting or document.status is not DocumentStatus.READY:
                return document
            try:
                self._in_its_space(document, lambda index: self._ingestion(index).read_pictures(document))
            except errors.UnreadableFileError as error:
                logger.warning("the pictures of document %s stay unread: %s", document_id, error.code)
                documents.keep_pictures_unread(document_id)
        return documents.get(document_id)

    def index_blocks(self, document_id: uuid.UUID, blocks: Sequence[TextBlock]) -> Document:
        """Make a document searchable by blocks that the caller parsed; a failure is recorded, and raised."""
        document = self._workspace.store.documents.get(document_id)
        parsed = ingestion.from_blocks(document, blocks)
        record = self._recorder(document_id, ignore_progress)
        with self._failures(document_id):
            self._in_its_space(document, lambda index: self._ingestion(index).index(document, parsed, record))
        return self._workspace.store.documents.get(document_id)

    @contextlib.contextmanager
    def _failures(self, document_id: uuid.UUID) -> Iterator[None]:
        """What goes wrong is recorded on the document."""
        try:
            yield
        except errors.Error as error:
            logger.warning("document %s failed: %s", document_id, error.code)
            self._workspace.store.documents.fail(document_id, error.code, error.message)
            raise

    def _in_its_space(self, document: Document, work: Callable[[Index], None]) -> None:
        """Do `work` with the document's index, once more if this is meanwhile switched to another embedding model."""
        indexes = self._workspace.store.indexes
        index = indexes.get_by_id(document.index_id)
        try:
            work(index)
        except errors.IndexError:
            switched = indexes.get_by_id(document.index_id)
            if switched.space == index.space:
                raise
            work(switched)

    def _ingestion(
        self, index: Index, auth: Auth = OWN_AUTH, options: ProviderOptions = OWN_OPTIONS
    ) -> ingestion.Ingestion:
        return ingestion.Ingestion(
            config=self._workspace.config,
            store=self._workspace.store,
            files=self._workspace.files,
            index=index,
            embedder=self._workspace.models.embedder(index.space, auth, options),
            node_parser=self._workspace.node_parser,
            landmarks=Glossary(self._workspace).landmarks(),
        )

    def _recorder(self, document_id: uuid.UUID, on_progress: OnProgress) -> OnProgress:
        """Progress goes to the document's row, for every page and process to see, and to the caller."""

        def record(stage: str, done: int, total: int) -> None:
            self._workspace.store.documents.update_progress(document_id, DocumentStatus(stage), done, total)
            on_progress(stage, done, total)

        return record

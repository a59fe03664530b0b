"""A user's documents: taking files in, reading them, throwing them away and getting them back."""

import functools
import hashlib
import io
import logging
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import BinaryIO

from rag import errors, ingestion, parsing
from rag.engine.resources import OWN_AUTH, OWN_OPTIONS, Resources
from rag.types import UNFINISHED, Auth, Document, DocumentStatus, Index, OnProgress, ProviderOptions, TextBlock

logger = logging.getLogger(__name__)

FileContent = Path | bytes | BinaryIO


class Library:
    """One user's documents in all indexes."""

    def __init__(self, resources: Resources, user_id: str) -> None:
        self._resources = resources
        self._user_id = user_id

    # --- taking in ---

    def add(
        self,
        content: FileContent,
        name: str,
        index: Index,
        *,
        password: str | None = None,
        source: str | None = None,
        mime_type: str | None = None,
        follows_source: bool = False,
        in_trash: bool = False,
    ) -> Document:
        """Keep a file as a queued document; an encrypted one without its password waits for it.

        `mime_type` is what the document was where it comes from, if that is not what the file's content tells.

        Raises:
            errors.UnsupportedFileError: a kind of file that cannot be taken in.
            errors.DuplicateError: the same content is in the index; `details` name it.
            errors.PasswordError: the password is wrong.
        """
        with _as_file(content) as path:
            self._check_size(path, name)
            detected = parsing.detect_mime_type(path, name)
            status = DocumentStatus.QUEUED
            if parsing.needs_password(path) and password is None:
                status = DocumentStatus.NEEDS_PASSWORD
            document_id = uuid.uuid4()
            self._keep(document_id, path, password if status is DocumentStatus.QUEUED else None)
            try:
                return self._resources.store.documents.add(
                    self._user_id,
                    index.id,
                    document_id=document_id,
                    name=_display_name(name),
                    mime_type=mime_type or detected,
                    sha256=sha256_of(path),
                    size=path.stat().st_size,
                    source=source,
                    status=status,
                    follows_source=follows_source,
                    in_trash=in_trash,
                )
            except errors.Error:
                self._resources.files.delete(self._user_id, document_id)
                raise

    def add_once(
        self, content: FileContent, index: Index, key: str | None, add: Callable[[Path], Document]
    ) -> tuple[Document, bool]:
        """What `add` makes of a file, or the document that the same file became when it came under `key` before.

        Returns the document, and whether it is new.

        Raises:
            errors.ValidationError: another file came under this key.
        """
        documents = self._resources.store.documents
        with _as_file(content) as path:
            if key is None:
                return add(path), True
            try:
                known = documents.of_upload_key(self._user_id, key)
                document = known or add(path)
            except errors.DuplicateError:  # the same upload, sent twice at the same time
                known = documents.of_upload_key(self._user_id, key)
                if known is None:
                    raise
                document = known
            if known is None:
                documents.keep_upload_key(self._user_id, document.id, key)
            elif (known.index_id, known.sha256) != (index.id, sha256_of(path)):
                raise errors.ValidationError(
                    "The idempotency key was used for another file. Send this one under a new key.",
                    details={"field": "Idempotency-Key", "document_id": str(known.id)},
                )
            return document, known is None

    def _check_size(self, path: Path, name: str) -> None:
        limits = self._resources.config.rag_parsing
        size = path.stat().st_size
        if size == 0:
            raise errors.UnreadableFileError(f"{name} is empty. Check the file and upload it again.")
        if size > limits.max_file_bytes:
            raise errors.ValidationError(
                f"{name} has {size / 1024 / 1024:.0f} MB, more than the limit of {limits.max_file_mb} MB. "
                "Split it, or raise RAG_PARSING__MAX_FILE_MB."
            )

    def _keep(self, document_id: uuid.UUID, path: Path, password: str | None) -> None:
        """Store the original and, of an encrypted file, the decrypted rendition: the password itself is never kept."""
        if password is not None and parsing.needs_password(path):
            self._keep_decrypted(document_id, path, password)
        self._resources.files.put(self._user_id, document_id, "original", path)

    def _keep_decrypted(self, document_id: uuid.UUID, path: Path, password: str) -> None:
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            decrypted = Path(folder) / "decrypted.pdf"
            parsing.decrypt(path, decrypted, password)
            self._resources.files.put(self._user_id, document_id, "rendition", decrypted)

    def unlock(self, document_id: uuid.UUID, password: str) -> Document:
        """Open an encrypted document that waits for its password, and queue it.

        Raises:
            errors.PasswordError: the password is wrong.
        """
        original = self._resources.files.local_path(self._user_id, document_id, "original")
        self._keep_decrypted(document_id, original, password)
        return self._resources.store.documents.requeue(self._user_id, document_id)

    def retry(self, document_id: uuid.UUID) -> Document:
        """Queue a failed document again."""
        return self._resources.store.documents.requeue(self._user_id, document_id)

    # --- reading ---

    def process(
        self,
        document_id: uuid.UUID,
        on_progress: OnProgress | None = None,
        *,
        max_chunks: int | None = None,
        auth: Auth = OWN_AUTH,
        options: ProviderOptions = OWN_OPTIONS,
    ) -> Document:
        """Read a queued document until it is ready or has failed; a failure is recorded, not raised.

        Does nothing when another process is at it. `auth` and `options` are for the provider that embeds.
        """
        documents = self._resources.store.documents
        with documents.claim(self._user_id, document_id) as claimed:
            document = documents.get(self._user_id, document_id)
            if not claimed or document.status not in UNFINISHED:
                return document
            try:
                record = self._recorder(document_id, on_progress)
                ingest = functools.partial(self._ingestion, document, auth, options)
                self._in_its_space(document, lambda: ingest().run(document, record, max_chunks=max_chunks))
            except errors.Error as error:
                logger.warning("document %s failed: %s", document_id, error.code)
                documents.fail(self._user_id, document_id, error.code, error.message)
        return documents.get(self._user_id, document_id)

    def index_blocks(self, document_id: uuid.UUID, blocks: Sequence[TextBlock]) -> Document:
        """Make a document searchable by blocks that the caller parsed."""
        document = self._resources.store.documents.get(self._user_id, document_id)
        parsed = ingestion.from_blocks(document, blocks)
        record = self._recorder(document_id, None)
        self._in_its_space(document, lambda: self._ingestion(document).index(document, parsed, record))
        return self._resources.store.documents.get(self._user_id, document_id)

    def _in_its_space(self, document: Document, work: Callable[[], None]) -> None:
        """Do `work`, and once more if meanwhile the index has been switched to another embedding model."""
        indexes = self._resources.store.indexes
        before = indexes.get_by_id(self._user_id, document.index_id).space
        try:
            work()
        except errors.IndexError:
            if indexes.get_by_id(self._user_id, document.index_id).space == before:
                raise
            work()

    def _ingestion(
        self, document: Document, auth: Auth = OWN_AUTH, options: ProviderOptions = OWN_OPTIONS
    ) -> ingestion.Ingestion:
        index = self._resources.store.indexes.get_by_id(self._user_id, document.index_id)
        return ingestion.Ingestion(
            config=self._resources.config,
            store=self._resources.store,
            files=self._resources.files,
            index=index,
            embedder=self._resources.embedder(index.space, auth, options),
        )

    def _recorder(self, document_id: uuid.UUID, on_progress: OnProgress | None) -> OnProgress:
        """Progress goes to the document's row, for every page and process to see, and to the caller."""

        def record(stage: str, done: int, total: int) -> None:
            status = DocumentStatus(stage)
            self._resources.store.documents.update_progress(self._user_id, document_id, status, done, total)
            if on_progress:
                on_progress(stage, done, total)

        return record

    # --- throwing away ---

    def purge(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Remove documents in the trash for good, files included."""
        purged = self._resources.store.documents.purge(self._user_id, document_ids)
        for document_id in purged:
            self._resources.files.delete(self._user_id, document_id)
        return purged

    # --- files ---

    def original(self, document_id: uuid.UUID) -> Path:
        """The file as it was uploaded."""
        document = self._resources.store.documents.get(self._user_id, document_id)
        return self._resources.files.local_path(self._user_id, document.id, "original")

    def rendition(self, document_id: uuid.UUID) -> Path:
        """The PDF that is parsed, shown and highlighted."""
        document = self._resources.store.documents.get(self._user_id, document_id)
        return self._resources.files.local_path(self._user_id, document.id, "rendition")


@contextmanager
def _as_file(content: FileContent) -> Iterator[Path]:
    """`content` as a file on disk; what is not one already is spooled to a temporary file."""
    if isinstance(content, Path):
        if not content.is_file():
            raise errors.SourceError(f"There is no file {content}. Check the path.", details={"path": str(content)})
        yield content
        return
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        path = Path(folder) / "upload"
        stream = io.BytesIO(content) if isinstance(content, bytes) else content
        with path.open("wb") as target:
            shutil.copyfileobj(stream, target)
        yield path


def sha256_of(path: Path) -> str:
    """The file's SHA-256 in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _display_name(name: str) -> str:
    """The last part of a client's file name, without control characters."""
    last = PurePath(name.replace("\\", "/")).name
    return "".join(char for char in last if char.isprintable()).strip() or "unnamed"

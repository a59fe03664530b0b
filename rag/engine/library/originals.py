"""The files that documents are made of: kept as they came, opened by their password, removed for good."""

import contextlib
import hashlib
import io
import logging
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import BinaryIO

from rag import errors, parsing, tracing
from rag.engine.operations import disk_space
from rag.engine.workspace import Workspace
from rag.store import DiskUsage
from rag.types import CONTAINER_SEPARATOR, Document, DocumentStatus, Index, PurgeReceipt, shown_source

logger = logging.getLogger(__name__)

FileContent = Path | bytes | BinaryIO


class Originals:
    """One user's files as they came."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def keep(
        self,
        content: FileContent,
        name: str,
        index: Index,
        *,
        password: str | None = None,
        source: str | None = None,
        source_path: str | None = None,
        mime_type: str | None = None,
        sha256: str | None = None,
        follows_source: bool = False,
        in_trash: bool = False,
        replaces: uuid.UUID | None = None,
        document_id: uuid.UUID | None = None,
        container: Document | None = None,
        upload_key: str | None = None,
    ) -> Document:
        """Keep a file as a document to be read; an encrypted one without its password waits for it.

        `source_path` leads to the file from the folder it comes with; `mime_type` is what the document was there, if
        that is not what the file's content tells; `sha256` is the content's, where it is known already. One that
        `follows_source` may have the content of another; one `in_trash` waits to take an older one's place; `replaces`
        names the document that it is a new version of. A part has the `document_id` that it always has in its
        `container`. A document that has the content and lost its file gets this one, and is read again where it failed.

        Raises:
            errors.UnsupportedFileError: a kind of file that cannot be taken in.
            errors.DuplicateError: the same content is in the index; `details` name it.
            errors.PasswordError: the password is wrong.
            errors.QuotaError: the user has no room for it; `details` have `size`, `used_bytes` and `quota_bytes`.
            errors.DiskFullError: too little room is left for it.
        """
        with as_file(content) as path:
            self._check_size(path, name)
            detected = parsing.detect_mime_type(path, name)
            is_locked = parsing.needs_password(path)
            waits = is_locked and password is None
            document_id = document_id or uuid.uuid4()
            try:
                with self._drafted(document_id):
                    self._put(document_id, path, password, display_name(name))
                    return self._workspace.store.documents.add(
                        index.id,
                        document_id=document_id,
                        name=display_name(name),
                        mime_type=mime_type or detected,
                        sha256=sha256 or sha256_of(path),
                        size=path.stat().st_size,
                        source=source,
                        shown_source=_shown(source, source_path or name, container),
                        status=DocumentStatus.NEEDS_PASSWORD if waits else DocumentStatus.QUEUED,
                        follows_source=follows_source,
                        in_trash=in_trash,
                        replaces=replaces,
                        container_id=container.id if container else None,
                        upload_key=upload_key,
                        drafted=True,
                        quota_bytes=self._workspace.config.quota_bytes,
                    )
            except errors.DuplicateError as error:
                mended = self._mended(error, path, password)
                if mended is None:
                    raise
                return mended
            except errors.Error as error:
                return self._saved_after_all(document_id, error)

    def _put(self, document_id: uuid.UUID, path: Path, password: str | None, name: str) -> None:
        if password is not None and parsing.needs_password(path):
            with _decrypted(path, password, name) as decrypted:
                self._workspace.files.put(document_id, "rendition", decrypted)
        with tracing.span("store", document=document_id, bytes=path.stat().st_size):
            self._workspace.files.put(document_id, "original", path)

    def _saved_after_all(self, document_id: uuid.UUID, error: errors.Error) -> Document:
        """The new document, if the database lost the connection before it could tell that it was saved.

        Until that is known its files stay: a row without them would stand in the way of its own upload.
        """
        if not error.details.get("uncertain"):
            raise error
        try:
            return self._workspace.store.documents.get(document_id)
        except (errors.NotFoundError, errors.StoreError):
            raise error from None

    def _mended(self, error: errors.DuplicateError, path: Path, password: str | None) -> Document | None:
        """The document that has the content already, if it lacked its file; None if it is a duplicate indeed."""
        present = error.details.get("document_id")
        if not isinstance(present, uuid.UUID) or self._workspace.files.exists(present, "original"):
            return None
        is_older = "version" in error.details
        if not is_older:
            self._workspace.store.documents.restore([present])
        self.mend(present, path, password)
        return None if is_older else self._workspace.store.documents.get(present)

    def mend(self, document_id: uuid.UUID, path: Path, password: str | None = None) -> bool:
        """Give a document its file again, if it lacks it, and let it be read; whether that was so."""
        if self._workspace.files.exists(document_id, "original"):
            return False
        document = self._workspace.store.documents.get(document_id)
        self._put(document_id, path, password, document.name)
        is_locked = document.status is DocumentStatus.NEEDS_PASSWORD and password is None
        if document.status is not DocumentStatus.READY and not is_locked and document.deleted_at is None:
            self._workspace.store.reading_queue.resume(document_id)
        return True

    def unlock(self, document_id: uuid.UUID, password: str) -> None:
        """Open an encrypted document that waits for its password.

        Raises:
            errors.PasswordError: the password is wrong.
        """
        original = self._workspace.files.local_path(document_id, "original")
        name = self._workspace.store.documents.get(document_id).name
        with _decrypted(original, password, name) as decrypted:
            self._workspace.store.put_rendition(self._workspace.files, document_id, decrypted)

    def purge(self, document_ids: Sequence[uuid.UUID]) -> PurgeReceipt:
        """Remove documents in the trash for good with their versions and files; tells what is gone.

        The files go after the rows; what keeps them from it is no error: a worker goes on with them.
        """
        receipt = self._workspace.store.documents.purge(document_ids)
        before = self._content(receipt.document_ids)
        unfinished = sum(not self._clear(document_id) for document_id in receipt.document_ids)
        after = self._content(receipt.document_ids)
        files, size = before.files - after.files, before.bytes - after.bytes
        return receipt.model_copy(update={"files": files, "bytes": size, "unfinished": unfinished})

    def _content(self, document_ids: Sequence[uuid.UUID]) -> DiskUsage:
        """All files there are of documents; those of a storage that fails do not count."""
        found = [DiskUsage(0, 0)]
        for document_id in document_ids:
            with contextlib.suppress(errors.StoreError):
                found.append(self._workspace.files.disk_usage(document_id))
        return DiskUsage(sum(one.files for one in found), sum(one.bytes for one in found))

    @contextmanager
    def _drafted(self, document_id: uuid.UUID) -> Iterator[None]:
        """Files are put, and the row that owns them comes at the end of the block; if it does not, they are deleted.

        Also when nobody knows whether it came, because the connection was lost: then it is looked for.
        """
        self._workspace.store.pending_deletions.draft(document_id)
        try:
            yield
        except BaseException:
            self._clear(document_id)
            raise

    def _clear(self, document_id: uuid.UUID) -> bool:
        """Delete the files of a document that is not there; what fails (False) is left to a worker."""
        try:
            with self._workspace.store.pending_deletions.taking(document_id) as is_unowned:
                if is_unowned:
                    self._workspace.files.delete(document_id)
        except errors.StoreError as error:
            logger.warning("files of document %s are still to be deleted: %s", document_id, error)
            return False
        return True

    def _check_size(self, path: Path, name: str) -> None:
        limits = self._workspace.config.rag_parsing
        size = path.stat().st_size
        if size == 0:
            raise errors.UnreadableFileError(f"{name} is empty. Check the file and upload it again.")
        if size > limits.max_file_bytes:
            raise errors.ValidationError(
                f"{name} has {size / 1024 / 1024:.0f} MB, more than the limit of {limits.max_file_mb} MB. "
                "Split it, or raise RAG_PARSING__MAX_FILE_MB."
            )
        disk_space.require_room(self._workspace.config, size)


@contextmanager
def _decrypted(path: Path, password: str, name: str) -> Iterator[Path]:
    """The file called `name` as it is without its password, while the block runs. Raises PasswordError."""
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        decrypted = Path(folder) / "decrypted.pdf"
        parsing.decrypt(path, decrypted, password, name=name)
        yield decrypted


@contextmanager
def as_file(content: FileContent) -> Iterator[Path]:
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


def _shown(source: str | None, path: str, container: Document | None) -> str | None:
    if container:
        return f"{container.shown_source or container.name}{CONTAINER_SEPARATOR}{path}"
    return shown_source(source, path) if source else None


def display_name(name: str) -> str:
    """The last part of a client's file name, without control characters."""
    last = PurePath(name.replace("\\", "/")).name
    return "".join(char for char in last if char.isprintable()).strip() or "unnamed"

"""The files that documents are made of: kept as they came, opened by their password, removed for good."""

import hashlib
import io
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import BinaryIO

from rag import errors, parsing, tracing
from rag.engine import disk
from rag.engine.workspace import Workspace
from rag.types import INSIDE, Document, DocumentStatus, Index, shown_source

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
    ) -> Document:
        """Keep a file as a document to be read; an encrypted one without its password waits for it.

        `source_path` leads to the file from the folder it comes with; `mime_type` is what the document was there, if
        that is not what the file's content tells; `sha256` is the content's, where it is known already. One that
        `follows_source` may have the content of another; one `in_trash` waits to take an older one's place; `replaces`
        names the document that it is a new version of. A part has the `document_id` that it always has in its
        `container`.

        Raises:
            errors.UnsupportedFileError: a kind of file that cannot be taken in.
            errors.DuplicateError: the same content is in the index; `details` name it.
            errors.PasswordError: the password is wrong.
            errors.DiskFullError: too little room is left for it.
        """
        with as_file(content) as path:
            self._check_size(path, name)
            detected = parsing.detect_mime_type(path, name)
            is_locked = parsing.needs_password(path)
            document_id = document_id or uuid.uuid4()
            if is_locked and password is not None:
                self._keep_decrypted(document_id, path, password)
            with tracing.span("store", document=document_id, bytes=path.stat().st_size):
                self._workspace.files.put(document_id, "original", path)
            try:
                return self._workspace.store.documents.add(
                    index.id,
                    document_id=document_id,
                    name=display_name(name),
                    mime_type=mime_type or detected,
                    sha256=sha256 or sha256_of(path),
                    size=path.stat().st_size,
                    source=source,
                    shown_source=_shown(source, source_path or name, container),
                    status=DocumentStatus.NEEDS_PASSWORD if is_locked and password is None else DocumentStatus.QUEUED,
                    follows_source=follows_source,
                    in_trash=in_trash,
                    replaces=replaces,
                    container_id=container.id if container else None,
                )
            except errors.Error:
                self._workspace.files.delete(document_id)
                raise

    def unlock(self, document_id: uuid.UUID, password: str) -> None:
        """Open an encrypted document that waits for its password.

        Raises:
            errors.PasswordError: the password is wrong.
        """
        original = self._workspace.files.local_path(document_id, "original")
        self._keep_decrypted(document_id, original, password)

    def purge(self, document_ids: Sequence[uuid.UUID]) -> Sequence[uuid.UUID]:
        """Remove documents in the trash for good with their versions and files; returns those that were touched."""
        purged = self._workspace.store.documents.purge(document_ids)
        for document_id in purged:
            self._workspace.files.delete(document_id)
        return purged

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
        disk.require_room(self._workspace.config, size)

    def _keep_decrypted(self, document_id: uuid.UUID, path: Path, password: str) -> None:
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            decrypted = Path(folder) / "decrypted.pdf"
            parsing.decrypt(path, decrypted, password)
            self._workspace.files.put(document_id, "rendition", decrypted)


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
        return f"{container.shown_source or container.name}{INSIDE}{path}"
    return shown_source(source, path) if source else None


def display_name(name: str) -> str:
    """The last part of a client's file name, without control characters."""
    last = PurePath(name.replace("\\", "/")).name
    return "".join(char for char in last if char.isprintable()).strip() or "unnamed"

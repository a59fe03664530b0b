"""The files of documents: originals, decrypted copies, downloads, and safe names."""

import builtins
import contextlib
import hashlib
import io
import logging
import re
import shutil
import tempfile
import time
import unicodedata
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import BinaryIO, cast

from rag import errors, parsing, tracing, types
from rag.engine.operations import status
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.store.files.file_storage import DiskUsage
from rag.store.users.audit_log import Subject

logger = logging.getLogger(__name__)

FileContent = Path | bytes | BinaryIO

NAME_LIMIT_BYTES = 200
"""File systems allow 255 bytes; the rest is for numbers that make names unique."""
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names of devices on Windows, with any extension."""


def display_name(name: str) -> str:
    """Return the last part of a given file name, without characters that cannot be seen.

    Letters with accents are single characters, as typed; macOS writes two, so that the name would be another.
    """
    last = PurePath(unicodedata.normalize("NFC", name).replace("\\", "/")).name
    visible = "".join(char for char in last if char.isprintable()).strip()
    return visible if visible.strip(".") else "unnamed"


def unique_names(names: Sequence[str]) -> list[str]:
    """Return a file name for each of `names`, safe on every file system and unique ignoring case."""
    numbers: dict[str, int] = {}  # the last number of each name
    unique = []
    for name in map(safe_name, names):
        stem, suffix = _parts(name)
        candidate = name
        while (key := _case_folded(candidate)) in numbers:
            numbers[_case_folded(name)] += 1
            candidate = f"{stem} ({numbers[_case_folded(name)]}){suffix}"
        numbers[key] = 1
        unique.append(candidate)
    return unique


def _case_folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def safe_name(name: str) -> str:
    """Return the last part of `name` as a valid file name without any path."""
    last = PurePath(name.replace("\\", "/")).name
    printable = "".join(char if char.isprintable() and char not in '<>:"|?*' else "_" for char in last)
    cleaned = unicodedata.normalize("NFC", printable).strip(" .") or "unnamed"
    if RESERVED.fullmatch(cleaned):
        cleaned = f"_{cleaned}"
    stem, suffix = _parts(cleaned)
    room = NAME_LIMIT_BYTES - len(suffix.encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip(" .") + suffix


def _parts(name: str) -> tuple[str, str]:
    """Return stem and extension; an overlong extension is none."""
    path = PurePath(name)
    return (path.stem, path.suffix) if len(path.suffix) <= 10 else (name, "")


class Originals:
    """One user's original files."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def keep(
        self,
        content: FileContent,
        name: str,
        index: types.Index,
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
        container: types.Document | None = None,
        upload_key: str | None = None,
    ) -> types.Document:
        """Store a file as a new document; an encrypted one without a password waits for it.

        `source_path` is the path within a synced folder; `mime_type` overrides the detected type; `sha256` is the known
        hash. With `follows_source` duplicate content is allowed; with `in_trash` it waits to replace an older document;
        `replaces` is the document that it is a new version of. An attachment has a fixed `document_id` in its
        `container`. If a document has the same content but lost its file, it gets this one.

        Raises:
            errors.UnsupportedFileError: the file type is not supported.
            errors.DuplicateError: the same content is in the index; `details` name it.
            errors.PasswordError: the password is wrong.
            errors.QuotaError: the quota is used up; `details` have `size`, `used_bytes` and `quota_bytes`.
            errors.DiskFullError: too little disk space is left.
        """
        with as_file(content) as path:
            self._check_size(path, name)
            detected = parsing.detect_mime_type(path, name)
            is_locked = parsing.needs_password(path)
            waits = is_locked and password is None
            document_id = document_id or uuid.uuid4()
            label = types.shown_source(source, source_path or name) if source else None
            if container:
                outer = container.shown_source or container.name
                label = f"{outer}{types.CONTAINER_SEPARATOR}{source_path or name}"
            try:
                with self._draft(document_id):
                    self._put(document_id, path, password, display_name(name))
                    return self._workspace.store.documents.add(
                        index.id,
                        document_id=document_id,
                        name=display_name(name),
                        mime_type=mime_type or detected,
                        sha256=sha256 or sha256_of(path),
                        size=path.stat().st_size,
                        source=source,
                        shown_source=label,
                        status=types.DocumentStatus.NEEDS_PASSWORD if waits else types.DocumentStatus.QUEUED,
                        follows_source=follows_source,
                        in_trash=in_trash,
                        replaces=replaces,
                        container_id=container.id if container else None,
                        upload_key=upload_key,
                        drafted=True,
                        quota_bytes=self._workspace.config.quota_bytes,
                    )
            except errors.DuplicateError as error:
                restored = self._with_restored_file(error, path, password)
                if restored is None:
                    raise
                return restored
            except errors.Error as error:
                if not error.details.get("uncertain"):
                    raise
                # The connection broke before the database said whether the row was saved. Until that is known the
                # files are kept: a row without files would block uploading it again.
                try:
                    return self._workspace.store.documents.get(document_id)
                except (errors.NotFoundError, errors.StoreError):
                    raise error from None

    def _put(self, document_id: uuid.UUID, path: Path, password: str | None, name: str) -> None:
        if password is not None and parsing.needs_password(path):
            with _decrypted(path, password, name) as decrypted:
                self._workspace.files.put(document_id, "rendition", decrypted)
        with tracing.span("store", document=document_id, bytes=path.stat().st_size):
            self._workspace.files.put(document_id, "original", path)

    def _with_restored_file(
        self, error: errors.DuplicateError, path: Path, password: str | None
    ) -> types.Document | None:
        """Return the document with the same content if its missing file is restored; None for a true duplicate."""
        present = error.details.get("document_id")
        if not isinstance(present, uuid.UUID) or self._workspace.files.exists(present, "original"):
            return None
        is_older = "version" in error.details
        if not is_older:
            self._workspace.store.documents.restore([present])
        self.restore_file(present, path, password)
        return None if is_older else self._workspace.store.documents.get(present)

    def restore_file(self, document_id: uuid.UUID, path: Path, password: str | None = None) -> bool:
        """Restore a document's missing file and let it be read. Returns whether it was missing."""
        if self._workspace.files.exists(document_id, "original"):
            return False
        document = self._workspace.store.documents.get(document_id)
        self._put(document_id, path, password, document.name)
        is_locked = document.status is types.DocumentStatus.NEEDS_PASSWORD and password is None
        if document.status is not types.DocumentStatus.READY and not is_locked and document.deleted_at is None:
            self._workspace.store.documents.resume(document_id)
        return True

    def unlock(self, document_id: uuid.UUID, password: str) -> None:
        """Decrypt a document that waits for its password. Raises PasswordError if the password is wrong."""
        original = self._workspace.files.local_path(document_id, "original")
        name = self._workspace.store.documents.get(document_id).name
        with _decrypted(original, password, name) as decrypted:
            self._workspace.store.put_rendition(self._workspace.files, document_id, decrypted)

    def purge(self, document_ids: Sequence[uuid.UUID]) -> types.PurgeReceipt:
        """Delete documents in the trash with their versions and files. Returns what was deleted.

        Files are deleted after the rows; if that fails, a worker retries.
        """
        receipt = self._workspace.store.documents.purge(document_ids)
        before = self._file_totals(receipt.document_ids)
        unfinished = sum(not self._delete_files(document_id) for document_id in receipt.document_ids)
        after = self._file_totals(receipt.document_ids)
        files, size = before.files - after.files, before.bytes - after.bytes
        return receipt.model_copy(update={"files": files, "bytes": size, "unfinished": unfinished})

    def _file_totals(self, document_ids: Sequence[uuid.UUID]) -> DiskUsage:
        files = size = 0
        for document_id in document_ids:
            with contextlib.suppress(errors.StoreError):
                usage = self._workspace.files.disk_usage(document_id)
                files, size = files + usage.files, size + usage.bytes
        return DiskUsage(files, size)

    @contextlib.contextmanager
    def _draft(self, document_id: uuid.UUID) -> Iterator[None]:
        """Delete the files if the block fails before their row is saved, or that is unknown after a lost connection."""
        self._workspace.store.pending_deletions.draft(document_id)
        try:
            yield
        except BaseException:
            self._delete_files(document_id)
            raise

    def _delete_files(self, document_id: uuid.UUID) -> bool:
        """Delete the files of a document without a row; on failure returns False, and a worker retries."""
        try:
            self._workspace.store.pending_deletions.delete_files(self._workspace.files, document_id)
        except errors.StoreError as error:
            logger.warning("files of document %s are still to be deleted: %s", document_id, error)
            return False
        return True

    def _check_size(self, path: Path, name: str) -> None:
        limits = self._workspace.config.rag_parsing
        size = path.stat().st_size
        if size == 0:
            raise errors.UnreadableFileError(N_("{name} is empty. Check the file and upload it again."), name=name)
        if size > limits.max_file_bytes:
            raise errors.ValidationError(
                N_(
                    "{name} has {size} MB, more than the limit of {limit} MB. Split it, or raise "
                    "RAG_PARSING__MAX_FILE_MB."
                ),
                name=name,
                size=f"{size / 1024 / 1024:.0f}",
                limit=limits.max_file_mb,
            )
        status.require_free_space(self._workspace.config, size)


@contextlib.contextmanager
def _decrypted(path: Path, password: str, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        decrypted = Path(folder) / "decrypted.pdf"
        parsing.decrypt(path, decrypted, password, name=name)
        yield decrypted


@contextlib.contextmanager
def as_file(content: FileContent) -> Iterator[Path]:
    """Provide `content` as a file on disk, in a temporary one if needed."""
    if isinstance(content, Path):
        if not content.is_file():
            raise errors.SourceError(
                N_("There is no file {path}. Check the path."), path=content, details={"path": str(content)}
            )
        yield content
        return
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        path = Path(folder) / "upload"
        stream = io.BytesIO(content) if isinstance(content, bytes) else content
        with path.open("wb") as target:
            shutil.copyfileobj(stream, target)
        yield path


def sha256_of(path: Path) -> str:
    """Return the file's SHA-256 as a hexadecimal string."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Files:
    """The files of one user's documents."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def original(self, document_id: uuid.UUID) -> Path:
        """Return the path of the uploaded file."""
        return self._workspace.files.local_path(document_id, "original")

    def download(self, document_id: uuid.UUID) -> bytes:
        """Return the uploaded file for download, which is recorded in the audit log. Raises as `archive`."""
        content = self.original(document_id).read_bytes()
        self._audit([self._workspace.store.documents.get(document_id)])
        return content

    def rendition(self, document_id: uuid.UUID) -> Path:
        """Return the path of the PDF that is parsed, shown and highlighted."""
        return self._workspace.files.local_path(document_id, "rendition")

    def archive(self, document_ids: Sequence[uuid.UUID]) -> BinaryIO:
        """Return the originals of documents as an open ZIP file, recorded in the audit log.

        Raises NotFoundError if a document or its file is missing.
        """
        documents = [self._workspace.store.documents.get(document_id) for document_id in document_ids]
        packed = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for document, name in zip(documents, unique_names([document.name for document in documents]), strict=True):
                archive.write(self.original(document.id), name)
        packed.seek(0)
        self._audit(documents)
        return packed

    def _audit(self, documents: Sequence[types.Document]) -> None:
        subjects = [Subject("document", str(document.id), document.name) for document in documents]
        self._workspace.store.audit.add("export", *subjects, owner=self._workspace.user_id, format="original")


DELETED_REASON = N_("it was deleted for good")
LOCK_RETRY_SECONDS = 0.1


class Attachments:
    """One user's documents that came from mails, archives and PDFs."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._originals = Originals(workspace)

    def of(self, *container_ids: uuid.UUID) -> builtins.list[types.Document]:
        """Return the attachments of containers, recursively, including those in the trash."""
        if not container_ids:
            return []
        parts = self._workspace.store.attachments.of(*container_ids)
        return [*parts, *self.of(*(part.id for part in parts))]

    def unread(self, container_id: uuid.UUID) -> builtins.list[types.Document]:
        """Return the direct attachments of a container that wait to be read."""
        return [part for part in self._workspace.store.attachments.of(container_id) if part.status in types.UNFINISHED]

    def keep(self, container: types.Document, unpacked: Sequence[types.UnpackedPart]) -> None:
        """Add the files from `container` as documents, each once however often this is read, and queue them.

        Files that are in the index already, or were deleted, are not added again. The container records what became of
        each.
        """
        if not unpacked and not container.parts:
            return
        earlier = {part.document_id for part in container.parts}
        added: builtins.list[uuid.UUID] = []
        with self._container_lock(container.id):
            room = _RemainingLimits(
                self._workspace.config.rag_parsing, self._workspace.store.attachments.unpacked(container.id)
            )
            parts = [self._add(container, part, earlier, room, added) for part in unpacked]
        self._workspace.store.attachments.set_parts(container.id, parts)
        self._workspace.store.attachments.match_trash_state(container.id, added)
        for document_id in added:
            self._workspace.enqueue(document_id)
        logger.info("document %s: %d of %d parts are new", container.id, len(added), len(parts))

    @contextlib.contextmanager
    def _container_lock(self, container_id: uuid.UUID) -> Iterator[None]:
        """Lock the outermost container: its parts share its limits, though several are read at once."""
        shared = uuid.uuid5(self._workspace.store.attachments.outermost(container_id), "parts")
        while True:
            with self._workspace.store.documents.lock(shared) as claimed:
                if claimed:
                    yield
                    return
            time.sleep(LOCK_RETRY_SECONDS)

    def _add(
        self,
        container: types.Document,
        part: types.UnpackedPart,
        earlier: set[uuid.UUID | None],
        room: "_RemainingLimits",
        added: builtins.list[uuid.UUID],
    ) -> types.Part:
        """Return what became of a part; a new document is appended to `added`."""
        outcome = types.Part(name=part.name, size=part.size, reason=part.reason)
        if part.file is None:
            return outcome
        sha256 = sha256_of(part.file)
        # Deterministic, so that reading the container again, also concurrently, finds the document.
        document_id = uuid.uuid5(container.id, f"{part.name}\n{sha256}")
        with contextlib.suppress(errors.NotFoundError):
            self._workspace.store.documents.get(document_id)
            return outcome.model_copy(update={"document_id": document_id})
        if reason := DELETED_REASON if document_id in earlier else room.refuse(part.size):
            return outcome.model_copy(update={"reason": reason})
        try:
            document = self._originals.keep(
                part.file,
                part.name,
                self._workspace.store.indexes.get_by_id(container.index_id),
                # Unique in each version of a mail, so that it is not lost with an older one.
                source=f"{container.source}::{container.id}/{part.name}" if container.source else None,
                source_path=part.name,
                sha256=sha256,
                document_id=document_id,
                container=container,
            )
        except errors.DuplicateError as error:
            name = error.details["name"]
            if error.details["in_trash"]:
                reason = N_("its content is in the trash, as {present}").format(present=name)
                return outcome.model_copy(update={"reason": reason})
            reason = N_("its content was in the index already, as {present}").format(present=name)
            return outcome.model_copy(update={"document_id": error.details["document_id"], "reason": reason})
        except (errors.SourceError, errors.ValidationError) as error:
            return outcome.model_copy(update={"reason": error.message})
        if document.status in types.UNFINISHED:
            added.append(document_id)
        return outcome.model_copy(update={"document_id": document_id})


class _RemainingLimits:
    """The remaining limits of a container, including what other processes took out of it."""

    def __init__(self, limits: types.ParsingConfig, unpacked: types.Unpacked) -> None:
        self._limits = limits
        self._files = unpacked.files
        self._bytes = unpacked.size

    def refuse(self, size: int) -> str | None:
        """Count a file of this size; returns the reason if it exceeds a limit."""
        if self._files >= self._limits.max_parts:
            return N_("more than {limit} files").format(limit=f"{self._limits.max_parts:,}")
        if self._bytes + size > self._limits.max_parts_mb * 1024 * 1024:
            return N_("more than {limit} MB unpacked").format(limit=f"{self._limits.max_parts_mb:,}")
        self._files += 1
        self._bytes += size
        return None

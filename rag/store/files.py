"""Originals and renditions of documents, in any file system that fsspec knows; a local folder by default."""

import hashlib
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from rag import errors

Kind = Literal["original", "rendition"]
KINDS: tuple[Kind, ...] = ("original", "rendition")


class FileStore:
    """The files of all users. `storage_url` is an fsspec URL; `cache_dir` takes copies of remote files."""

    def __init__(self, storage_url: str, cache_dir: Path) -> None:
        with _file_errors():
            self._files, self._root = fsspec.core.url_to_fs(storage_url)
        self._cache_dir = cache_dir

    def of(self, user_id: str) -> "UserFiles":
        """One user's files."""
        own = folder_name(user_id)
        return UserFiles(self._files, f"{self._root.rstrip('/')}/{own}", self._cache_dir / own)


class UserFiles:
    """One user's files by document and kind, below the folder `root` of a file system."""

    def __init__(self, files: Any, root: str, cache_dir: Path) -> None:
        self._files = files
        self._root = root
        self._cache_dir = cache_dir

    def put(self, document_id: uuid.UUID, kind: Kind, path: Path) -> None:
        """Keep a copy of the file at `path`; it is there as a whole or not at all.

        Raises:
            errors.StoreError: it cannot be written.
        """
        target = self._path(document_id, kind)
        with _file_errors():
            if self._is_local:
                _copy_atomically(path, Path(target))
            else:
                self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
                self._files.put_file(str(path), target)  # object stores show an object when it is complete
        if not self._is_local:
            self._cached(document_id, kind).unlink(missing_ok=True)

    def local_path(self, document_id: uuid.UUID, kind: Kind) -> Path:
        """The file as a path on this machine, fetched into the cache if it is not. Only to be read.

        Raises:
            errors.NotFoundError: there is no such file.
        """
        source = self._path(document_id, kind)
        if self._is_local:
            if not Path(source).is_file():
                raise _missing(document_id, kind)
            return Path(source)
        cached = self._cached(document_id, kind)
        with _file_errors(document_id, kind):
            if not cached.is_file() or cached.stat().st_size != self._files.size(source):
                with _replacing(cached) as partial:
                    self._files.get_file(source, str(partial))
        return cached

    def open(self, document_id: uuid.UUID, kind: Kind) -> BinaryIO:
        """The file for reading, wherever it is. Raises NotFoundError."""
        with _file_errors(document_id, kind):
            return cast(BinaryIO, self._files.open(self._path(document_id, kind), "rb"))

    def exists(self, document_id: uuid.UUID, kind: Kind) -> bool:
        """Whether there is such a file."""
        with _file_errors():
            return bool(self._files.exists(self._path(document_id, kind)))

    def delete(self, document_id: uuid.UUID) -> None:
        """Remove all files of a document; none is no error."""
        folder = self._folder(document_id)
        with _file_errors():
            if self._files.exists(folder):
                self._files.rm(folder, recursive=True)
        shutil.rmtree(self._cached(document_id, "original").parent, ignore_errors=True)

    def sizes(self, document_id: uuid.UUID) -> dict[Kind, int]:
        """Bytes of each file of a document that is there."""
        with _file_errors():
            paths = {kind: self._path(document_id, kind) for kind in KINDS}
            return {kind: int(self._files.size(path)) for kind, path in paths.items() if self._files.exists(path)}

    @property
    def _is_local(self) -> bool:
        return isinstance(self._files, LocalFileSystem)

    def _folder(self, document_id: uuid.UUID) -> str:
        return f"{self._root}/{uuid.UUID(str(document_id))}"

    def _path(self, document_id: uuid.UUID, kind: Kind) -> str:
        if kind not in KINDS:
            raise errors.StoreError(f"There is no kind of file {kind!r}. Use one of {', '.join(KINDS)}.")
        return f"{self._folder(document_id)}/{kind}"

    def _cached(self, document_id: uuid.UUID, kind: Kind) -> Path:
        return self._cache_dir / str(document_id) / kind


def folder_name(user_id: str) -> str:
    """A folder's name that no other user has, on file systems that ignore case too, and that leads nowhere else.

    Readable letters of the id for people, a hash for uniqueness.
    """
    readable = re.sub(r"[^A-Za-z0-9]+", "_", user_id)
    digest = hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable[:40]}-{digest[:32]}"


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """A temporary file beside `target` that takes its place when the block succeeds."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    os.close(descriptor)
    partial = Path(name)
    try:
        yield partial
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _copy_atomically(source: Path, target: Path) -> None:
    with _replacing(target) as partial:
        shutil.copyfile(source, partial)
        with partial.open("rb+") as file:
            os.fsync(file.fileno())


@contextmanager
def _file_errors(document_id: uuid.UUID | None = None, kind: str = "file") -> Iterator[None]:
    """Errors of file systems and of fsspec's drivers come out as ours."""
    try:
        yield
    except FileNotFoundError as error:
        if document_id is None:
            raise errors.StoreError(f"A file cannot be kept: {error.strerror or error}. Check the storage.") from error
        raise _missing(document_id, kind) from error
    except (OSError, ValueError, ImportError) as error:
        raise errors.StoreError(
            f"The file storage fails ({type(error).__name__}). Check RAG_STORAGE_URL, the rights and the free space."
        ) from error


def _missing(document_id: uuid.UUID, kind: str) -> errors.NotFoundError:
    return errors.NotFoundError(f"The {kind} of document {document_id} is not there. Upload the file again.")

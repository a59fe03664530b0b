"""Originals and renditions of documents, in any file system that fsspec knows; a local folder by default."""

import datetime as dt
import errno
import functools
import hashlib
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from rag import errors
from rag.store.files import durable_files

Kind = Literal["original", "rendition"]
KINDS: tuple[Kind, ...] = ("original", "rendition")


OWNER = re.compile(r"\w{0,40}-[0-9a-f]{32}", re.ASCII)
"""What `folder_name` gives; everything else in a storage is none of ours."""


TELLING = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "updated", "mtime", "created", "size")
"""By which file systems tell one content of a file from another."""


class DocumentFolder(NamedTuple):
    """Where a document's files are: the folder name of the user, and the document."""

    owner: str
    document_id: uuid.UUID


class DiskUsage(NamedTuple):
    """How many files, and their bytes."""

    files: int
    bytes: int


class FileStore:
    """The files of all users. `storage_url` is an fsspec URL; `cache_dir` takes copies of remote files."""

    def __init__(self, storage_url: str, cache_dir: Path) -> None:
        with _file_errors():
            # What a file system remembers of its folders, other machines may have changed.
            self._files, root = fsspec.core.url_to_fs(storage_url, use_listings_cache=False)
        self._root = root.rstrip("/")
        self.cache_dir = cache_dir

    @property
    def local_root(self) -> Path | None:
        """The folder of a storage on this machine."""
        return Path(self._root) if isinstance(self._files, LocalFileSystem) else None

    def of(self, user_id: str) -> "UserFiles":
        """One user's files."""
        return self.in_folder(folder_name(user_id))

    def in_folder(self, owner: str) -> "UserFiles":
        """The files of the user whose folder has this name."""
        return UserFiles(self._files, f"{self._root}/{owner}", self.cache_dir / owner)

    def folders(self) -> list[DocumentFolder]:
        """Where there are files of documents, or folders for them. Raises StoreError."""
        with _file_errors():
            self._files.invalidate_cache()  # other machines put and delete, too
            owners = [name for name in self._names(self._root) if OWNER.fullmatch(name)]
            found = [(owner, name) for owner in owners for name in self._names(f"{self._root}/{owner}")]
        return [DocumentFolder(owner, uuid.UUID(name)) for owner, name in found if is_document_id(name)]

    def _names(self, folder: str) -> list[str]:
        try:
            entries = self._files.ls(folder, detail=True)
        except FileNotFoundError:  # nothing is there yet, or any more
            return []
        return [str(entry["name"]).rstrip("/").rpartition("/")[2] for entry in entries if entry["type"] == "directory"]


class UserFiles:
    """One user's files by document and kind, below the folder `root` of a file system."""

    def __init__(self, files: Any, root: str, cache_dir: Path) -> None:
        self._files = files
        self._root = root
        self._cache_dir = cache_dir

    def put(self, document_id: uuid.UUID, kind: Kind, path: Path) -> None:
        """Keep a copy of the file at `path`; it is there as a whole or not at all, and outlives a power failure.

        Raises:
            errors.StoreError: it cannot be written.
        """
        target = self._path(document_id, kind)
        with _file_errors():
            if self._is_local:
                _copy(path, Path(target), Path(self._root).parent)
            else:
                self._put_remote(path, target)
        if not self._is_local:
            self._forget(self._cached(document_id, kind))

    def _put_remote(self, path: Path, target: str) -> None:
        """Object stores show an object when it is complete, and need no folders; the first makes its bucket."""
        try:
            self._files.put_file(str(path), target)
        except FileNotFoundError:
            if not path.exists():
                raise
            self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._files.put_file(str(path), target)

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
        with _file_errors(document_id, kind):
            cached = self._cached(document_id, kind, _state(self._files.info(source)))
            if not cached.is_file():
                self._forget(cached)
                durable_files.make_folders(cached.parent, self._cache_dir.parent)
                with durable_files.atomic_replacement(cached) as partial:
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
        """Remove all files of a document for good; none is no error: it can be done again. Raises StoreError."""
        folder = self._folder(document_id)
        with _file_errors():
            with suppress(FileNotFoundError):
                self._files.rm(folder, recursive=True)
            self._files.invalidate_cache()
            if self._files.exists(folder):
                raise OSError(errno.ENOTEMPTY, "something is left")
            if self._is_local and Path(self._root).is_dir():
                durable_files.sync_folder(Path(self._root))  # what is gone does not come back with the power
        self.clear_cached_copies(document_id)

    def clear_cached_copies(self, document_id: uuid.UUID) -> None:
        """Remove this machine's copies of a document's remote files."""
        shutil.rmtree(self._cached(document_id, "original").parent, ignore_errors=True)

    def content(self, document_id: uuid.UUID) -> DiskUsage:
        """All that there is of a document, drafts included. Raises StoreError."""
        with _file_errors():
            found = self._found(document_id)
            return DiskUsage(len(found), sum(int(info["size"]) for info in found.values()))

    def modified_at(self, document_id: uuid.UUID) -> dt.datetime | None:
        """When something of a document was last put; None if the file system cannot tell, or nothing is there.

        Raises:
            errors.StoreError: the storage fails.
        """
        with _file_errors(), suppress(NotImplementedError, FileNotFoundError):
            moments = [_aware(self._files.modified(path)) for path in self._found(document_id)]
            return max(moments, default=None)
        return None

    def _found(self, document_id: uuid.UUID) -> dict[str, Any]:
        folder = self._folder(document_id)
        self._files.invalidate_cache()
        return cast(dict[str, Any], self._files.find(folder, detail=True))

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

    def _cached(self, document_id: uuid.UUID, kind: Kind, state: str = "") -> Path:
        """This machine's copy of a remote file as it is in a `state`."""
        return self._cache_dir / str(document_id) / f"{kind}-{state}"

    @staticmethod
    def _forget(cached: Path) -> None:
        """Remove the copies of a file, whatever their states."""
        kind, _, _ = cached.name.partition("-")
        for copy in cached.parent.glob(f"{kind}-*"):
            copy.unlink(missing_ok=True)


@functools.lru_cache(maxsize=1024)
def folder_name(user_id: str) -> str:
    """A folder's name that no other user has, on file systems that ignore case too, and that leads nowhere else.

    Readable letters of the id for people, a hash for uniqueness.
    """
    readable = re.sub(r"[^A-Za-z0-9]+", "_", user_id)
    digest = hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable[:40]}-{digest[:32]}"


def is_document_id(name: str) -> bool:
    """Whether a folder has the name of a document's."""
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False


def _copy(source: Path, target: Path, top: Path) -> None:
    durable_files.make_folders(target.parent, top)
    with durable_files.atomic_replacement(target) as partial:
        shutil.copyfile(source, partial)
    durable_files.sync_folders(target.parent.parent, top)


def _state(info: Mapping[str, Any]) -> str:
    """A name of a file's content, by what its file system tells: another machine may have put another."""
    told = [str(info.get(name)) for name in TELLING]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def _aware(moment: dt.datetime) -> dt.datetime:
    """File systems that tell no time zone mean UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


@contextmanager
def _file_errors(document_id: uuid.UUID | None = None, kind: str = "file") -> Iterator[None]:
    """Errors of file systems and of fsspec's drivers come out as ours."""
    try:
        yield
    except errors.Error:
        raise
    except FileNotFoundError as error:
        if document_id is None:
            raise errors.StoreError(f"A file cannot be kept: {error.strerror or error}. Check the storage.") from error
        raise _missing(document_id, kind) from error
    except Exception as error:  # drivers raise what their vendors' libraries do, such as botocore's errors
        raise errors.StoreError(
            f"The file storage fails ({type(error).__name__}). Check RAG_STORAGE_URL, the rights and the free space."
        ) from error


def _missing(document_id: uuid.UUID, kind: str) -> errors.NotFoundError:
    return errors.NotFoundError(f"The {kind} of document {document_id} is not there. Upload the file again.")

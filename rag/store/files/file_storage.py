"""Storage of documents' original files and renditions, in any file system that fsspec supports."""

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
from rag.messages import N_
from rag.store.files import atomic_files

Kind = Literal["original", "rendition"]
KINDS: tuple[Kind, ...] = ("original", "rendition")

USER_FOLDER = re.compile(r"\w{0,40}-[0-9a-f]{32}", re.ASCII)
"""Names from `folder_name`; everything else in a storage is not ours."""

PARTIAL_FOLDER = ".partial"
"""The folder below a root for all files that are being written; those of killed processes stay there."""

VERSION_FIELDS = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "updated", "mtime", "created", "size")
"""Metadata of file systems that change with a file's content."""


class DocumentFolder(NamedTuple):
    """The folder of a document's files: the user's folder name, and the document."""

    owner: str
    document_id: uuid.UUID


class DiskUsage(NamedTuple):
    """A number of files and their bytes."""

    files: int
    bytes: int


class FileStore:
    """The files of all users. `storage_url` is an fsspec URL; `cache_dir` holds copies of remote files."""

    def __init__(self, storage_url: str, cache_dir: Path) -> None:
        with _file_errors():
            # No cached listings: other machines change the folders too.
            self._files, root = fsspec.core.url_to_fs(storage_url, use_listings_cache=False)
        self._root = root.rstrip("/")
        self.cache_dir = cache_dir

    @property
    def local_root(self) -> Path | None:
        """The folder of the storage if it is on this machine."""
        return Path(self._root) if isinstance(self._files, LocalFileSystem) else None

    def of(self, user_id: str) -> "UserFiles":
        """Return one user's files."""
        return self.in_folder(folder_name(user_id))

    def in_folder(self, owner: str) -> "UserFiles":
        """Return the files of the user whose folder has this name."""
        return UserFiles(self._files, f"{self._root}/{owner}", self.cache_dir / owner)

    def folders(self) -> list[DocumentFolder]:
        """Return the folders of all documents, empty ones too. Raises StoreError."""
        with _file_errors():
            self._files.invalidate_cache()  # other machines change it too
            owners = [name for name in self._names(self._root) if USER_FOLDER.fullmatch(name)]
            folders = [(owner, name) for owner in owners for name in self._names(f"{self._root}/{owner}")]
        return [DocumentFolder(owner, uuid.UUID(name)) for owner, name in folders if is_document_id(name)]

    def _names(self, folder: str) -> list[str]:
        try:
            entries = self._files.ls(folder, detail=True)
        except FileNotFoundError:  # not yet, or no longer
            return []
        return [str(entry["name"]).rstrip("/").rpartition("/")[2] for entry in entries if entry["type"] == "directory"]


class UserFiles:
    """One user's files by document and kind, below the folder `root` of a file system."""

    def __init__(self, files: Any, root: str, cache_dir: Path) -> None:
        self._files = files
        self._root = root
        self._cache_dir = cache_dir

    def put(self, document_id: uuid.UUID, kind: Kind, path: Path) -> None:
        """Store a copy of the file at `path`, atomically and durably."""
        target = self._path(document_id, kind)
        with _file_errors():
            if self._is_local:
                with _replacement(Path(target), Path(self._root).parent) as partial:
                    shutil.copyfile(path, partial)
                return
            self._put_remote(path, target)
        self._delete_copies(self._cached(document_id, kind))

    def _put_remote(self, path: Path, target: str) -> None:
        """Upload to an object store, where puts are atomic; the first one creates the bucket."""
        try:
            self._files.put_file(str(path), target)
        except FileNotFoundError:
            if not path.exists():
                raise
            self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._files.put_file(str(path), target)

    def local_path(self, document_id: uuid.UUID, kind: Kind) -> Path:
        """Return the file as a local path, only for reading; a remote file is fetched into the cache.

        Raises NotFoundError.
        """
        source = self._path(document_id, kind)
        if self._is_local:
            if not Path(source).is_file():
                raise _missing(document_id, kind)
            return Path(source)
        with _file_errors(document_id, kind):
            cached = self._cached(document_id, kind, _version(self._files.info(source)))
            if not cached.is_file():
                self._delete_copies(cached)
                with _replacement(cached, self._cache_dir.parent) as partial:
                    self._files.get_file(source, str(partial))
        return cached

    def open(self, document_id: uuid.UUID, kind: Kind) -> BinaryIO:
        """Open the file for reading. Raises NotFoundError."""
        with _file_errors(document_id, kind):
            return cast(BinaryIO, self._files.open(self._path(document_id, kind), "rb"))

    def exists(self, document_id: uuid.UUID, kind: Kind) -> bool:
        """Return whether there is such a file."""
        with _file_errors():
            return bool(self._files.exists(self._path(document_id, kind)))

    def delete(self, document_id: uuid.UUID) -> None:
        """Delete all files of a document; having none is no error. Raises StoreError."""
        folder = self._folder(document_id)
        with _file_errors():
            with suppress(FileNotFoundError):
                self._files.rm(folder, recursive=True)
            self._files.invalidate_cache()
            if self._files.exists(folder):
                raise OSError(errno.ENOTEMPTY, "something is left")
            if self._is_local:
                with suppress(FileNotFoundError):  # it has gone with another document
                    atomic_files.sync_folder(Path(self._root))  # so that a power failure does not bring them back
                with suppress(OSError):  # of other documents; the user's folder goes with the last one
                    Path(self._root).rmdir()
        self.clear_cached_copies(document_id)

    def clear_cached_copies(self, document_id: uuid.UUID) -> None:
        """Delete this machine's copies of a document's remote files."""
        shutil.rmtree(self._cached(document_id, "original").parent, ignore_errors=True)

    def disk_usage(self, document_id: uuid.UUID) -> DiskUsage:
        """Return the number and size of a document's files. Raises StoreError."""
        with _file_errors():
            sizes = [int(info["size"]) for info in self._entries(document_id).values()]
            return DiskUsage(len(sizes), sum(sizes))

    def modified_at(self, document_id: uuid.UUID) -> dt.datetime | None:
        """Return when a document's files last changed; None if there are none, or the file system does not say."""
        with _file_errors(), suppress(NotImplementedError, FileNotFoundError):
            moments: list[dt.datetime] = [self._files.modified(path) for path in self._entries(document_id)]
            # A time without a time zone is UTC.
            return max((time if time.tzinfo else time.replace(tzinfo=dt.UTC) for time in moments), default=None)
        return None

    def _entries(self, document_id: uuid.UUID) -> dict[str, Any]:
        folder = self._folder(document_id)
        self._files.invalidate_cache()
        return cast(dict[str, Any], self._files.find(folder, detail=True))

    def sizes(self, document_id: uuid.UUID) -> dict[Kind, int]:
        """Return the bytes of each existing file of a document."""
        with _file_errors():
            paths = {kind: self._path(document_id, kind) for kind in KINDS}
            return {kind: int(self._files.size(path)) for kind, path in paths.items() if self._files.exists(path)}

    @property
    def _is_local(self) -> bool:
        return isinstance(self._files, LocalFileSystem)

    def _folder(self, document_id: uuid.UUID) -> str:
        return f"{self._root}/{uuid.UUID(str(document_id))}"

    def _path(self, document_id: uuid.UUID, kind: Kind) -> str:
        if kind not in KINDS:  # whatever else it says must not become part of a path
            raise errors.StoreError(
                N_("There is no kind of file {kind}. Use one of {known}."), kind=repr(kind), known=", ".join(KINDS)
            )
        return f"{self._folder(document_id)}/{kind}"

    def _cached(self, document_id: uuid.UUID, kind: Kind, version: str = "") -> Path:
        """Return the path of this machine's copy of a version of a remote file."""
        return self._cache_dir / str(document_id) / f"{kind}-{version}"

    @staticmethod
    def _delete_copies(cached: Path) -> None:
        kind, _, _ = cached.name.partition("-")
        for copy in cached.parent.glob(f"{kind}-*"):
            copy.unlink(missing_ok=True)


@functools.lru_cache(maxsize=1024)
def folder_name(user_id: str) -> str:
    """Return a safe folder name that no other user has, even on file systems that ignore case.

    It has readable letters of the id for people, and a hash for uniqueness.
    """
    readable = re.sub(r"[^A-Za-z0-9]+", "_", user_id)
    digest = hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{readable[:40]}-{digest[:32]}"


def is_document_id(name: str) -> bool:
    """Return whether a folder name is a document id."""
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False


@contextmanager
def _replacement(target: Path, top: Path) -> Iterator[Path]:
    """Give a new file that durably replaces `target`, in the partial folder below `top` until it is complete."""
    partial_folder = top / PARTIAL_FOLDER
    for folder in (target.parent, partial_folder):
        atomic_files.make_folders(folder, top)
    with atomic_files.atomic_replacement(target, folder=partial_folder) as partial:
        yield partial
    atomic_files.sync_folders(target.parent.parent, top)


def _version(info: Mapping[str, Any]) -> str:
    """Return a name for a file's content from its metadata, because another machine may have replaced it."""
    values = [str(info.get(name)) for name in VERSION_FIELDS]
    return hashlib.sha256("\n".join(values).encode()).hexdigest()[:16]


@contextmanager
def _file_errors(document_id: uuid.UUID | None = None, kind: str = "file") -> Iterator[None]:
    try:
        yield
    except errors.Error:
        raise
    except FileNotFoundError as error:
        if document_id is None:
            raise errors.StoreError(
                N_("A file cannot be kept: {error}. Check the storage."), error=error.strerror or error
            ) from error
        raise _missing(document_id, kind) from error
    except Exception as error:  # drivers raise what their vendors' libraries do, such as botocore's errors
        raise errors.StoreError(
            N_("The file storage fails ({error}). Check RAG_STORAGE_URL, the rights and the free space."),
            error=type(error).__name__,
        ) from error


def _missing(document_id: uuid.UUID, kind: str) -> errors.NotFoundError:
    return errors.NotFoundError(
        N_("The {kind} of document {id} is not there. Upload the file again."), kind=kind, id=document_id
    )

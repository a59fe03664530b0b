"""Folders from which files are imported, in any file system that fsspec supports, and limits on which are allowed."""

import os
import re
import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import fsspec
from fsspec.implementations.local import LocalFileSystem

from rag import errors, types

_LOCAL = re.compile(r"(file|local)://", re.IGNORECASE)
_URL = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
"""The start of a URL: `s3://…`, `gdrive:…`, `data:…`."""
_CHAIN = "::"
"""fsspec's separator of chained file systems, the last of which may be this machine's."""
_ESCAPES = re.compile(r"(^|[/:])\.{1,2}($|/)|[@%?#\\]")
"""What may lead out of the folder of a URL, or into it as somebody else."""
_USER_INFO = re.compile(r"(?<=://)[^/@]*@")


class AllowedFolders:
    """The local folders and URLs below which API clients may have folders read, with links resolved."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._urls = [root.rstrip("/") for root in roots if _is_remote(root)]
        self._folders = [_real(root) for root in roots if not _is_remote(root)]

    def require(self, folder: str) -> str:
        """Return the normalized path, or the URL, of an allowed folder.

        Raises:
            errors.ForbiddenError: it is not allowed; the error does not say whether it exists.
        """
        if _CHAIN not in folder:
            if not _is_remote(folder):
                path = _absolute(folder)
                if self.contain(Path(path)):
                    return path
            elif any(_is_below(folder, root) for root in self._urls):
                return folder
        raise errors.ForbiddenError(
            "Folders are read for programs only below those that RAG_FOLDER_ROOTS names, links resolved. Name the "
            "folder there, or have it read on the command line: pagelight sync."
        )

    def contain(self, path: Path) -> bool:
        """Return whether the resolved path is in an allowed folder."""
        real = _real(str(path))
        return any(real == root or root in real.parents for root in self._folders)


def _is_remote(folder: str) -> bool:
    return bool(_URL.match(folder)) and not _LOCAL.match(folder)


def _is_below(folder: str, root: str) -> bool:
    rest = folder[len(root) :]
    return folder.startswith(root) and rest[:1] in ("", "/") and not _ESCAPES.search(rest)


def _absolute(folder: str) -> str:
    return os.path.normpath(Path(LocalFileSystem._strip_protocol(folder)).absolute())


def _real(folder: str) -> Path:
    return Path(os.path.realpath(_absolute(folder)))


class Folder:
    """A folder at a local path or an fsspec URL. A file's id is its absolute path, or its URL without credentials.

    Accents in ids are composed (NFC), so that a file that went through macOS is the same file; if both spellings are
    there, they are two files.

    With `roots` the folder has to be allowed, and links may not lead out of the allowed folders.
    """

    def __init__(self, url: str, *, include_subfolders: bool = True, roots: AllowedFolders | None = None) -> None:
        """Raises SourceError if there is no driver for the URL, and ForbiddenError if `roots` do not allow it."""
        self._roots = roots
        url = roots.require(url) if roots else url
        self._shown = _USER_INFO.sub("", url)
        self._include_subfolders = include_subfolders
        with _source_errors(self._shown):
            self._files, self._root = fsspec.core.url_to_fs(url)
        self._root = self._root.rstrip("/")
        base = self._root if isinstance(self._files, LocalFileSystem) else self._shown.rstrip("/")
        self.prefix = f"{base}/"
        """The prefix of the ids of all its files."""

    def owns(self, file_id: str) -> bool:
        """Return whether a file with this id would be in the folder or its included subfolders."""
        inside = file_id.startswith(self.prefix) and file_id != self.prefix
        return inside and (self._include_subfolders or "/" not in file_id[len(self.prefix) :])

    def list(self) -> list[types.SourceFile]:
        """Return all files by path, without hidden ones (names that start with a dot). Raises SourceError."""
        with _source_errors(self._shown):
            if not self._files.isdir(self._root or "/"):
                raise errors.SourceError(f"There is no folder {self._shown}. Check the path or URL.")
            return sorted(self._walk())

    def _walk(self) -> Iterator[types.SourceFile]:
        depth = None if self._include_subfolders else 1
        for _, _, files in self._files.walk(self._root or "/", maxdepth=depth, detail=True, on_error="raise"):
            for info in files.values():
                path = str(info["name"]).removeprefix(self._root).lstrip("/")
                if not any(part.startswith(".") for part in path.split("/")):
                    composed = unicodedata.normalize("NFC", path)
                    is_taken = composed != path and self._files.exists(f"{self._root}/{composed}")
                    yield types.SourceFile(
                        id=self.prefix + (path if is_taken else composed), path=path, name=PurePosixPath(composed).name
                    )

    @contextmanager
    def fetch(self, file: types.SourceFile) -> Iterator[Path]:
        """Give the file as a local path, only for reading, while the block runs. Raises SourceError."""
        remote = f"{self._root}/{file.path}"
        if isinstance(self._files, LocalFileSystem):
            yield self._resolved(Path(remote))
            return
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            path = Path(folder) / "file"
            with _source_errors(file.id):
                self._files.get_file(remote, str(path))
            yield path

    def _resolved(self, path: Path) -> Path:
        """Return a local file, with links resolved and checked if folders are limited."""
        if self._roots is None:
            return path
        real = path.resolve()
        if not self._roots.contain(real):
            raise errors.SourceError(f"{path.name} is a link that leads out of the folders of RAG_FOLDER_ROOTS.")
        return real


@contextmanager
def _source_errors(place: str) -> Iterator[None]:
    try:
        yield
    except errors.Error:
        raise
    except (OSError, ValueError, ImportError) as error:
        raise errors.SourceError(
            f"{place} cannot be read ({type(error).__name__}). Check the path or URL, the rights and that the driver "
            "for this kind of URL is installed."
        ) from error

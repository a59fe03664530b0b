"""Folders to take files in from, in any file system that fsspec knows."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from rag import errors
from rag.store.files.allowed_folders import AllowedFolders
from rag.types import SourceFile

_USER_INFO = re.compile(r"(?<=://)[^/@]*@")


class Folder:
    """A folder at a local path or an fsspec URL. A file's id is its absolute path, or its URL without user and key.

    With `roots` it is below one of them, and no link leads out of them.
    """

    def __init__(self, url: str, *, include_subfolders: bool = True, roots: AllowedFolders | None = None) -> None:
        """Raises SourceError where there is no driver for the URL, and ForbiddenError where no root is above it."""
        self._roots = roots
        url = roots.require(url) if roots else url
        self._shown = _USER_INFO.sub("", url)
        self._include_subfolders = include_subfolders
        with _source_errors(self._shown):
            self._files, self._root = fsspec.core.url_to_fs(url)
        self._root = self._root.rstrip("/")
        base = self._root if isinstance(self._files, LocalFileSystem) else self._shown.rstrip("/")
        self.prefix = f"{base}/"
        """What the ids of all its files begin with."""

    def owns(self, file_id: str) -> bool:
        """Whether a file of this id would be in the folder, or with subfolders below it."""
        inside = file_id.startswith(self.prefix) and file_id != self.prefix
        return inside and (self._include_subfolders or "/" not in file_id[len(self.prefix) :])

    def list(self) -> list[SourceFile]:
        """All its files by path; what is hidden (its name begins with a dot) is passed over.

        Raises:
            errors.SourceError: there is no such folder, or it, or a folder below it, cannot be read.
        """
        with _source_errors(self._shown):
            if not self._files.isdir(self._root or "/"):
                raise errors.SourceError(f"There is no folder {self._shown}. Check the path or URL.")
            return sorted(self._walk())

    def _walk(self) -> Iterator[SourceFile]:
        depth = None if self._include_subfolders else 1
        for _, _, files in self._files.walk(self._root or "/", maxdepth=depth, detail=True, on_error="raise"):
            for info in files.values():
                path = self._inside(info)
                if not any(part.startswith(".") for part in path.split("/")):
                    yield SourceFile(id=self.prefix + path, path=path, name=PurePosixPath(path).name)

    def _inside(self, info: dict[str, Any]) -> str:
        return str(info["name"]).removeprefix(self._root).lstrip("/")

    def _within_roots(self, path: Path) -> Path:
        """A local file; where there are roots, what its links lead to."""
        if self._roots is None:
            return path
        real = path.resolve()
        if not self._roots.hold(real):
            raise errors.SourceError(f"{path.name} is a link that leads out of the folders of RAG_FOLDER_ROOTS.")
        return real

    @contextmanager
    def fetch(self, file: SourceFile) -> Iterator[Path]:
        """The file as a path on this machine while the block runs; only to be read.

        Raises:
            errors.SourceError: it is gone or cannot be read.
        """
        remote = f"{self._root}/{file.path}"
        if isinstance(self._files, LocalFileSystem):
            yield self._within_roots(Path(remote))
            return
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            path = Path(folder) / "file"
            with _source_errors(file.id):
                self._files.get_file(remote, str(path))
            yield path


@contextmanager
def _source_errors(place: str) -> Iterator[None]:
    """Errors of file systems and of fsspec's drivers come out as ours."""
    try:
        yield
    except errors.Error:
        raise
    except (OSError, ValueError, ImportError) as error:
        raise errors.SourceError(
            f"{place} cannot be read ({type(error).__name__}). Check the path or URL, the rights and that the driver "
            "for this kind of URL is installed."
        ) from error

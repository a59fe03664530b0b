"""The folders below which programs may have this machine read: named by the installation, links resolved."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from fsspec.implementations.local import LocalFileSystem

from rag import errors

_LOCAL = re.compile(r"(file|local)://", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
"""How a URL begins: `s3://…`, `gdrive:…`, `data:…`."""
_CHAIN = "::"
"""What fsspec puts between file systems that stand on each other: the last of them may be this machine's."""
_LEADS_AWAY = re.compile(r"(^|[/:])\.{1,2}($|/)|[@%?#\\]")
"""What may lead out of the folder of a URL, or to it as somebody else."""


class AllowedFolders:
    """Local folders, and addresses of others."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._addresses = [root.rstrip("/") for root in roots if _is_address(root)]
        self._folders = [_real(root) for root in roots if not _is_address(root)]

    def require(self, folder: str) -> str:
        """The path, without dots, or the address of a folder that is below a root.

        Raises:
            errors.ForbiddenError: it is not; whether it exists is not told.
        """
        if _CHAIN not in folder:
            if not _is_address(folder):
                path = _absolute(folder)
                if self.hold(Path(path)):
                    return path
            elif any(_is_below(folder, root) for root in self._addresses):
                return folder
        raise errors.ForbiddenError(
            "Folders are read for programs only below those that RAG_FOLDER_ROOTS names, links resolved. Name the "
            "folder there, or have it read on the command line: pagelight sync."
        )

    def hold(self, path: Path) -> bool:
        """Whether what the path leads to is below a root."""
        real = _real(str(path))
        return any(real == root or root in real.parents for root in self._folders)


def _is_address(folder: str) -> bool:
    return bool(_ADDRESS.match(folder)) and not _LOCAL.match(folder)


def _is_below(folder: str, root: str) -> bool:
    rest = folder[len(root) :]
    return folder.startswith(root) and rest[:1] in ("", "/") and not _LEADS_AWAY.search(rest)


def _absolute(folder: str) -> str:
    """A local path as it is used: absolute, without `..`."""
    return os.path.normpath(Path(LocalFileSystem._strip_protocol(folder)).absolute())


def _real(folder: str) -> Path:
    return Path(os.path.realpath(_absolute(folder)))

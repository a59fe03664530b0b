"""Import PyMuPDF without its models and messages, map its errors to ours, and convert its coordinates."""

import contextlib
import errno
import importlib
import logging
import os
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rag import errors, types
from rag.messages import N_

Box = tuple[float, float, float, float]
"""A box as PyMuPDF gives it: left, top, right and bottom in points."""
_MODELS = ("pymupdf.layout", "pymupdf4llm")


def _import_without_models() -> Any:
    """Import PyMuPDF without its layout model.

    PyMuPDF 2.0 imports the model and onnxruntime, which costs seconds and some 70 MB in every process, but continues
    if their import fails, as it does for names that are None in `sys.modules`.
    """
    hidden = [name for name in _MODELS if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None makes the import fail
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of its bindings on Python 3.12
            pymupdf: Any = importlib.import_module("pymupdf")
    finally:
        for name in hidden:
            del sys.modules[name]
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    pymupdf.set_messages(pylogging_name="pymupdf", pylogging_level=logging.DEBUG)
    return pymupdf


pymupdf = _import_without_models()

LOCK = threading.RLock()
"""Held for every use of PyMuPDF, which is not thread-safe."""

MUPDF_ERRORS = (
    pymupdf.mupdf.FzErrorBase,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Exceptions of PyMuPDF on broken files: MuPDF's errors, and errors of its Python code."""

HIDDEN_COLOR = 0x818182
"""The colour in which our layout of HTML shows text that nobody sees in the original, and nobody else a text."""

SYSTEM_ERROR_MESSAGES = tuple(
    map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE))
)
"""Messages of MuPDF's errors if the system fails; the error type is that of broken files."""


@contextlib.contextmanager
def map_mupdf_errors(name: str) -> Iterator[None]:
    """Map PyMuPDF's errors to ours, naming the file.

    Raises:
        errors.ReadingInterruptedError: the system failed; another attempt may succeed.
        errors.UnreadableFileError: the file is damaged.
    """
    try:
        yield
    except errors.Error:
        raise
    except MUPDF_ERRORS as error:
        if reason := next((reason for reason in SYSTEM_ERROR_MESSAGES if str(error).endswith(reason)), None):
            raise errors.ReadingInterruptedError(
                N_("“{name}” was not read to its end: the system says “{reason}”. Set that right and try again."),
                name=name,
                reason=reason,
            ) from error
        raise errors.UnreadableFileError(
            N_("“{name}” is damaged and cannot be read. Open it in another program and save it again."),
            name=name,
            details={"reason": type(error).__name__},
        ) from error


@contextlib.contextmanager
def open_pdf(path: Path) -> Iterator[Any]:
    """Open a PDF, and close it after the block.

    Raises:
        errors.NotFoundError: `path` is missing.
        errors.UnreadableFileError: the file is damaged or no PDF.
    """
    if not path.is_file():
        raise errors.NotFoundError(N_("The file “{name}” is gone. Ingest the document again."), name=path.name)
    with LOCK, map_mupdf_errors(path.name), pymupdf.open(path, filetype="pdf") as document:
        yield document


def around(boxes: Iterable[Box]) -> Box:
    """Return the box around all `boxes`, at least one."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return min(x0), min(y0), max(x1), max(y1)


def to_rect(box: Box) -> types.Rect:
    """Convert a box to a `Rect` with ordered corners, rounded to a hundredth of a point."""
    x0, y0, x1, y1 = box
    if x0 > x1 or y0 > y1:
        x0, y0, x1, y1 = min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
    return types.Rect(round(x0, 2), round(y0, 2), round(x1, 2), round(y1, 2))


def display_matrix(page: Any) -> Any | None:
    """Return the matrix from PyMuPDF's unrotated page to the displayed page; None if they are equal.

    PyMuPDF's `rotation_matrix` ignores the UserUnit and crop boxes larger than the page.
    """
    width, height = page.rect.width, page.rect.height
    match page.rotation:
        case 90:
            return pymupdf.Matrix(0, 1, -1, 0, width, 0)
        case 180:
            return pymupdf.Matrix(-1, 0, 0, -1, width, height)
        case 270:
            return pymupdf.Matrix(0, -1, 1, 0, 0, height)
    return None


def from_display(box: types.Rect, page: Any) -> Any:
    """Convert a box of the displayed page to PyMuPDF's unrotated page."""
    matrix = display_matrix(page)
    return pymupdf.Rect(box) if matrix is None else pymupdf.Rect(box) * ~matrix

"""PyMuPDF: imported light, made quiet, and its exceptions turned into ours."""

import contextlib
import errno
import importlib
import logging
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag import errors
from rag.types import Rect

_MODELS = ("pymupdf.layout", "pymupdf4llm")


def _import_without_models() -> Any:
    """PyMuPDF without its layout model.

    PyMuPDF 2.0 imports the model and onnxruntime with itself, which costs seconds and some 70 MB in every
    process. It does without them when their import fails, as it does for a name that is None in `sys.modules`.
    """
    hidden = [name for name in _MODELS if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None is how the import system says "not there"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # its bindings warn of themselves on Python 3.12
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
"""MuPDF is not thread safe as PyMuPDF binds it: every use in a process with threads holds this lock."""

FAILURES = (
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
"""What PyMuPDF raises on broken files: MuPDF's own errors, and anything its Python part trips over."""


OF_THE_SYSTEM = tuple(
    map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE))
)
"""What MuPDF says, word for word, when the system let it write or read no more. It says the same type of error when a
broken file asks for far too much memory."""


@contextlib.contextmanager
def readable(name: str) -> Iterator[None]:
    """Turns failures of PyMuPDF into errors naming the file.

    Raises:
        errors.ReadingInterruptedError: the system, and not the file, is at fault; it can be tried again.
        errors.UnreadableFileError: the file is.
    """
    try:
        yield
    except errors.Error:
        raise
    except FAILURES as error:
        if reason := next((reason for reason in OF_THE_SYSTEM if str(error).endswith(reason)), None):
            raise errors.ReadingInterruptedError(
                f"“{name}” was not read to its end: the system says “{reason}”. Set that right and try again."
            ) from error
        raise errors.UnreadableFileError(
            f"“{name}” is damaged and cannot be read. Open it in another program and save it again.",
            details={"reason": type(error).__name__},
        ) from error


@contextlib.contextmanager
def open_pdf(path: Path) -> Iterator[Any]:
    """The PDF at `path`, closed afterwards.

    Raises:
        errors.NotFoundError: there is no file.
        errors.UnreadableFileError: it is no PDF, or damaged.
    """
    if not path.is_file():
        raise errors.NotFoundError(f"The file “{path.name}” is gone. Ingest the document again.")
    with LOCK, readable(path.name), pymupdf.open(path, filetype="pdf") as document:
        yield document


def to_rect(box: tuple[float, float, float, float]) -> Rect:
    """A box as our type, rounded to a hundredth of a point, left before right and top before bottom."""
    x0, y0, x1, y1 = box
    if x0 > x1 or y0 > y1:
        x0, y0, x1, y1 = min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
    return Rect(round(x0, 2), round(y0, 2), round(x1, 2), round(y1, 2))


def display_matrix(page: Any) -> Any | None:
    """From PyMuPDF's page, which is never rotated, to the page as displayed; None if they are the same.

    PyMuPDF's own `rotation_matrix` moves by the sides of the crop box, which are too short if there is a UserUnit.
    """
    if not page.rotation:
        return None
    matrix = pymupdf.Matrix(page.rotation_matrix)
    side = page.cropbox.width if page.rotation == 180 else page.cropbox.height
    unit = page.rect.width / side if side else 1.0
    matrix.e *= unit
    matrix.f *= unit
    return matrix


def from_display(box: Rect, page: Any) -> Any:
    """A box of the displayed page on PyMuPDF's unrotated page."""
    matrix = display_matrix(page)
    return pymupdf.Rect(box) if matrix is None else pymupdf.Rect(box) * ~matrix

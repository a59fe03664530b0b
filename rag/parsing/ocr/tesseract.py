"""Run MuPDF's Tesseract in a separate process for each picture, so that a crash costs only that picture."""

import contextlib
import os
import re
import select
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rag.parsing.pdf.mupdf import MUPDF_ERRORS, pymupdf
from rag.parsing.worker import cpu_clock
from rag.types import ParsingConfig

AUTO = "auto"
"""The setting that detects the language."""
FONT = "GlyphLessFont"
"""Tesseract's font for invisible text."""
WATCH_SECONDS = 2.0
HIGHEST_DESCRIPTOR = 4096
_NO_LANGUAGES = frozenset({"osd", "equ", "snum"})
"""Data for page orientation, formulas and serial numbers."""
_PAINT_IMAGE = re.compile(rb"/\w+ Do\b")


class RecognitionError(Exception):
    """Text recognition failed; the message completes "… could not be recognised: "."""


def find_tessdata(language: str = AUTO) -> str | None:
    """Return the folder with Tesseract's data for `language` ("eng", "eng+deu", "auto" for any), or None."""
    try:
        folder = pymupdf.get_tessdata()
    except RuntimeError:
        return None
    if not folder:
        return None
    present = languages(folder)
    return str(folder) if (present if language == AUTO else present >= set(language.split("+"))) else None


def languages(tessdata: str) -> frozenset[str]:
    """Return Tesseract's codes of the languages with data in `tessdata`, such as "chi_sim"."""
    return frozenset(path.stem for path in Path(tessdata).glob("*.traineddata")) - _NO_LANGUAGES


class Tesseract(NamedTuple):
    """Recognises pictures and calls `on_wait` repeatedly meanwhile."""

    tessdata: str
    config: ParsingConfig
    on_wait: Callable[[], None]

    def read(self, picture: Any, language: str) -> bytes:
        """Return a one-page PDF of the size of `picture` (a `pymupdf.Pixmap`) with its text, invisible.

        Raises:
            RecognitionError: Tesseract takes too long or crashes.
        """
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            self._work(picture, language, writer)
        os.close(writer)
        with os.fdopen(reader, "rb", 0) as results:
            content, idle = self._receive(child, results)
        _, status = os.waitpid(child, 0)
        if status == 0 and content:
            return content
        if os.waitstatus_to_exitcode(status) == -signal.SIGPROF:
            raise RecognitionError(f"it took more than {self.config.timeout_seconds_ocr:g} seconds of computing")
        raise RecognitionError("Tesseract did nothing any more" if idle else "Tesseract failed")

    def _work(self, picture: Any, language: str, writer: int) -> None:
        """Recognise the picture in the child process and exit."""
        code = 1
        with contextlib.suppress(*MUPDF_ERRORS, OSError):
            # Inherited files would keep the parent's pipes open and share its file offsets.
            os.closerange(3, writer)
            os.closerange(writer + 1, HIGHEST_DESCRIPTOR)
            cpu_clock.limit_cpu(self.config.timeout_seconds_ocr)
            content = _recognise(picture, language, self.tessdata)
            with os.fdopen(writer, "wb") as results:
                results.write(content)
            code = 0
        os._exit(code)

    def _receive(self, child: int, results: Any) -> tuple[bytes, bool]:
        """Return the output of `child`, and whether it was killed for being idle."""
        idleness = cpu_clock.Idleness(child)
        content = b""
        while True:
            ready, _, _ = select.select([results], [], [], WATCH_SECONDS)
            if ready:
                part = results.read(1 << 16)
                if not part:
                    return content, False
                content += part
            elif idleness.seconds() > self.config.idle_seconds:
                os.kill(child, signal.SIGKILL)
                return content, True
            self.on_wait()


def _recognise(picture: Any, language: str, tessdata: str) -> bytes:
    recognised = picture.pdfocr_tobytes(compress=False, language=language, tessdata=tessdata)
    with pymupdf.open(stream=recognised, filetype="pdf") as layer:
        _drop_image(layer)
        content: bytes = layer.tobytes(garbage=3, deflate=True)
    return content


def _drop_image(layer: Any) -> None:
    """Remove the picture from the output of `pdfocr_tobytes`, as the page has it already."""
    page = layer[0]
    content = page.get_contents()[0]
    layer.update_stream(content, _PAINT_IMAGE.sub(b"", page.read_contents()))
    layer.xref_set_key(page.xref, "Resources/XObject", "null")

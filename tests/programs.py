"""External programs that some tests need. Tests marked `needs_…` are skipped if their program is missing."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import pytest


class Program(NamedTuple):
    """A program and the package that installs it; `homebrew` is empty if there is none for macOS."""

    name: str
    is_installed: Callable[[], bool]
    debian: str
    homebrew: str

    @property
    def reason(self) -> str:
        """The reason for skipping a test."""
        return f"needs {self.name}"

    @property
    def package(self) -> str:
        """The name of the package on this machine."""
        return self.homebrew if sys.platform == "darwin" else self.debian


def _has_chromium() -> bool:
    from benchmarks.apps import find_chromium

    return find_chromium() is not None


def _has_tesseract(language: str) -> bool:
    from rag.parsing.ocr.text_layer import find_tessdata

    return find_tessdata(language) is not None


def _has_libreoffice() -> bool:
    from rag.parsing.office import libreoffice

    return libreoffice.find() is not None


PROGRAMS = {
    "needs_chromium": Program("Chromium", _has_chromium, "chromium", "google-chrome"),
    "needs_tesseract": Program("Tesseract", lambda: _has_tesseract("eng"), "tesseract-ocr", "tesseract"),
    "needs_tesseract_german": Program(
        "German data of Tesseract", lambda: _has_tesseract("eng+deu"), "tesseract-ocr-deu", "tesseract-lang"
    ),
    "needs_strace": Program("strace", lambda: shutil.which("strace") is not None, "strace", ""),
    "needs_libreoffice": Program(
        "LibreOffice", _has_libreoffice, "libreoffice-writer libreoffice-impress", "libreoffice"
    ),
}
"""Programs by marker."""


def skip_where_missing(items: Iterable[pytest.Item]) -> None:
    """Skip tests with missing programs; search only for programs that tests need."""
    items = list(items)
    for marker, program in PROGRAMS.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        if marked and not program.is_installed():
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=program.reason))


def summary(reasons: Iterable[str]) -> str | None:
    """Return one line with the missing programs, the number of skipped tests, and install commands."""
    skipped = Counter(reasons)
    missing = [program for program in PROGRAMS.values() if program.package and program.reason in skipped]
    if not missing:
        return None
    counts = ", ".join(f"{program.name} ({skipped[program.reason]})" for program in missing)
    sudo = "" if os.geteuid() == 0 else "sudo "
    install = "brew install" if sys.platform == "darwin" else f"{sudo}apt-get install"
    packages = " ".join(program.package for program in missing)
    return f"Left out: tests that need {counts}. To run them: {install} {packages}"

"""External programs that some tests need. Tests marked `needs_…` are skipped if their program is missing.

Tests marked `not_on_citus` with a reason are skipped on a Citus cluster.
"""

import functools
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import pytest

NOT_ON_CITUS = "not_on_citus"


class Program(NamedTuple):
    """A program and the package that installs it; `homebrew` is empty if there is none for macOS.

    What is in no package has a `setting` that says where it is.
    """

    name: str
    is_installed: Callable[[], bool]
    debian: str = ""
    homebrew: str = ""
    setting: str = ""

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


SERVER_URL = os.environ.get("RAG_TEST_DATABASE_URL")
"""The server for databases made by tests; None: the embedded one."""


@functools.cache
def has_citus() -> bool:
    """Whether the tests' databases are on a Citus cluster."""
    from tests.databases import node_urls

    return SERVER_URL is not None and len(node_urls(SERVER_URL)) > 1


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
    "needs_citus": Program("Citus", has_citus, setting="RAG_TEST_DATABASE_URL=postgresql://… of a coordinator"),
}
"""Programs by marker."""


def skip_where_missing(items: Iterable[pytest.Item]) -> None:
    """Skip tests with missing programs, and those for other servers; search only for programs that tests need."""
    items = list(items)
    for item in items if SERVER_URL else ():
        if (unfit := item.get_closest_marker(NOT_ON_CITUS)) and has_citus():
            item.add_marker(pytest.mark.skip(reason=unfit.args[0]))
    for marker, program in PROGRAMS.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        if marked and not program.is_installed():
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=program.reason))


def summary(reasons: Iterable[str]) -> str | None:
    """Return one line with the missing programs, the number of skipped tests, and how to run them."""
    skipped = Counter(reasons)
    missing = [program for program in PROGRAMS.values() if program.reason in skipped]
    missing = [program for program in missing if program.package or program.setting]
    counts = ", ".join(f"{program.name} ({skipped[program.reason]})" for program in missing)
    sudo = "" if os.geteuid() == 0 else "sudo "
    install = "brew install" if sys.platform == "darwin" else f"{sudo}apt-get install"
    packages = " ".join(program.package for program in missing if program.package)
    remedies = [f"{install} {packages}"] if packages else []
    remedies += [program.setting for program in missing if program.setting]
    needs = [f"tests that need {counts}. To run them: {'; '.join(remedies)}"] if missing else []
    others = skipped.keys() - {program.reason for program in PROGRAMS.values()} if SERVER_URL else ()
    elsewhere = ", ".join(f"{reason} ({skipped[reason]})" for reason in sorted(others))
    needs += [f"on the server of RAG_TEST_DATABASE_URL: {elsewhere}"] if elsewhere else []
    return f"Left out: {'. Left out '.join(needs)}" if needs else None
